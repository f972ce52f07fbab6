/**
 * The systems that Groupage calls, as configured: downstreams receive batches, destinations receive events. A message
 * can name a destination, but never an address.
 *
 * A new kind of downstream needs: a type here; a section in `schema/endpoints.ts` (and in `schema/combinations.ts`, if
 * its jobs cannot report later); a file in src/downstreams, made by lambdas/downstreams.ts; the permission to call it
 * in lib/endpoints.ts; a reader of its answers in src/testing/replies.ts; and a local stand-in for `npm start` in
 * tools/local/services.ts.
 */

import type { Problem } from '../../util/problems.ts';
import type { Millis } from '../ids.ts';
import type { Auth, Method, RequestFormat, ResponseFormat } from './http-format.ts';

/** Where a secret is stored. No configuration contains its text. */
export type SecretRef =
  /** The name of a SecureString parameter of SSM. */
  | { readonly ssm: string }
  /** The name, or the ARN, of a secret. */
  | { readonly secretsManager: string };

export type Headers = Readonly<Record<string, string | SecretRef>>;

/** Time limits of a downstream. */
interface Timed {
  readonly timeout: Millis;
  /** How long a job that reports later may take. After this the batch handler calls the downstream again. */
  readonly deadline: Millis;
}

/** A downstream that can name the result of each task. */
interface Answering extends Timed {
  /**
   * Whether an answer without results is an error. Null if the operator has not decided: the tasks succeed, and the
   * first such answer is reported.
   */
  readonly requireResults: boolean | null;
}

/** A batch API behind one URL. */
export interface HttpTarget extends Answering {
  readonly kind: 'http';
  /** In its path, a grouping field in braces stands for its value. */
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly auth: Auth | null;
  /** The format of the calls. Null for Groupage's own. */
  readonly request: RequestFormat | null;
  /** The format of the answers. Null for Groupage's own. */
  readonly response: ResponseFormat | null;
  /** Signs every call. */
  readonly secret: SecretRef | null;
  /** Whether signed calls have the header `Groupage-Signature` too, which covers the body only. */
  readonly legacySignature: boolean;
  /** The header of a response that contains the weight that the call really used. Null if there is none. */
  readonly usageHeader: string | null;
}

/** Whether calls differ from those of docs/reference/downstream-call.md by more than their method. */
export const hasOwnFormat = ({ url, auth, request, response }: HttpTarget): boolean =>
  auth !== null || request !== null || response !== null || url.includes('{');

/** A Lambda function that receives a batch and returns what an HTTP downstream would send as its body. */
export interface LambdaTarget extends Answering {
  readonly kind: 'lambda';
  /** The name of a function in this account and region, or an ARN. */
  readonly function: string;
}

/** A state machine. Each batch starts an execution, which reports later. */
export interface StateMachineTarget extends Answering {
  readonly kind: 'step-functions';
  readonly stateMachine: string;
}

/** A queue that receives each batch as one message. The tasks have succeeded once the message is sent. */
export interface QueueTarget extends Timed {
  readonly kind: 'queue';
  readonly name: string;
}

export type DownstreamTarget = HttpTarget | LambdaTarget | StateMachineTarget | QueueTarget;

/** Whether an answer without results is an error. */
export const requiresResults = (downstream: DownstreamTarget): boolean =>
  downstream.kind !== 'queue' && downstream.requireResults === true;

/** The problem of a job's report without results, if they are required. */
export const RESULTS_RULE =
  'must list a result for each task, because downstream.requireResults is set; the tasks stay open';

/** An AWS service that receives batches. */
export type ServiceTarget = Exclude<DownstreamTarget, HttpTarget>;

/** A service's name for users, such as `function parcels`. */
export const serviceName = (target: ServiceTarget): string => {
  switch (target.kind) {
    case 'lambda':
      return `function ${target.function}`;
    case 'step-functions':
      return `state machine ${target.stateMachine}`;
    case 'queue':
      return `queue ${target.name}`;
  }
};

