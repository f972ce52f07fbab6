/**
 * The identifiers of the core, as branded strings: built and parsed here and nowhere else.
 */
import { createHash } from 'node:crypto';
import { isTextWithin } from '../util/limits.ts';

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** Milliseconds: of the epoch for a moment, plain for a duration. */
export type Millis = number;

/** A task's own name, given by its producer or derived from its SQS message. Matches {@link TASK_ID_PATTERN}. */
export type TaskId = Brand<'TaskId'>;
/** A configured kind of work, e.g. `distribute-parcels`. Contains no `/`. */
export type OperationName = Brand<'OperationName'>;
/** Operation + grouping values: only tasks with one Target share a batch. At most `TARGET_MAX_BYTES` bytes. */
export type Target = Brand<'Target'>;
/** `Target#Fence#Round`; names a batch before it exists, so that anyone can finish forming it. */
export type BatchId = Brand<'BatchId'>;
/** What a leader shows to prove that the lock it reads is the one it took. */
export type Token = Brand<'Token'>;
/** `Id#Run`: one life of a task. A redrive starts another, which an old leader must not claim. */
export type Candidate = Brand<'Candidate'>;

export const TASK_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
export const OPERATION_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const TARGET_MAX_BYTES = 512;
/** What a shard's suffix (`~999`) may add to a Target. */
const SHARD_MAX_BYTES = 4;

/** A Target longer than this is hashed inside BatchIds, which are stored on every task. */
const BATCH_ID_TARGET_MAX = 64;

/** Returns the id when it may name a task, otherwise undefined. */
export const taskId = (text: string): TaskId | undefined => (TASK_ID_PATTERN.test(text) ? (text as TaskId) : undefined);

/** The operation that a Target, or a batch of it, belongs to: what precedes the Target's values and its shard. */
export const operationOf = (id: Target | BatchId): OperationName => id.split(/[/~]/, 1)[0] as OperationName;

/** What the Targets of an operation begin with whose grouping values begin with `prefix`. */
export const targetPrefix = (operation: OperationName, prefix: string): string => `${operation}/${prefix}`;

/** Whether something may name an operation, configured or not. */
export const isOperationName = (value: unknown): value is OperationName =>
  typeof value === 'string' && OPERATION_NAME_PATTERN.test(value);

/** What a Target may have: an operation's name in front. Its length is counted in bytes. */
export const TARGET_LIMITS = {
  pattern: /^[A-Za-z][A-Za-z0-9_-]{0,63}(?:[/~]|$)/,
  maxLength: TARGET_MAX_BYTES + SHARD_MAX_BYTES,
} as const;

/** Whether something may be a Target, its operation known or not. */
export const isTarget = (value: unknown): value is Target =>
  typeof value === 'string' &&
  isTextWithin(value, TARGET_LIMITS) &&
  Buffer.byteLength(value) <= TARGET_LIMITS.maxLength;

/** The longest key of a table. */
const KEY_MAX_BYTES = 2_048;

/** Whether something may name a batch, stored or not. */
export const isBatchId = (value: unknown): value is BatchId =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && Buffer.byteLength(value) <= KEY_MAX_BYTES;

/** What a token may have: it is stored on the lock row, and written with it every time. */
export const TOKEN_MAX = 64;

export const isToken = (value: unknown): value is Token =>
  typeof value === 'string' && value !== '' && value.isWellFormed() && value.length <= TOKEN_MAX;

/** Names the batch that the holder of `fence` opens as its `round`-th. */
export const batchIdOf = (target: Target, fence: number, round: number): BatchId =>
  `${target.length <= BATCH_ID_TARGET_MAX ? target : shortened(target)}#${fence}#${round}` as BatchId;

/** 16 bytes of SHA-256: as good as unique among the Targets of one account, and short. */
const shortened = (target: Target): string => `${operationOf(target)}/${digest(target).slice(0, 22)}`;

/** SHA-256 of a text, base64url: 43 characters that may appear in a header, a key or a URL. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

export const candidateOf = (id: TaskId, run: number): Candidate => `${id}#${run}` as Candidate;

/** The task and the run that a candidate names. */
export const parseCandidate = (candidate: Candidate): { readonly id: TaskId; readonly run: number } => {
  const at = candidate.lastIndexOf('#');
  return { id: candidate.slice(0, at) as TaskId, run: Number(candidate.slice(at + 1)) };
};
