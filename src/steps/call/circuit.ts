/**
 * The circuit of an operation: while its downstream is down or wrongly configured, batches wait and none of their
 * attempts count.
 *
 * - *closed*: the row counts failed attempts in a row. An attempt that the downstream answered resets the count. The
 *   circuit opens after `failures` failed attempts, or after one answer that blames the configuration (O3).
 * - *open*: the operation is paused until `until`. Nothing is sealed, and no attempt starts. A delayed resume message
 *   ends the pause; the sweep sends it again if it was lost.
 * - *half-open*: the pause is over, but the count is not reset. One waiting Target is woken. If the downstream answers
 *   its attempt, the circuit closes and the other Targets are woken. If the attempt fails, the circuit opens again
 *   (O4).
 *
 * An attempt that was only throttled does not count as failed. But if the downstream throttles all calls for as long as
 * a pause lasts, the circuit opens (O5).
 */

import type { CircuitPolicy } from '../../domain/config/policies.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import { circuitPauseId, type OperationState, type Pause, pauseNow } from '../../domain/operations/slots.ts';
import { SECOND } from '../../domain/timings.ts';
import type { BatchDeps } from '../deps.ts';
import { FIRST_STEP, wakeInSteps } from '../slots/wake.ts';
import type { Failure } from './tally.ts';

/**
 * O3. Counts an attempt whose calls all failed. The circuit opens at once if the configuration is at fault.
 *
 * @param policy null if the operation has no circuit. Failures are counted even then, because a recovery proves which
 *   batches are at fault.
 * @param before the operation's row as it was before the attempt.
 */
export const countFailure = async (
  deps: BatchDeps,
  operation: OperationName,
  policy: CircuitPolicy | null,
  failure: Failure,
  before: OperationState,
): Promise<Counted> => {
  const { recoveries } = before;
  const isOne = failure.is === 'failed' || failure.is === 'misread';
  if (policy === null) return isOne ? deps.operations.addFailure(operation, 1, failure.reason) : { recoveries };
  if (failure.is === 'throttled' && !(await takesNone(deps, operation, policy.coolDown, before))) return { recoveries };
  const counted = await deps.operations.addFailure(operation, isOne ? 1 : policy.failures, failure.reason);
  const pause = await openCircuit(deps, operation, policy, failure, counted.failures);
  return { recoveries: counted.recoveries, ...(pause ? { pause } : {}) };
};

/** The operation after a failed attempt was counted. */
interface Counted {
  readonly recoveries: number;
  /** Absent if the operation is not paused. */
  readonly pause?: Pause;
}

const openCircuit = async (
  deps: BatchDeps,
  operation: OperationName,
  { failures: most, coolDown }: CircuitPolicy,
  { reason, is }: Failure,
  failures: number,
): Promise<Pause | undefined> => {
  const { operations, machine, queues, report } = deps;
  const now = machine.now();
  const state = await operations.read(operation);
  if (failures < most || pauseNow(state, now)) return pauseNow(state, now);
  // A pause that is over but still stored shows that its resume message was lost.
  if (state.paused) await operations.resume(operation, state.paused.id, now);
  const until = now + coolDown;
  const pause: Pause = { id: circuitPauseId(machine.token()), by: 'circuit', since: now, until, reason };
  // O3. Send the resume message before the pause is stored. A resume message without a pause is harmless, but a pause
  // without a resume message would not end.
  await queues.resume({ kind: 'resume', operation, resume: pause.id }, Math.ceil(coolDown / SECOND));
  if (!(await operations.pause(operation, pause))) return pauseNow(await operations.read(operation), now);
  report({
    event: 'circuit-opened',
    operation,
    reason,
    until,
    failures,
    ...(is === 'misconfigured' ? ({ isMisconfigured: true } as const) : {}),
    ...(is === 'throttled' ? ({ isThrottled: true } as const) : {}),
  });
  return pause;
};

/** O5. Whether the downstream has throttled all calls for `span`. The time of the first throttled call is stored. */
const takesNone = async (
  { operations, machine }: BatchDeps,
  operation: OperationName,
  span: Millis,
  { throttledSince }: OperationState,
): Promise<boolean> => {
  const now = machine.now();
  if (throttledSince === undefined) await operations.markThrottled(operation, now);
  return throttledSince !== undefined && now - throttledSince >= span;
};

/**
 * O4. Resets the failures after an attempt that the downstream answered. This also closes a circuit that opened and
 * became half-open after the attempt began.
 *
 * @param policy null if the operation has no circuit.
 * @param before the operation's row as it was before the attempt.
 */
export const countSuccess = async (
  deps: BatchDeps,
  operation: OperationName,
  policy: CircuitPolicy | null,
  before: OperationState,
): Promise<void> => {
  if (before.failures === 0 && before.throttledSince === undefined) return;
  const most = policy?.failures ?? Number.POSITIVE_INFINITY;
  const { failures } = policy && before.failures < most ? await deps.operations.read(operation) : before;
  await deps.operations.resetFailures(operation);
  if (failures < most) return;
  deps.report({ event: 'circuit-closed', operation });
  // One batch has tested the downstream successfully, so wake the other waiting Targets.
  await wakeInSteps(deps, operation, FIRST_STEP);
};
