/** The rows that an operation's Targets share, in a partition that is no Target: `:` is in no operation's name. */
import type { OperationName, Target } from '../batching/ids.ts';
import { NEW_OPERATION, type OperationState, type Slot, turnOf, type WaitingTarget } from '../batching/slots.ts';
import type { Item } from './dynamodb.ts';
import { LOCK_ENTRY, VERSION, WAITING_PREFIX } from './lock-rows.ts';
import { pauseOf } from './pause-item.ts';

export const partitionOf = (operation: OperationName): string => `op:${operation}`;

export const operationKey = (operation: OperationName): Item => ({ Target: partitionOf(operation), Entry: LOCK_ENTRY });

export const operationStateOf = (row: Item | undefined): OperationState => ({
  ...NEW_OPERATION,
  ...(row?.InFlight === undefined ? {} : { inFlight: [...(row.InFlight as Set<Slot>)] }),
  ...(row?.Paused === undefined ? {} : { paused: pauseOf(row.Paused as Item) }),
  ...(row?.Failures === undefined ? {} : { failures: row.Failures as number }),
  ...(row?.NextCallAt === undefined ? {} : { nextCallAt: row.NextCallAt as number }),
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
  Version: VERSION,
});

export const waitingTargetOf = (row: Item): WaitingTarget => ({
  target: row.WaitingTarget as Target,
  at: row.At as number,
  fence: row.Fence as number,
});
