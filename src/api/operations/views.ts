/** Operations and pauses as the HTTP API shows them. */

import { lateAfter, type Operation } from '../../domain/config/resolved.ts';
import {
  batchOfSlot,
  type OperationState,
  type Pause,
  type Slot,
  type WaitingTarget,
} from '../../domain/operations/slots.ts';
import { SECOND } from '../../domain/timings.ts';
import { iso } from '../shared/iso.ts';
import type { Circuit, OperationDetails, Operation as OperationShown, Pause as PauseShown } from './responses.ts';

/** A pause: by whom, since when, and why. */
export const pauseView = ({ by, since, until, reason }: Pause): PauseShown => ({
  by,
  since: iso(since),
  ...(until === undefined ? {} : { until: iso(until) }),
  ...(reason === undefined ? {} : { reason }),
});

export const circuitOf = (
  { circuit }: Pick<Operation, 'circuit'>,
  { paused, failures }: Pick<OperationState, 'paused' | 'failures'>,
): Circuit => {
  if (paused?.by === 'circuit') return 'open';
  if (circuit === null) return null;
  return failures >= circuit.failures ? 'half-open' : 'closed';
};

/** @param slots that batches hold. @param waiting the Targets that wait for a free slot, up to `limit`. */
export const operationView = (
  operation: Operation,
  state: OperationState,
  slots: readonly Slot[],
  waiting: readonly WaitingTarget[],
  limit: number,
): OperationShown => {
  const { total } = operation.concurrency;
  return {
    operation: operation.operation,
    ...(state.paused ? { paused: pauseView(state.paused) } : {}),
    circuit: circuitOf(operation, state),
    failures: state.failures,
    lateAfterSeconds: lateAfter(operation) / SECOND,
    // Without a cap no batch takes a slot.
    ...(total === null ? {} : { slots: { taken: slots.length, total } }),
    waitingTargets: waiting.length,
    ...(waiting.length === limit ? { waitingTargetsIsAtLeast: true } : {}),
  };
};

/**
 * The grouping fields of an operation, the batches that hold its slots, and the Targets that wait for a slot, the next
 * one first.
 */
export const operationDetails = (
  { keys }: Pick<Operation, 'keys'>,
  slots: readonly Slot[],
  waiting: readonly WaitingTarget[],
): Omit<OperationDetails, keyof OperationShown> => ({
  groupedBy: keys,
  batches: slots.map(batchOfSlot),
  targets: waiting.map(({ target, at }) => ({ target, since: iso(at) })),
});
