/**
 * The rows that an operation's Targets share, in the table BatchLock. Their partition cannot be a Target's, because no
 * operation's name contains `:`.
 */
import type { OperationName } from '../domain/ids.ts';
import {
  NEW_OPERATION,
  type OperationState,
  type Slot,
  turnOf,
  type WaitingTarget,
} from '../domain/operations/slots.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { LOCK_ENTRY, pauseOf, WAITING_PREFIX } from './lock-rows.ts';
import { readable, versionOf } from './row-version.ts';

export const partitionOf = (operation: OperationName): string => `op:${operation}`;

export const operationKey = (operation: OperationName): Item => ({ Target: partitionOf(operation), Entry: LOCK_ENTRY });

const STATE: Attributes<
  Pick<
    OperationState,
    'largestCap' | 'failures' | 'lastFailure' | 'recoveries' | 'resumedAt' | 'resumedId' | 'throttledSince' | 'answers'
  >
> = {
  largestCap: 'LargestCap',
  failures: 'Failures',
  lastFailure: 'LastFailure',
  recoveries: 'Recoveries',
  resumedAt: 'ResumedAt',
  resumedId: 'ResumedId',
  throttledSince: 'ThrottledSince',
  answers: 'Answers',
};

/** @throws NewerRow */
export const operationStateOf = (stored: Item | undefined): OperationState => {
  const row = readable('operation', stored ?? {});
  return {
    ...NEW_OPERATION,
    ...read(STATE, row),
    ...(row.InFlight === undefined ? {} : { inFlight: [...(row.InFlight as Set<Slot>)] }),
    ...(row.Paused === undefined ? {} : { paused: pauseOf(row.Paused as Item) }),
    ...(row.WakingId === undefined ? {} : { waking: { id: row.WakingId as string, at: row.WokenAt as number } }),
  };
};

export const waitingTargetKey = (operation: OperationName, waiting: WaitingTarget): Item => ({
  Target: partitionOf(operation),
  Entry: `${WAITING_PREFIX}${turnOf(waiting)}`,
});

const WAITING_TARGET: Attributes<WaitingTarget> = {
  target: 'WaitingTarget',
  at: 'At',
  fence: 'Fence',
  batch: 'WaitingBatch',
  failedAt: 'FailedAt',
  workedAt: 'WorkedAt',
  batches: 'Batches',
  by: 'EnqueuedBy',
};

export const waitingTargetItem = (operation: OperationName, waiting: WaitingTarget): Item => ({
  ...waitingTargetKey(operation, waiting),
  ...written(WAITING_TARGET, waiting),
  Version: versionOf('waiting Target'),
});

/** @throws NewerRow */
export const waitingTargetOf = (stored: Item): WaitingTarget =>
  read(WAITING_TARGET, readable('waiting Target', stored));
