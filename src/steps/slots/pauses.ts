/** Pause and resume: of an operation, or of one Target of it. */

import type { ResumeMessage } from '../../domain/batches/messages.ts';
import type { OperationName, Target } from '../../domain/ids.ts';
import type { Pause } from '../../domain/operations/slots.ts';
import type { LeadDeps } from '../deps.ts';
import { wakeFew, wakeMany } from './wake.ts';

/** A pause that was asked for. */
export interface Paused {
  readonly pause: Pause;
  /** Whether a person had paused it before. */
  readonly again: boolean;
}

/** Nothing of an operation is sealed any more, and nobody is called about what is sealed; calls under way go on. */
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
 * With a name of its own also where there is one already: a resume of that one may be on its way, and would end this one too.
 * Whoever asks again says no more than that it goes on.
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
 * Asks for the end of an operation's pause, whoever began it: by a message, since waking all who wait may take a while.
 *
 * @returns whether it is paused.
 */
export const askResumeOperation = async (
  { operations, queues }: LeadDeps,
  operation: OperationName,
): Promise<boolean> => {
  const { paused } = await operations.read(operation);
  if (paused) await queues.resume({ kind: 'resume', operation, resume: paused.id }, 0);
  return paused !== undefined;
};

/** @returns whether it is paused. */
export const askResumeTarget = async ({ locks, queues }: LeadDeps, target: Target): Promise<boolean> => {
  const { paused } = await locks.read(target);
  if (paused) await queues.elect([{ kind: 'elect', target, resume: paused.id }]);
  return paused !== undefined;
};

/**
 * Ends the pause of that id, and wakes as many Targets as there is room for. After a circuit one: whether the downstream is there
 * again is for one batch to find out, which wakes the others.
 */
export const resumeOperation = async (deps: LeadDeps, message: ResumeMessage): Promise<void> => {
  const { operation, resume, waking } = message;
  // Stays removed if this message comes again: it may have been cut short amid the waking.
  if (!waking) await deps.operations.resume(operation, resume);
  if (waking || !(await wakeFew(deps, operation))) await wakeMany(deps, message);
};
