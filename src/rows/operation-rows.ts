/** The rows that an operation's Targets share, in a partition that is no Target: `:` is in no operation's name. */
import type { BatchId, OperationName, Target, Token } from '../domain/ids.ts';
import {
  type CallLine,
  NEW_OPERATION,
  type OperationState,
  type Slot,
  turnOf,
  type WaitingTarget,
} from '../domain/operations/slots.ts';
import type { Item } from './item.ts';
import { LOCK_ENTRY, WAITING_PREFIX } from './lock-rows.ts';
import { pauseOf } from './pause-item.ts';
import { readable, versionOf } from './row-version.ts';

export const partitionOf = (operation: OperationName): string => `op:${operation}`;

export const operationKey = (operation: OperationName): Item => ({ Target: partitionOf(operation), Entry: LOCK_ENTRY });

/** @throws NewerRow */
export const operationStateOf = (stored: Item | undefined): OperationState => {
  const row = readable('operation', stored ?? {});
  return {
    ...NEW_OPERATION,
    ...(row.InFlight === undefined ? {} : { inFlight: [...(row.InFlight as Set<Slot>)] }),
    ...(row.LargestCap === undefined ? {} : { largestCap: row.LargestCap as number }),
    ...(row.Paused === undefined ? {} : { paused: pauseOf(row.Paused as Item) }),
    ...(row.Failures === undefined ? {} : { failures: row.Failures as number }),
    ...(row.ThrottledSince === undefined ? {} : { throttledSince: row.ThrottledSince as number }),
    ...(row.NextCallAt === undefined ? {} : { line: lineOf(row) }),
    ...(row.WakingId === undefined ? {} : { waking: { id: row.WakingId as string, at: row.WokenAt as number } }),
  };
};

/** Release 0.2.0 writes no more of it than when the next call may be made. */
const lineOf = ({ NextCallAt: next, CallRate: rate, CallsSince: since }: Item): CallLine => ({
  next: next as number,
  ...(rate === undefined ? {} : { rate: rate as number }),
  ...(since === undefined ? {} : { since: since as number }),
});

export const waitingTargetKey = (operation: OperationName, waiting: WaitingTarget): Item => ({
  Target: partitionOf(operation),
  Entry: `${WAITING_PREFIX}${turnOf(waiting)}`,
});

export const waitingTargetItem = (operation: OperationName, waiting: WaitingTarget): Item => ({
  ...waitingTargetKey(operation, waiting),
  At: waiting.at,
  WaitingTarget: waiting.target,
  Fence: waiting.fence,
  ...(waiting.batch === undefined ? {} : { WaitingBatch: waiting.batch }),
  ...(waiting.by === undefined ? {} : { EnqueuedBy: waiting.by }),
  Version: versionOf('waiting Target'),
});

/** @throws NewerRow */
export const waitingTargetOf = (stored: Item): WaitingTarget => {
  const row = readable('waiting Target', stored);
  return {
    target: row.WaitingTarget as Target,
    at: row.At,
    fence: row.Fence,
    ...(row.WaitingBatch === undefined ? {} : { batch: row.WaitingBatch as BatchId }),
    ...(row.EnqueuedBy === undefined ? {} : { by: row.EnqueuedBy as Token }),
  };
};
