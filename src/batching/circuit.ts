/**
 * An operation's circuit: while its downstream is down, or wrongly configured, its batches wait instead of burning their
 * attempts.
 *
 * *closed* (failures in a row are counted) → *open* (the operation is paused, with a message on its way that ends the
 * pause) → *half-open* (the pause is over, the count stands: one more failure opens it again, one success closes it).
 */
import type { CircuitPolicy } from '../config/resolved.ts';
import type { Reason } from '../downstream/downstream.ts';
import type { Deps } from './deps.ts';
import type { Millis, OperationName } from './ids.ts';
import { wakeForRoom } from './resume.ts';
import type { OperationState, Pause } from './slots.ts';
import { SECOND } from './timings.ts';

type CircuitDeps = Pick<Deps, 'config' | 'locks' | 'operations' | 'queues' | 'machine' | 'report'>;

/** The pause that holds up calls now: one whose time is over does not, whoever forgot to end it. */
export const pauseNow = ({ paused }: { readonly paused?: Pause }, now: Millis): Pause | undefined =>
  paused && (paused.until === undefined || paused.until > now) ? paused : undefined;

/**
 * Counts an attempt that came to nothing as a whole.
 *
 * @param isMisconfigured the fault is the configuration's: the circuit opens at once.
 * @returns the pause that the operation is under then, if it is.
 */
export const countFailure = async (
  deps: CircuitDeps,
  operation: OperationName,
  { failures: most, coolDown }: CircuitPolicy,
  { reason }: Reason,
  isMisconfigured: boolean,
): Promise<Pause | undefined> => {
  const { operations, machine, queues, report } = deps;
  const failures = await operations.addFailure(operation, isMisconfigured ? most : 1);
  const now = machine.now();
  const state = await operations.read(operation);
  if (failures < most || pauseNow(state, now)) return pauseNow(state, now);
  // Its resume was lost.
  if (state.paused) await operations.resume(operation, state.paused.id);
  const until = now + coolDown;
  const pause: Pause = { id: `circuit-${machine.token()}`, by: 'circuit', since: now, until, reason };
  // Before the pause: a message without a pause is harmless, a pause without a message is for ever.
  await queues.resume({ operation, resume: pause.id }, Math.ceil(coolDown / SECOND));
  if (!(await operations.pause(operation, pause))) return pauseNow(await operations.read(operation), now);
  report({
    event: 'circuit-opened',
    operation,
    reason,
    until,
    failures,
    ...(isMisconfigured ? ({ isMisconfigured: true } as const) : {}),
  });
  return pause;
};

/** Counts an attempt that the downstream answered. @param before the operation's row as it was before that. */
export const countSuccess = async (
  deps: CircuitDeps,
  operation: OperationName,
  { failures: most }: CircuitPolicy,
  before: OperationState,
): Promise<void> => {
  if (before.failures === 0) return;
  await deps.operations.resetFailures(operation);
  if (before.failures < most) return;
  deps.report({ event: 'circuit-closed', operation });
  // One was let through to try; now the others.
  await wakeForRoom(deps, operation);
};
