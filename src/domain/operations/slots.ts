/**
 * What an operation's Targets share: slots for batches under way, a pause, a circuit, a rate. An operation is a Target of
 * Targets: those that found no room wait for it as tasks wait for their batch.
 */
import type { Concurrency } from '../config/policies.ts';
import { type BatchId, batchIdOf, type Millis, type Target, type Token } from '../ids.ts';

declare const brand: unique symbol;
/** A batch as its operation knows it: `Target#Fence#Round`, its Target unhashed, so that its lock can be found. */
export type Slot = string & { readonly [brand]: 'Slot' };

/** Nothing is sealed, and nobody is called, until it is resumed. */
export interface Pause {
  /** Only a resume of the same pause ends it. */
  readonly id: string;
  readonly by: 'person' | 'circuit';
  readonly since: Millis;
  /** When it ends by itself; a person's does not. */
  readonly until?: Millis;
  readonly reason?: string;
}

/** The pause that holds up calls now: one whose time is over does not, whoever forgot to end it. */
export const pauseNow = ({ paused }: { readonly paused?: Pause }, now: Millis): Pause | undefined =>
  paused && (paused.until === undefined || paused.until > now) ? paused : undefined;

/** An operation's row. */
export interface OperationState {
  /** The slots of its first page, in no order. */
  readonly inFlight: readonly Slot[];
  /** The largest cap for which it has had slots on further pages; none where one page was always enough. */
  readonly largestCap?: number;
  readonly paused?: Pause;
  /** Attempts in a row that came to nothing. */
  readonly failures: number;
  /** Since when calls have been refused since there are too many, and none has been taken. */
  readonly throttledSince?: Millis;
  /** Calls that are reserved under its rate; none where it has had no rate. */
  readonly line?: CallLine;
  /** Many of its Targets are being woken, one invocation after the other: the last of them, and when it was. */
  readonly waking?: { readonly id: string; readonly at: Millis };
}

/** Moments that are reserved for calls, one after the other. */
export interface CallLine {
  /** When the next call may be made. */
  readonly next: Millis;
  /** Calls a second that it was made for. Release 0.2.0 does not say. */
  readonly rate?: number;
  /** When it began, which names it: a moment that was reserved in another line is void. Release 0.2.0 does not say. */
  readonly since?: Millis;
}

export const NEW_OPERATION: OperationState = { inFlight: [], failures: 0 };

/** A Target that waits for room in its operation. */
export interface WaitingTarget {
  readonly target: Target;
  /** Since when its oldest task waits: its turn. */
  readonly at: Millis;
  /** The fence that it had when it found no room. */
  readonly fence: number;
  /** A sealed batch that waits to have its slot back, instead of the Target. */
  readonly batch?: BatchId;
  /**
   * Names one stay in the line. A Target may come back under the same key: the function that woke it for its earlier stay must not remove
   * the new row. Absent in rows of release 0.2.0.
   */
  readonly by?: Token;
}

/** The key of a waiting Target, or batch, which sorts by its turn. */
export const turnOf = ({ target, at, fence, batch }: WaitingTarget): string =>
  `${String(Math.max(0, at)).padStart(13, '0')}#${target}#${fence}${batch === undefined ? '' : `#${roundOf(batch)}`}`;

/** The batch that the holder of `fence` opens as its `round`-th. */
export const slotOf = (target: Target, fence: number, round: number): Slot => `${target}#${fence}#${round}` as Slot;

/** The slot of a batch: the end of its id names its fence and round. */
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

/** The batch that has, or would have, this slot. */
export const batchOfSlot = (slot: Slot): BatchId => {
  const { target, fence, round } = parseSlot(slot);
  return batchIdOf(target, fence, round);
};

/** How many more batches of the operation may begin. @param taken slots that are taken, on all pages */
export const freeSlotsIn = (
  { paused }: Pick<OperationState, 'paused'>,
  { total }: Concurrency,
  taken: number,
): number => {
  if (paused) return 0;
  return total === null ? Number.POSITIVE_INFINITY : Math.max(0, total - taken);
};
