/**
 * The circuit of an operation: while its downstream is down or wrongly configured, batches wait and use up no attempts.
 *
 * - *closed*: the row counts failed attempts in a row. An answered attempt resets the count. After `failures` of them,
 *   or one answer that blames the configuration, the circuit opens (O3).
 * - *open*: the operation is paused until `until`. Nothing is sealed, and no attempt starts. A delayed resume message
 *   ends the pause; the sweep sends it again if it was lost.
 * - *half-open*: the pause is over and the count stands. One waiting Target is woken. An answered attempt closes the
 *   circuit and wakes the others; a failed one opens it again (O4).
 *
 * An attempt that was only throttled is no failure. If no call has been taken for as long as a pause lasts, the circuit
 * opens (O5).
 */

import type { CircuitPolicy } from '../../domain/config/policies.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import { type OperationState, type Pause, pauseNow } from '../../domain/operations/slots.ts';
import { SECOND } from '../../domain/timings.ts';
import type { BatchDeps } from '../deps.ts';
import { wakeForFreeSlot } from '../slots/wake.ts';
import type { Failure } from './tally.ts';

/**
 * Counts an attempt that came to nothing as a whole. Where the configuration is at fault the circuit opens at once.
 *
 * @param before the operation's row as it was before the attempt.
 * @returns the pause that the operation is under then, if it is.
 */
export const countFailure = async (
  deps: BatchDeps,
  operation: OperationName,
  { failures: most, coolDown }: CircuitPolicy,
  { reason, is }: Failure,
  before: OperationState,
): Promise<Pause | undefined> => {
  const { operations, machine, queues, report } = deps;
  if (is === 'throttled' && !(await takesNone(deps, operation, coolDown, before))) return undefined;
  const failures = await operations.addFailure(operation, is === 'failed' ? 1 : most);
  const now = machine.now();
  const state = await operations.read(operation);
  if (failures < most || pauseNow(state, now)) return pauseNow(state, now);
  // Its resume was lost.
  if (state.paused) await operations.resume(operation, state.paused.id);
  const until = now + coolDown;
  const pause: Pause = { id: `circuit-${machine.token()}`, by: 'circuit', since: now, until, reason };
  // Before the pause: a message without a pause is harmless, a pause without a message is for ever.
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

/** Whether every call has been refused for so long; the first of them is noted. */
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
 * Counts an attempt that the downstream answered. The circuit also closes if it opened, and became half-open, after this attempt
 * began.
 *
 * @param before the operation's row as it was before the attempt.
 */
export const countSuccess = async (
  deps: BatchDeps,
  operation: OperationName,
  { failures: most }: CircuitPolicy,
  before: OperationState,
): Promise<void> => {
  if (before.failures === 0 && before.throttledSince === undefined) return;
  const { failures } = before.failures < most ? await deps.operations.read(operation) : before;
  await deps.operations.resetFailures(operation);
  if (failures < most) return;
  deps.report({ event: 'circuit-closed', operation });
  // One was let through to try; now the others.
  await wakeForFreeSlot(deps, operation);
};
