/**
 * The messages between the functions. They are hints: the tables hold the truth, and any message may arrive twice, late
 * or never. `kind` tells the messages of one queue apart. It is not sent, and the names of sent fields are short,
 * because every byte of a message is billed.
 */

import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import { parseExecutionEvent } from '../downstream/execution-event.ts';
import type { BatchId, Millis, OperationName, Target, Token } from '../ids.ts';
import { isBatchId, isOperationName, isTarget, isToken } from '../ids.ts';
import type { Grant } from '../limits/bucket.ts';
import { type BucketId, isBucketId } from '../limits/bucket-id.ts';
import { inKnownForm, notOurs, UnreadableMessage } from '../messages.ts';
import type { SentHeld } from './batch.ts';

/** Says that a Target has waiting tasks and no leader. */
export interface ElectMessage {
  readonly kind: 'elect';
  readonly target: Target;
  /**
   * Set if this message wakes the Target because its operation has a free slot. The value is the fence that the Target
   * had when it began to wait for the slot.
   */
  readonly wake?: number;
  /** The id of a pause that has ended. */
  readonly resume?: string;
}

/** Says that a pause of the operation is over. */
export interface ResumeMessage {
  readonly kind: 'resume';
  readonly operation: OperationName;
  /** The id of the pause. A pause with another id stays. */
  readonly resume: string;
  /**
   * Set if the pause is removed already. The function that receives this message continues to wake the many waiting
   * Targets (src/steps/slots/wake.ts).
   */
  readonly waking?: Waking;
  /**
   * Set if a call has just shown that the downstream works again: how many Targets to wake now. The next message of the
   * series wakes twice as many.
   */
  readonly step?: number;
}

/** The state of a series of invocations that wake Targets. The next message continues the series. */
export interface Waking {
  /**
   * The id that the series last wrote into the operation's row. If the row contains another recent id, another series
   * wakes the operation's Targets.
   */
  readonly id: string;
  /** How many more Targets may be woken. @default - any number */
  readonly left?: number;
}

/** Continues the chain that grants moments to waiting calls in a bucket's queue (src/steps/limits/grant.ts). */
export interface GrantMessage {
  readonly kind: 'grant';
  readonly bucket: BucketId;
  /** The id of this message in the bucket. A message with another id has been replaced. */
  readonly grant: Token;
  /** The bucket's turn when this message was sent. The write after it stores the id, and adds 1. */
  readonly turn: number;
  /** How often this message was sent again because the write had not happened yet. @default 0 */
  readonly early?: number;
}

/**
 * A leader's guard, or a hint. A guard is delayed: if the leader has died, the function that receives the guard takes
 * over. A hint says that there is work now.
 */
export interface GroupMessage {
  readonly target: Target;
  readonly fence: number;
  readonly token: Token;
  /**
   * Whether this is a hint. A hint is only for the leader that holds `fence`. The function that receives it never
   * becomes the leader.
   */
  readonly hint?: boolean;
  /** How often this guard was sent again because the leader before it still held the lock (G7). @default 0 */
  readonly early?: number;
  /** For a hint to a leader that waited for a moment under a limit. */
  readonly granted?: GrantedToLeader;
}

/** What a leader that waited got. Without moments, it has to look again. */
interface GrantedToLeader {
  readonly grants: readonly Grant[];
  /** The lock's round for which it waited. */
  readonly round: number;
  /** How often it has waited for this call. @default 0 */
  readonly turn?: number;
}

/** What a sealed batch that waited got. */
interface GrantedToBatch {
  readonly grants: readonly Grant[];
  /** The number of its last attempt when it began to wait. */
  readonly attempt: number;
  /** How often it has waited for this call. @default 0 */
  readonly turn?: number;
}

/** Says that a batch is sealed, or that its retry is due. */
export interface DueMessage {
  readonly kind: 'due';
  readonly batchId: BatchId;
  /** The moments of its call under the operation's limits. */
  readonly granted?: GrantedToBatch;
  /** The attempt whose results could not be stored. The next attempt replaces it, and it does not count. */
  readonly uncounted?: number | undefined;
  /** Whether this message wakes a batch that waited for a free slot of its operation. */
  readonly woken?: boolean;
  /** Set while a pause holds up the batch: the name of this message. */
  readonly held?: SentHeld;
}

/** Says that a batch's job has ended. The system that ran the job sends it. */
export interface CompletionMessage {
  readonly kind: 'completion';
  readonly batchId: BatchId;
  /** The results of the batch's items, in JSON as sent. They should be a list. Null if all items succeeded. */
  readonly results: string | null;
  /** The results of the inputs of a merged job, as JSON as sent. If set, `results` is null. */
  readonly inputs?: string;
  /** Whether an execution reported no results, so that `results` only assumes that its items succeeded. */
  readonly withoutResults?: true;
  /** How often this message was sent again because an attempt was under way. @default 0 */
  readonly early?: number;
}

export type BatchMessage = DueMessage | CompletionMessage;

/** A batch's message to be sent again, without the times that were reserved or granted for its call. */
export const again = ({ batchId, uncounted }: DueMessage): DueMessage =>
  uncounted === undefined ? { kind: 'due', batchId } : { kind: 'due', batchId, uncounted };

/**
 * Whether a message is for other tasks than those for which the sending function runs: it wakes other Targets or
 * batches. Such a message begins a new chain for Lambda's loop detection (docs/decisions/0035).
 */
export const isForOthers = (message: ElectMessage | ResumeMessage | GrantMessage | BatchMessage): boolean => {
  switch (message.kind) {
    case 'grant':
      return true;
    case 'elect':
      return message.wake !== undefined || message.resume !== undefined;
    case 'resume':
      return true;
    case 'due':
      return message.woken === true || message.granted !== undefined;
    case 'completion':
      return false;
  }
};

