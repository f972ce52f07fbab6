/**
 * What an operation's Targets share: slots for batches under way, a pause, a circuit, a rate. An operation is a Target of
 * Targets: those that found no room wait for it as tasks wait for their batch.
 */
import type { Concurrency } from '../config/resolved.ts';
import type { BatchId, Millis, Target } from './ids.ts';

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

/** An operation's row. */
export interface OperationState {
  /** Batches that hold a slot, in no order. */
  readonly inFlight: readonly Slot[];
  readonly paused?: Pause;
  /** Attempts in a row that came to nothing. */
  readonly failures: number;
  /** Since when calls have been refused since there are too many, and none has been taken. */
  readonly throttledSince?: Millis;
  /** When the next call may be made. */
  readonly nextCallAt: Millis;
}

export const NEW_OPERATION: OperationState = { inFlight: [], failures: 0, nextCallAt: 0 };

/** A Target that waits for room in its operation. */
export interface WaitingTarget {
  readonly target: Target;
  /** Since when its oldest task waits: its turn. */
  readonly at: Millis;
  /** The fence that it had when it found no room. */
  readonly fence: number;
}

/** The key of a waiting Target, which sorts by its turn. */
export const turnOf = ({ target, at, fence }: WaitingTarget): string =>
  `${String(Math.max(0, at)).padStart(13, '0')}#${target}#${fence}`;

/** The batch that the holder of `fence` opens as its `round`-th. */
export const slotOf = (target: Target, fence: number, round: number): Slot => `${target}#${fence}#${round}` as Slot;

/** The slot of a batch: the end of its id names its fence and round. */
export const slotOfBatch = ({ id, target }: { readonly id: BatchId; readonly target: Target }): Slot => {
  const [fence = '', round = ''] = id.split('#').slice(-2);
  return `${target}#${fence}#${round}` as Slot;
};

export const parseSlot = (slot: Slot): { readonly target: Target; readonly fence: number; readonly round: number } => {
  const parts = slot.split('#');
  const [fence, round] = parts.slice(-2).map(Number) as [number, number];
  return { target: parts.slice(0, -2).join('#') as Target, fence, round };
};

/** How many batches more of the operation may begin. */
export const roomIn = ({ paused, inFlight }: OperationState, { total }: Concurrency): number => {
  if (paused) return 0;
  return total === null ? Number.POSITIVE_INFINITY : Math.max(0, total - inFlight.length);
};

export const hasRoom = (state: OperationState, concurrency: Concurrency): boolean => roomIn(state, concurrency) > 0;
