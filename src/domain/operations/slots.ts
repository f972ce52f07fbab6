/**
 * The state that an operation's Targets share: slots for batches in flight, a pause and a circuit. An
 * operation is to its Targets what a Target is to its tasks: Targets without a free slot wait in the operation's slot
 * queue, as tasks wait for a batch. A batch holds its slot from before it is opened until it has ended.
 */
import type { CircuitPolicy, Concurrency } from '../config/policies.ts';
import { type BatchId, batchIdOf, type Millis, type Target, type Token } from '../ids.ts';

declare const brand: unique symbol;
/** The name of a batch's slot: `Target#Fence#Round`. The Target is not hashed, so that its lock can be found. */
export type Slot = string & { readonly [brand]: 'Slot' };

/** A pause of an operation or Target. Until it is resumed, no batch is sealed and the downstream is not called. */
export interface Pause {
  /** The id of the pause. A resume must name it to end the pause. */
  readonly id: string;
  readonly by: 'person' | 'circuit';
  readonly since: Millis;
  /** When the pause ends without a resume. A pause by a person has no such time. */
  readonly until?: Millis;
  readonly reason?: string;
}

const OF_CIRCUIT = 'circuit-';
export const circuitPauseId = (token: Token): string => `${OF_CIRCUIT}${token}`;
/** Whether a pause with this id is one of the circuit. */
export const isOfCircuit = (id: string): boolean => id.startsWith(OF_CIRCUIT);

/** The pause that stops calls now. A pause whose time is over stops no calls, even if the row still contains it. */
export const pauseNow = ({ paused }: { readonly paused?: Pause }, now: Millis): Pause | undefined =>
  paused && (paused.until === undefined || paused.until > now) ? paused : undefined;

/** Whether answers of a downstream name the `results` of tasks. Once an answer did, the downstream can. */
export type AnswerForm = 'with-results' | 'without-results';

/** An operation's row. */
export interface OperationState {
  /** The slots of the operation's first page, in no order. */
  readonly inFlight: readonly Slot[];
  /**
   * The largest cap for which the operation has had slots on pages after the first one. Absent if one page always
   * sufficed.
   */
  readonly largestCap?: number;
  readonly paused?: Pause;
  /** Failed attempts in a row. */
  readonly failures: number;
  /** Why the last of them failed, at most {@link LAST_FAILURE_MAX_BYTES}. Meaningless if there are no failures. */
  readonly lastFailure?: string;
  /** How often a call succeeded after failed attempts. Grows for as long as the row exists. */
  readonly recoveries: number;
  /** When the last pause ended. Absent if the operation has not been paused. */
  readonly resumedAt?: Millis;
  /** The id of that pause. */
  readonly resumedId?: string;
  /** Since when the downstream has throttled calls without accepting one. Absent if it accepts calls. */
  readonly throttledSince?: Millis;
  /** The form of the answers so far. Absent before the first answer, and if `downstream.requireResults` is set. */
  readonly answers?: AnswerForm;
  /**
   * Set while a series of invocations wakes many of the operation's Targets: the id of the last invocation, and when
   * that invocation wrote its id.
   */
  readonly waking?: { readonly id: string; readonly at: Millis };
}

/** O4. Whether an open circuit's pause is over, and no call has shown yet that the downstream works. */
export const isHalfOpen = (
  { failures }: Pick<OperationState, 'failures'>,
  circuit: Pick<CircuitPolicy, 'failures'> | null,
): boolean => circuit !== null && failures >= circuit.failures;

/** Whether the circuit was open a short time ago. Its downstream may still be overloaded, and Targets still wait. */
export const wasOpenLately = (
  { resumedAt }: Pick<OperationState, 'resumedAt'>,
  circuit: Pick<CircuitPolicy, 'coolDown'> | null,
  now: Millis,
): boolean => circuit !== null && resumedAt !== undefined && now < resumedAt + 2 * circuit.coolDown;

/** The most bytes of a stored failure. The row is written often, and DynamoDB charges each write for the whole row. */
export const LAST_FAILURE_MAX_BYTES = 200;

export const NEW_OPERATION: OperationState = { inFlight: [], failures: 0, recoveries: 0 };

/** A Target that waits for a free slot of its operation. */
export interface WaitingTarget {
  readonly target: Target;
  /** Since when the Target's oldest task waits. The Target with the longest wait gets a slot first. */
  readonly at: Millis;
  /** The fence that the Target had when it found no free slot. */
  readonly fence: number;
  /** As in the Target's lock. For a batch: when its last attempt failed. */
  readonly failedAt?: Millis;
  readonly workedAt?: Millis;
  /** How many batches the Target had before. */
  readonly batches?: number;
  /** Set if a sealed batch, and not the Target, waits to get its slot back: the batch's id. */
  readonly batch?: BatchId;
  /**
   * Names one stay in the slot queue. A Target may enter the queue again under the same key: the function that woke it
   * for its earlier stay must not delete the new row. Absent in rows of release 0.2.0.
   */
  readonly by?: Token;
}

/** The sort key of a waiting Target or batch. */
export const turnOf = ({ target, at, fence, batch }: WaitingTarget): string =>
  `${String(Math.max(0, at)).padStart(13, '0')}#${target}#${fence}${batch === undefined ? '' : `#${roundOf(batch)}`}`;

/** The slot of the batch that the holder of `fence` opens in round number `round`. */
export const slotOf = (target: Target, fence: number, round: number): Slot => `${target}#${fence}#${round}` as Slot;

/** The slot of a batch. The end of the batch's id contains its fence and round. */
export const slotOfBatch = ({ id, target }: { readonly id: BatchId; readonly target: Target }): Slot => {
  const [fence = '', round = ''] = id.split('#').slice(-2);
  return `${target}#${fence}#${round}` as Slot;
};

const roundOf = (batch: BatchId): string => batch.slice(batch.lastIndexOf('#') + 1);

export const parseSlot = (slot: Slot): { readonly target: Target; readonly fence: number; readonly round: number } => {
  const parts = slot.split('#');
  const [fence, round] = parts.slice(-2).map(Number) as [number, number];
  return { target: parts.slice(0, -2).join('#') as Target, fence, round };
};

/** The id of the batch that has this slot, or that is opened after the slot was taken. */
export const batchOfSlot = (slot: Slot): BatchId => {
  const { target, fence, round } = parseSlot(slot);
  return batchIdOf(target, fence, round);
};

/**
 * How many more batches of the operation may begin.
 *
 * @param taken slots taken on all pages
 */
export const freeSlotsIn = (
  { paused }: Pick<OperationState, 'paused'>,
  { total }: Concurrency,
  taken: number,
): number => {
  if (paused) return 0;
  return total === null ? Number.POSITIVE_INFINITY : Math.max(0, total - taken);
};