export const printElect = (message: ElectMessage | ResumeMessage | GrantMessage): string => {
  const { kind: _, ...fields } = message;
  return JSON.stringify(fields);
};

export const printGroup = ({ target, fence, token, hint, early, granted }: GroupMessage): string =>
  JSON.stringify({
    target,
    f: fence,
    token,
    ...(hint ? { hint } : {}),
    ...(early ? { early } : {}),
    ...(granted ? { granted } : {}),
  });

export const printBatch = (message: BatchMessage): string => {
  if (message.kind === 'completion') return printCompletion(message);
  const { kind: _, batchId, ...rest } = message;
  return JSON.stringify({ b: batchId, ...rest });
};

const printCompletion = ({ batchId, results, inputs, early, withoutResults }: CompletionMessage): string => {
  const rest = [
    ...(early ? [`,"early":${early}`] : []),
    ...(withoutResults ? [',"withoutResults":true'] : []),
    ...(results === null ? [] : [`,"results":${results}`]),
    ...(inputs === undefined ? [] : [`,"inputs":${inputs}`]),
  ];
  return `{"batchId":${JSON.stringify(batchId)}${rest.join('')}}`;
};

/** @throws UnreadableMessage, NewerMessage */
export const parseElect = (body: string): ElectMessage | ResumeMessage | GrantMessage => {
  const { target, operation, wake, resume, waking, step, bucket, grant, turn, early } = inKnownForm(fields(body));
  if (isBucketId(bucket) && isToken(grant) && isMoment(turn))
    return { kind: 'grant', bucket, grant, turn, ...(isCount(early) ? { early } : {}) };
  const isFit = resume === undefined || isToken(resume);
  if (isFit && resume !== undefined && isOperationName(operation))
    return {
      kind: 'resume',
      operation,
      resume,
      ...(isWaking(waking) ? { waking } : {}),
      ...(isCount(step) ? { step } : {}),
    };
  if (!isFit || !isTarget(target) || !(wake === undefined || Number.isSafeInteger(wake)))
    throw notOurs('{target}', body);
  return {
    kind: 'elect',
    target,
    ...(wake === undefined ? {} : { wake: wake as number }),
    ...(resume === undefined ? {} : { resume }),
  };
};

/** @throws UnreadableMessage, NewerMessage */
export const parseGroup = (body: string): GroupMessage => {
  const { target, f, token, hint, early, granted } = inKnownForm(fields(body));
  if (!isTarget(target) || !Number.isSafeInteger(f) || !isToken(token)) throw notOurs('{target, f, token}', body);
  return {
    target,
    fence: f as number,
    token,
    ...(hint === true ? { hint } : {}),
    ...(isCount(early) ? { early } : {}),
    ...(isObject(granted) && isMoment(granted.round)
      ? { granted: { ...grantsIn(granted), round: granted.round } }
      : {}),
  };
};

/** @throws UnreadableMessage, NewerMessage */
export const parseBatch = (body: string): BatchMessage => {
  const execution = parseExecutionEvent(body);
  if (execution && 'problem' in execution) throw new UnreadableMessage(execution.problem, body);
  if (execution) return { kind: 'completion', ...execution };
  const message = fields(body);
  // Completion reports come from other systems, and have no version of Groupage's message form.
  const { b, batchId = b, results, inputs } = message.b === undefined ? message : inKnownForm(message);
  if (!isBatchId(batchId)) throw notOurs('{b} or {batchId, results}', body);
  const { granted, uncounted, woken, held, early, withoutResults } = message;
  if (b === undefined || results !== undefined || inputs !== undefined)
    return {
      ...completionIn(batchId, body),
      ...(withoutResults === true ? { withoutResults } : {}),
      ...(isCount(early) ? { early } : {}),
    };
  return {
    kind: 'due',
    batchId,
    ...(isObject(granted) && isMoment(granted.attempt)
      ? { granted: { ...grantsIn(granted), attempt: granted.attempt } }
      : {}),
    ...(isCount(uncounted) ? { uncounted } : {}),
    ...(woken === true ? { woken } : {}),
    ...(isHeld(held) ? { held: heldIn(held) } : {}),
  };
};

/** If a message has both results and inputs, the results count. */
const completionIn = (batchId: BatchId, body: string): CompletionMessage => {
  const raw = rawMembers(body);
  const [results, inputs] = [raw.get('results') ?? null, raw.get('inputs')];
  return { kind: 'completion', batchId, results, ...(inputs === undefined || results !== null ? {} : { inputs }) };
};

/** Grants that cannot be read are left out: the call then asks for other moments. */
const grantsIn = ({ grants, turn }: Record<string, unknown>) => ({
  grants: Array.isArray(grants) ? grants.filter(isGrant) : [],
  ...(isCount(turn) ? { turn } : {}),
});

const isGrant = (value: unknown): value is Grant =>
  isObject(value) &&
  isBucketId(value.bucket) &&
  [value.at, value.line, value.weight].every(Number.isFinite) &&
  (value.lease === undefined || isToken(value.lease));

const isWaking = (value: unknown): value is Waking =>
  isObject(value) && isToken(value.id) && (value.left === undefined || isCount(value.left));

const isHeld = (value: unknown): value is SentHeld => isObject(value) && isToken(value.by) && isCount(value.span);

const heldIn = ({ by, span, after }: SentHeld): SentHeld => ({ by, span, ...(isToken(after) ? { after } : {}) });

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const isMoment = (value: unknown): value is Millis => Number.isSafeInteger(value) && (value as Millis) >= 0;

const fields = (body: string): Record<string, unknown> => {
  const json = parseJson(body);
  // The callers report a message without fields as unreadable.
  return json.ok && isObject(json.value) ? json.value : {};
};
