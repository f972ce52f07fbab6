/**
 * The names through which constructs tell λs about tables, queues and their stack: written in `lib`, read in `lambdas`,
 * nowhere else.
 */
export const ENVIRONMENT = {
  taskTable: 'GROUPAGE_TASK_TABLE',
  batchLockTable: 'GROUPAGE_BATCH_LOCK_TABLE',
  batchTable: 'GROUPAGE_BATCH_TABLE',
  fanOutTable: 'GROUPAGE_FAN_OUT_TABLE',
  listTable: 'GROUPAGE_LIST_TABLE',
  fleetTable: 'GROUPAGE_FLEET_TABLE',
  registerQueue: 'GROUPAGE_REGISTER_QUEUE_URL',
  electQueue: 'GROUPAGE_ELECT_QUEUE_URL',
  groupQueue: 'GROUPAGE_GROUP_QUEUE_URL',
  batchQueue: 'GROUPAGE_BATCH_QUEUE_URL',
  callbackQueue: 'GROUPAGE_CALLBACK_QUEUE_URL',
  rejectedQueue: 'GROUPAGE_REJECTED_QUEUE_URL',
  givenUpQueue: 'GROUPAGE_GIVEN_UP_QUEUE_URL',
  registerDeadLetters: 'GROUPAGE_REGISTER_DLQ_URL',
  electDeadLetters: 'GROUPAGE_ELECT_DLQ_URL',
  groupDeadLetters: 'GROUPAGE_GROUP_DLQ_URL',
  batchDeadLetters: 'GROUPAGE_BATCH_DLQ_URL',
  callbackDeadLetters: 'GROUPAGE_CALLBACK_DLQ_URL',
  /** What stands before the name of a state machine in its ARN. */
  stateMachines: 'GROUPAGE_STATE_MACHINES',
  /** What stands before the name of a topic in its ARN. */
  topics: 'GROUPAGE_TOPICS',
  /** Begins the names of executions, where several instances may start them of one state machine. */
  executions: 'GROUPAGE_EXECUTIONS',
  /** The ARNs of destinations by their names, as JSON, where they are parts of the app that deploys this. */
  destinations: 'GROUPAGE_DESTINATIONS',
  /** What metrics and events say that they are of: the stack, unless it has several instances. */
  stack: 'GROUPAGE_STACK',
} as const;

export type Setting = keyof typeof ENVIRONMENT;

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration's name inside a function's code, see `LAMBDA_TASK_ROOT`. */
export const CONFIG_ASSET = 'groupage.config.json';

/** What the API is, as an OpenAPI document: likewise, inside the code of `api`. */
export const OPENAPI_ASSET = 'openapi.json';

/** A function was deployed without something that it needs. */
class MissingSetting extends Error {
  override readonly name = 'MissingSetting';
  readonly setting: string;
  constructor(setting: string) {
    super(`the environment has no ${setting}: the construct that defines this function (lib/flow.ts) must set it`);
    this.setting = setting;
  }
}

/** A setting that must be there. @throws MissingSetting */
export const setting = (environment: Environment, name: Setting): string => {
  const value = environment[ENVIRONMENT[name]];
  if (!value) throw new MissingSetting(ENVIRONMENT[name]);
  return value;
};

/** A setting that a function may do without. */
export const optionalSetting = (environment: Environment, name: Setting): string | undefined =>
  environment[ENVIRONMENT[name]];

/** Names of a stack's outputs: written in `lib`, read by the command line. Of further instances they begin with theirs. */
export const API_URL = 'ApiUrl';
export const REGISTER_QUEUE_URL = 'RegisterQueueUrl';
export const REJECTED_QUEUE_URL = 'RejectedQueueUrl';
/** What metrics are of, where that is not the stack. */
export const SERVICE = 'ServiceName';