/** Where the events about the end of tasks, fan-outs and lists go. */
export type Destination =
  | { readonly kind: 'queue' | 'topic' | 'event-bus' /** The name, or the ARN. */; readonly name: string }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Headers;
      /** Signs every event. */
      readonly secret: SecretRef;
      /** Whether events have the header `Groupage-Signature` too, which covers the body only. */
      readonly legacySignature: boolean;
      readonly timeout: Millis;
    };

/** Most bytes of items in one call, by kind. The rest of the call must fit into the service's limit too. */
export const ITEMS_MAX_BYTES: Readonly<Record<DownstreamTarget['kind'], number>> = {
  http: 6_000_000,
  // The request of an invocation may have 6 MiB, and the items in it are not escaped.
  lambda: 6_000_000,
  // The input of an execution may have 256 KiB.
  'step-functions': 250_000,
  // An SQS message may have 1 MiB.
  queue: 1_000_000,
};

/** Most bytes of one event, by kind of destination. */
export const EVENT_MAX_BYTES: Readonly<Record<Destination['kind'], number>> = {
  queue: 1_048_576,
  // Topics and event buses accept 256 KiB. The event's source and type count twice, because they are also sent beside
  // the event.
  topic: 262_144 - 2_048,
  'event-bus': 262_144 - 2_048,
  http: 1_048_576,
};

/**
 * The prefix of the names of executions that an operation's batches start. The prefix distinguishes these executions
 * from other executions of the state machine.
 *
 * @param tag of the instance, if several instances start executions of one state machine: at most 8 characters.
 */
export const executionPrefix = (operation: string, tag = ''): string =>
  tag === '' ? `${operation.slice(0, 32)}-` : `${tag}-${operation.slice(0, 23)}-`;

const isArn = (name: string): boolean => name.startsWith('arn:');

/** An option for an AWS client. */
export interface Place {
  readonly region?: string;
}

/**
 * The region of an ARN, as an option for a client, because each client calls only one region. Empty for a name that is
 * no ARN.
 */
export const inRegionOf = (name: string): Place => {
  const region = isArn(name) ? name.split(':')[3] : undefined;
  return region ? { region } : {};
};

/**
 * The state machines of a configuration that cannot be started from an account. Step Functions has no resource policies,
 * so only roles of a state machine's own account can start it.
 */
export const unstartable = (
  operations: Readonly<Record<string, { readonly downstream: DownstreamTarget }>>,
  account: string,
): Problem[] =>
  Object.entries(operations).flatMap(([name, { downstream }]) => {
    if (downstream.kind !== 'step-functions' || !isArn(downstream.stateMachine)) return [];
    const owner = downstream.stateMachine.split(':')[4];
    if (owner === account) return [];
    const reason = `is in account ${owner}, and only roles of that account can start it, not those of ${account}: call a function of account ${owner} that starts it (kind lambda)`;
    return [{ path: `operations.${name}.downstream.stateMachine`, reason }];
  });

/** The request that finds a queue's address. @param name of the queue, or its ARN. */
export const queueNamed = (name: string): { readonly QueueName: string; readonly QueueOwnerAWSAccountId?: string } => {
  const [, , , , account, last = name] = name.split(':');
  return { QueueName: last, ...(account ? { QueueOwnerAWSAccountId: account } : {}) };
};

/**
 * The configured destinations, with the addresses that the deploying app sets for some of them.
 *
 * @param places JSON: ARNs by destination name. Each is the ARN of a queue, topic or bus, or of the secret of an HTTP
 *   destination.
 */
export const placed = (
  destinations: Readonly<Record<string, Destination>>,
  places: string | undefined,
): Readonly<Record<string, Destination>> => {
  if (places === undefined) return destinations;
  const arns = new Map(Object.entries(JSON.parse(places) as Record<string, string>));
  return Object.fromEntries(
    Object.entries(destinations).map(([name, destination]) => [name, at(destination, arns.get(name))]),
  );
};

const at = (destination: Destination, arn: string | undefined): Destination => {
  if (arn === undefined) return destination;
  return destination.kind === 'http'
    ? { ...destination, secret: { secretsManager: arn } }
    : { ...destination, name: arn };
};
