/** The identifiers of the core as branded strings. Only this file builds and parses them. */
import { createHash } from 'node:crypto';
import { isTextWithin } from '../util/limits.ts';

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** Milliseconds. A point in time is counted from the epoch. */
export type Millis = number;

/** The id of a task, given by its producer or derived from its SQS message. Matches `TASK_ID_PATTERN`. */
export type TaskId = Brand<'TaskId'>;
/** A configured kind of work, for example `distribute-parcels`. Contains no `/`. */
export type OperationName = Brand<'OperationName'>;
/**
 * The name of a configured limit, which operations share: it matches `OPERATION_NAME_PATTERN`. Or `rate:OPERATION` for
 * the limit that an operation's `rateLimit` is short for.
 */
export type LimitName = Brand<'LimitName'>;
/**
 * An operation and its grouping values. Only tasks of one Target share a batch. At most `TARGET_MAX_BYTES` bytes,
 * without the shard.
 */
export type Target = Brand<'Target'>;
/** `Target#Fence#Round`. Known before the batch is stored, so that any function can finish forming it. */
export type BatchId = Brand<'BatchId'>;
/** The secret of one leader: while the lock contains it, that leader still holds the lock. */
export type Token = Brand<'Token'>;
/**
 * `Id#Run`: one life of a task. A redrive starts another run, which a leader that read the old waiting row must not
 * claim.
 */
export type Candidate = Brand<'Candidate'>;

export const TASK_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
export const OPERATION_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const TARGET_MAX_BYTES = 512;
/** Bytes that a shard's suffix (`~999`) may add to a Target. */
const SHARD_MAX_BYTES = 4;

/** A Target longer than this is hashed inside batch ids, which are stored on every task. */
const BATCH_ID_TARGET_MAX = 64;

/** Returns the id if it may name a task, otherwise undefined. */
export const taskId = (text: string): TaskId | undefined => (TASK_ID_PATTERN.test(text) ? (text as TaskId) : undefined);

/** The operation of a Target or batch id: the part before the Target's values and shard. */
export const operationOf = (id: Target | BatchId): OperationName => id.split(/[/~]/, 1)[0] as OperationName;

/** The prefix of all Targets of an operation whose grouping values begin with `prefix`. */
export const targetPrefix = (operation: OperationName, prefix: string): string => `${operation}/${prefix}`;

/** Whether a value may name an operation, configured or not. */
export const isOperationName = (value: unknown): value is OperationName =>
  typeof value === 'string' && OPERATION_NAME_PATTERN.test(value);

/** The form of a Target. It begins with an operation's name. The length is counted in bytes. */
export const TARGET_LIMITS = {
  pattern: /^[A-Za-z][A-Za-z0-9_-]{0,63}(?:[/~]|$)/,
  maxLength: TARGET_MAX_BYTES + SHARD_MAX_BYTES,
} as const;

/** Whether a value may be a Target, its operation configured or not. */
export const isTarget = (value: unknown): value is Target =>
  typeof value === 'string' &&
  isTextWithin(value, TARGET_LIMITS) &&
  Buffer.byteLength(value) <= TARGET_LIMITS.maxLength;

/** The longest key of a DynamoDB table. */
export const BATCH_ID_MAX_BYTES = 2_048;

/** Whether a value may name a batch, stored or not. */
export const isBatchId = (value: unknown): value is BatchId =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= BATCH_ID_MAX_BYTES;

/**
 * The longest token, in characters. It is short, because the lock row contains it, and DynamoDB charges each write for
 * the whole row.
 */
export const TOKEN_MAX = 64;

export const isToken = (value: unknown): value is Token =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && value.length <= TOKEN_MAX;

/** The id of the batch that the holder of `fence` opens in round number `round`. */
export const batchIdOf = (target: Target, fence: number, round: number): BatchId =>
  `${target.length <= BATCH_ID_TARGET_MAX ? target : shortened(target)}#${fence}#${round}` as BatchId;

/**
 * A short name of a long Target: its operation and 16 bytes of SHA-256, unique in practice among the Targets of an
 * account.
 */
const shortened = (target: Target): string => `${operationOf(target)}/${digest(target).slice(0, 22)}`;

/** SHA-256 of a text as base64url: 43 characters that are allowed in a header, a key and a URL. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const candidateOf = (id: TaskId, run: number): Candidate => `${id}#${run}` as Candidate;

/** The task and the run that a candidate names. */
export const parseCandidate = (candidate: Candidate): { readonly id: TaskId; readonly run: number } => {
  const at = candidate.lastIndexOf('#');
  return { id: candidate.slice(0, at) as TaskId, run: Number(candidate.slice(at + 1)) };
};
