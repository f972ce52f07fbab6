/** Pauses and resumes an operation or a single Target (O1, O2). */

import type { ResumeMessage } from '../../domain/batches/messages.ts';
import type { OperationName, Target } from '../../domain/ids.ts';
import type { Pause } from '../../domain/operations/slots.ts';
import type { LeadDeps } from '../deps.ts';
import { wakeFew, wakeInSteps, wakeMany } from './wake.ts';

/** The result of a request to pause. */
export interface Paused {
  readonly pause: Pause;
  /** Whether the operation or Target was already paused by a user. */
  readonly again: boolean;
}

/** O1. Pauses an operation: no batch of it is sealed and no attempt begins. Calls under way continue. */
export const pauseOperation = async (
  { operations, machine }: LeadDeps,
  operation: OperationName,
  reason?: string,
): Promise<Paused> => {
  const { paused: before } = await operations.read(operation);
  const asked = personsPause(machine, before, reason);
  await operations.pause(operation, asked.pause);
  return asked;
};

export const pauseTarget = async ({ locks, machine }: LeadDeps, target: Target, reason?: string): Promise<Paused> => {
  const { paused: before } = await locks.read(target);
  const asked = personsPause(machine, before, reason);
  await locks.pause(target, asked.pause);
  return asked;
};

/**
 * O2. A repeated pause gets a new id. Otherwise a resume message for the earlier pause that is still under way would
 * end the new pause too. The new pause keeps the start of the earlier pause, and also its reason unless a new reason is
 * given.
 */
const personsPause = (machine: LeadDeps['machine'], before: Pause | undefined, reason?: string): Paused => {
  const mine = before?.by === 'person' ? before : undefined;
  const why = reason ?? mine?.reason;
  return {
    pause: {
      id: machine.token(),
      by: 'person',
      since: mine?.since ?? machine.now(),
      ...(why === undefined ? {} : { reason: why }),
    },
    again: mine !== undefined,
  };
};

/**
 * Requests the end of an operation's pause, whether a user or the circuit paused it. This function only sends a
 * message, because waking all waiting Targets may take a while.
 *
 * @returns whether the operation is paused.
 */
export const askResumeOperation = async (
  { operations, queues }: LeadDeps,
  operation: OperationName,
): Promise<boolean> => {
  const { paused } = await operations.read(operation);
  if (paused) await queues.resume({ kind: 'resume', operation, resume: paused.id }, 0);
  return paused !== undefined;
};

/** @returns whether the Target is paused. */
export const askResumeTarget = async ({ locks, queues }: LeadDeps, target: Target): Promise<boolean> => {
  const { paused } = await locks.read(target);
  if (paused) await queues.elect([{ kind: 'elect', target, resume: paused.id }]);
  return paused !== undefined;
};

/**
 * O2, O4. Ends the pause with that id, and wakes as many Targets as slots are free. After a circuit's pause it wakes
 * only one Target. The batch of that Target tests the downstream, and the other Targets are woken if the test succeeds.
 * If a call that began before the pause has closed the circuit, they are woken in steps at once.
 */
export const resumeOperation = async (deps: LeadDeps, message: ResumeMessage): Promise<void> => {
  const { operation, resume, waking, step } = message;
  if (step) return wakeInSteps(deps, operation, step);
  // Wake Targets even if the pause is removed already: the function that received an earlier delivery of this message
  // may have died before it woke all Targets.
  if (!waking) await deps.operations.resume(operation, resume, deps.machine.now());
  if (waking || !(await wakeFew(deps, operation, resume))) await wakeMany(deps, message);
};
