/**
 * The environment variables through which constructs pass the names of tables, queues and the stack to functions. Only
 * `lib` writes them, and only `lambdas` reads them.
 */
export const ENVIRONMENT = {
  taskTable: 'GROUPAGE_TASK_TABLE',
  batchLockTable: 'GROUPAGE_BATCH_LOCK_TABLE',
  batchTable: 'GROUPAGE_BATCH_TABLE',
  fanOutTable: 'GROUPAGE_FAN_OUT_TABLE',
  listTable: 'GROUPAGE_LIST_TABLE',
  fleetTable: 'GROUPAGE_FLEET_TABLE',
  auditTable: 'GROUPAGE_AUDIT_TABLE',
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
  /** The part of a state machine's ARN before its name. */
  stateMachines: 'GROUPAGE_STATE_MACHINES',
  /** The part of a topic's ARN before its name. */
  topics: 'GROUPAGE_TOPICS',
  /** Prefix of execution names, set if several instances may start executions of one state machine. */
  executions: 'GROUPAGE_EXECUTIONS',
  /** JSON: the ARNs of destinations by name, for destinations that are part of the app that deploys this. */
  destinations: 'GROUPAGE_DESTINATIONS',
  /** JSON: the callers of the API with limited rights. See `limits.ts`. */
  limits: 'GROUPAGE_LIMITS',
  /** The unique ids of the roles that send register messages for others, separated by commas. */
  ownRoles: 'GROUPAGE_OWN_ROLES',
  /** JSON: the unique ids of roles that constructs add to configured names of producers. */
  producers: 'GROUPAGE_PRODUCERS',
  /** The `service` of metrics and events: the stack's name, unless the stack has several instances. */
  stack: 'GROUPAGE_STACK',
} as const;

export type Setting = keyof typeof ENVIRONMENT;

/** The global secondary index of each table that has one. CloudWatch keeps its metrics apart from those of the table. */
export const INDEXES = {
  taskTable: 'FailedByTarget',
  batchLockTable: 'Targets',
  batchTable: 'ByTarget',
  fanOutTable: 'ByCheckAt',
} as const satisfies Partial<Record<Setting, string>>;

/** The second index of the batch table: batches that are under way. Only such batches have the key `UnderWay`. */
export const UNDER_WAY = 'UnderWay';
/** The attributes that this index contains beside its keys. They change only with a failed attempt, or at the end. */
export const UNDER_WAY_PROJECTION = ['Target', 'TaskCount', 'LastAttempt', 'ExpiresAt'] as const;

/** All indexes of a table. */
export const indexesOf = (table: Setting): readonly string[] => [
  ...(table in INDEXES ? [INDEXES[table as keyof typeof INDEXES]] : []),
  ...(table === 'batchTable' ? [UNDER_WAY] : []),
];

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The name of the configuration file in a function's code, below `LAMBDA_TASK_ROOT`. */
export const CONFIG_ASSET = 'groupage.config.json';

/** The name of the API's OpenAPI document in the code of `api`. */
export const OPENAPI_ASSET = 'openapi.json';

/** A function was deployed without an environment variable that it needs. */
class MissingSetting extends Error {
  override readonly name = 'MissingSetting';
  readonly setting: string;
  constructor(setting: string) {
    super(`the environment has no ${setting}: the construct that defines this function (lib/flow.ts) must set it`);
    this.setting = setting;
  }
}

/** The value of a required variable. @throws MissingSetting */
export const setting = (environment: Environment, name: Setting): string => {
  const value = environment[ENVIRONMENT[name]];
  if (!value) throw new MissingSetting(ENVIRONMENT[name]);
  return value;
};

/** The value of an optional variable. */
export const optionalSetting = (environment: Environment, name: Setting): string | undefined =>
  environment[ENVIRONMENT[name]];

/**
 * Names of a stack's outputs. `lib` writes them, and the command line reads them. The outputs of a further instance
 * begin with the instance's name.
 */
export const API_URL = 'ApiUrl';
export const REGISTER_QUEUE_URL = 'RegisterQueueUrl';
export const REJECTED_QUEUE_URL = 'RejectedQueueUrl';
/** The `service` of metrics, if it is not the stack's name. */
export const SERVICE = 'ServiceName';
