/**
 * Whom Groupage calls, as configured: downstreams with batches, destinations with callbacks. Never taken from a message.
 *
 * Another kind of downstream is a type here; a section of `schema/endpoints.ts` (and of `schema/combinations.ts`, if its jobs cannot
 * report later); a file of src/downstreams, made by lambdas/downstreams.ts; the right to call it in lib/endpoints.ts; how its answer
 * is read in src/testing/replies.ts; and what `npm start` has of it in tools/local/services.ts.
 */

import type { Millis } from '../ids.ts';

/** Where a secret lies; its text is in no configuration. */
export type SecretRef =
  /** The name of a SecureString parameter of SSM. */
  | { readonly ssm: string }
  /** The name, or the ARN, of a secret. */
  | { readonly secretsManager: string };

export type Headers = Readonly<Record<string, string | SecretRef>>;

/** How long one call may take, and a job that reports later. */
interface Timed {
  readonly timeout: Millis;
  /** A job that said that it reports later, and did not, is called about again after this. */
  readonly deadline: Millis;
}

/** A batch API behind one URL. */
export interface HttpTarget extends Timed {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Headers;
  /** Signs every call. */
  readonly secret: SecretRef | null;
}

/** A function that takes a batch and answers as an HTTP downstream's body does. */
export interface LambdaTarget extends Timed {
  readonly kind: 'lambda';
  /** A name, of this account and region, or an ARN. */
  readonly function: string;
}

/** A state machine of which each batch starts an execution. It reports later. */
export interface StateMachineTarget extends Timed {
  readonly kind: 'step-functions';
  readonly stateMachine: string;
}

/** A queue that each batch is put into as one message. With that its tasks are done. */
export interface QueueTarget extends Timed {
  readonly kind: 'queue';
  readonly name: string;
}

export type DownstreamTarget = HttpTarget | LambdaTarget | StateMachineTarget | QueueTarget;

/** A service of AWS that takes batches. */
export type ServiceTarget = Exclude<DownstreamTarget, HttpTarget>;

/** What people call it: `function parcels`. */
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

/** Who is told how tasks ended. */
export type Destination =
  | { readonly kind: 'queue' | 'topic' | 'event-bus' /** Or an ARN. */; readonly name: string }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Headers;
      /** Signs every event. */
      readonly secret: SecretRef;
      readonly timeout: Millis;
    };

/** The most that a call of each kind takes as its items, in bytes: what surrounds them has to fit in too. */
export const ITEMS_MAX_BYTES: Readonly<Record<DownstreamTarget['kind'], number>> = {
  http: 6_000_000,
  // A request of 6 MiB, in which the items are not escaped.
  lambda: 6_000_000,
  // An execution's input has 256 KiB.
  'step-functions': 250_000,
  // A message has 1 MiB.
  queue: 1_000_000,
};

/** The most that a destination of each kind takes as one event, in bytes. */
export const EVENT_MAX_BYTES: Readonly<Record<Destination['kind'], number>> = {
  queue: 1_048_576,
  // Both take 256 KiB, in which source and type are counted a second time.
  topic: 262_144 - 2_048,
  'event-bus': 262_144 - 2_048,
  http: 1_048_576,
};

/**
 * Begins the names of the executions that an operation's batches start: by it they are told from those of others.
 *
 * @param tag of the instance, where one state machine may have executions of several: at most 8 characters.
 */
export const executionPrefix = (operation: string, tag = ''): string =>
  tag === '' ? `${operation.slice(0, 32)}-` : `${tag}-${operation.slice(0, 23)}-`;

/** What SQS is asked for a queue's address. @param name of the queue, or its ARN. */
export const queueNamed = (name: string): { readonly QueueName: string; readonly QueueOwnerAWSAccountId?: string } => {
  const [, , , , account, last = name] = name.split(':');
  return { QueueName: last, ...(account ? { QueueOwnerAWSAccountId: account } : {}) };
};

/**
 * Destinations, some of which the app names that deploys this, and not the configuration.
 *
 * @param places ARNs by the names of destinations: of a queue, topic or bus, or of the secret of an HTTP one; as JSON.
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
