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
import type {
  Circuit,
  OperationDetails,
  Operation as OperationShown,
  Pause as PauseShown,
  UnderWaySummary,
} from './responses.ts';

/** A pause: who or what caused it, when it began, when it ends, and why. */
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

/** Whether the operator should check that answers without results mean success. */
const hasNoResults = (
  { downstream }: Pick<Operation, 'downstream'>,
  { answers }: Pick<OperationState, 'answers'>,
): boolean => answers === 'without-results' && downstream.kind !== 'queue' && downstream.requireResults === null;

/** @param slots the slots that batches hold. @param waiting the Targets that wait for a free slot, at most `limit`. */
export const operationView = (
  operation: Operation,
  state: OperationState,
  slots: readonly Slot[],
  waiting: readonly WaitingTarget[],
  limit: number,
  underWay: UnderWaySummary | undefined,
): OperationShown => {
  const { total } = operation.concurrency;
  return {
    operation: operation.operation,
    ...(state.paused ? { paused: pauseView(state.paused) } : {}),
    circuit: circuitOf(operation, state),
    failures: state.failures,
    ...(state.failures > 0 && state.lastFailure !== undefined ? { lastFailure: state.lastFailure } : {}),
    ...(hasNoResults(operation, state) ? { answersWithoutResults: true } : {}),
    lateAfterSeconds: lateAfter(operation) / SECOND,
    // If the operation has no cap, its batches take no slots.
    ...(total === null ? {} : { slots: { taken: slots.length, total } }),
    waitingTargets: waiting.length,
    ...(waiting.length === limit ? { waitingTargetsIsAtLeast: true } : {}),
    ...(underWay ? { underWay } : {}),
  };
};

/**
 * The details of an operation: its grouping fields, the batches that hold its slots, and the Targets that wait for a
 * slot. The Target that gets the next free slot comes first.
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
