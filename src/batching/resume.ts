/** Pause and resume: of an operation, or of one Target of it. */
import { operationFor } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import type { OperationName, Target } from './ids.ts';
import type { ResumeMessage } from './messages.ts';
import { hasRoom } from './slots.ts';
import { wake, wakeMany } from './wake.ts';

type PauseDeps = Pick<Deps, 'config' | 'locks' | 'operations' | 'queues' | 'machine'>;

/** Who wakes many at once wakes no more; the sweep goes on a minute later. */
const WAKES_AT_ONCE = 1_000;

/** Nothing of an operation is sealed any more, and nobody is called about what is sealed; calls under way go on. */
export const pauseOperation = ({ operations, machine }: PauseDeps, operation: OperationName): Promise<boolean> =>
  operations.pause(operation, { id: machine.token(), by: 'person', since: machine.now() });

export const pauseTarget = ({ locks, machine }: PauseDeps, target: Target): Promise<boolean> => {
  const now = machine.now();
  return locks.pause(target, { id: machine.token(), by: 'person', since: now }, now);
};

/**
 * Asks for the end of an operation's pause, whoever began it: by a message, since waking all who wait may take a while.
 *
 * @returns whether it is paused.
 */
export const askResumeOperation = async (
  { operations, queues }: PauseDeps,
  operation: OperationName,
): Promise<boolean> => {
  const { paused } = await operations.read(operation);
  if (paused) await queues.resume({ operation, resume: paused.id }, 0);
  return paused !== undefined;
};

/** @returns whether it is paused. */
export const askResumeTarget = async ({ locks, queues }: PauseDeps, target: Target): Promise<boolean> => {
  const { paused } = await locks.read(target);
  if (paused) await queues.elect([{ target, resume: paused.id }]);
  return paused !== undefined;
};

/**
 * Ends the pause of that id, and wakes as many Targets as there is room for. After a circuit one: whether the downstream is there
 * again is for one batch to find out, which wakes the others.
 */
export const resumeOperation = async (
  deps: PauseDeps,
  { operation, resume }: Pick<ResumeMessage, 'operation' | 'resume'>,
): Promise<void> => {
  // Stays removed if this message comes again: it may have been cut short amid the waking.
  await deps.operations.resume(operation, resume);
  await wakeForRoom(deps, operation);
};

/** Wakes as many as there is room for. */
export const wakeForRoom = async (deps: PauseDeps, operation: OperationName): Promise<void> => {
  const { concurrency, circuit } = operationFor(deps.config, operation);
  const state = await deps.operations.read(operation);
  if (!hasRoom(state, concurrency)) return;
  if (circuit && state.failures >= circuit.failures) await wake(deps, operation);
  else
    await wakeMany(
      deps,
      operation,
      Math.min(
        WAKES_AT_ONCE,
        (concurrency.total ?? WAKES_AT_ONCE) - (concurrency.total === null ? 0 : state.inFlight.length),
      ),
    );
};
