/** Bugs that only schedules of other sizes show: they cost too much, or hold others up, where there is much. */

import { mustStay } from '../../src/domain/batches/lock.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { RegisterMessage } from '../../src/domain/register/register-message.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Operations } from '../../src/ports/operations.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import type { Size } from '../batches/kind.ts';
import type { Bug } from './bug.ts';

const DAY: Millis = 24 * 60 * 60_000;

/** Whoever frees a slot reads all that wait for one, to wake the oldest. */
const allThatWaitAreRead: Bug = {
  handleBatch: (deps, message, delivery) => {
    const waiting: Operations['waiting'] = async (operation, limit) =>
      (await deps.operations.waiting(operation, 1_000)).slice(0, limit);
    return handleBatch({ ...deps, operations: { ...deps.operations, waiting } }, message, delivery);
  },
};

/** The patrol lets the locks go of Targets that a pause keeps waiting for months. */
const locksAreNotKept: Bug = {
  sweep: (deps, invocation) => sweep({ ...deps, locks: { ...deps.locks, keep: async () => true } }, invocation),
};

/** The patrol keeps only locks that show themselves that they must stay, and not those of a paused operation. */
const locksOfPausedOperationsAreNotKept: Bug = {
  sweep: (deps, invocation) => {
    const readEventually: Locks['readEventually'] = async (target) => {
      const { expiresAt: _, ...seen } = await deps.locks.readEventually(target);
      return mustStay(seen.lock) ? deps.locks.readEventually(target) : seen;
    };
    return sweep({ ...deps, locks: { ...deps.locks, readEventually } }, invocation);
  },
};

/** A register function leaves the row of an idle Target as it is, though it expires soon. */
const locksOfIdleTargetsAreNotKept: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, locks: { ...deps.locks, keep: async () => true } }, messages, onFailure),
};

/** A function that lives on registers once more what it received days ago. */
const whatWasReceivedIsRegisteredAgain = (): Bug => {
  let received: { message: RegisterMessage; at: Millis }[] = [];
  return {
    registerAll: (deps, messages, onFailure) => {
      const now = deps.machine.now();
      // The next schedule begins where the one before it began.
      received = received.filter(({ at }) => at <= now);
      const old = received.filter(({ at }) => at < now - 2 * DAY).map(({ message }) => ({ ...message, messageId: '' }));
      received.push(...messages.map((message) => ({ message, at: now })));
      const known = new Set(messages.map(({ messageId }) => messageId));
      const all = [...messages, ...(old as unknown as typeof messages)];
      return registerAll(deps, all, onFailure).then((again) => again.filter(({ messageId }) => known.has(messageId)));
    },
  };
};

/** A bug, the promise that it breaks, the size of the schedules that show it, and which of them. */
type SizeBug = readonly [
  name: string,
  size: Size,
  bug: Bug,
  promise: RegExp,
  /** The seed to begin with. @default 1 */
  first?: number,
];

export const SIZE_BUGS: readonly SizeBug[] = [
  [
    'freed slots for which all that wait are read',
    'large',
    allThatWaitAreRead,
    /number of rows of a request is bounded/,
  ],
  ['locks that expire while their Target waits', 'long', locksAreNotKept, /is not deleted by its time to live/],
  [
    'locks that expire while their operation is paused',
    'long',
    locksOfPausedOperationsAreNotKept,
    /every registered task ends/,
    1128,
  ],
  [
    'locks that expire while an elect message is lost',
    'long',
    locksOfIdleTargetsAreNotKept,
    /every registered task ends/,
    1_002_001_201,
  ],
  [
    'tasks that begin once more though no message came again',
    'long',
    whatWasReceivedIsRegisteredAgain(),
    /every task was sent/,
  ],
];
