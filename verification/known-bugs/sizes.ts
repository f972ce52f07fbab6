/**
 * Bugs that show only in large or long schedules: steps cost too much or delay other work when there are many Targets,
 * or rows are not kept for months.
 */

import { mustStay } from '../../src/domain/batches/lock.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';
import type { RegisterMessage } from '../../src/domain/register/register-message.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Operations } from '../../src/ports/operations.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import type { Size } from '../batches/kind.ts';
import type { Bug } from './bug.ts';

const DAY: Millis = 24 * 60 * 60_000;

/** When a slot becomes free, the whole slot queue is read to wake its first Target. */
const wholeSlotQueueRead: Bug = {
  handleBatch: (deps, message, delivery) => {
    const waiting: Operations['waiting'] = async (operation, limit) =>
      (await deps.operations.waiting(operation, 1_000)).slice(0, limit);
    return handleBatch({ ...deps, operations: { ...deps.operations, waiting } }, message, delivery);
  },
};

/** The patrol lets the lock of a Target expire, although the Target waits for months because of a pause. */
const lockOfWaitingTargetNotKept: Bug = {
  sweep: (deps, invocation) => sweep({ ...deps, locks: { ...deps.locks, keep: async () => true } }, invocation),
};

/** The patrol keeps a lock only if the lock's own row demands it, and not if its operation is paused. */
const lockOfPausedOperationNotKept: Bug = {
  sweep: (deps, invocation) => {
    const readEventually: Locks['readEventually'] = async (target) => {
      const { expiresAt: _, ...seen } = await deps.locks.readEventually(target);
      return mustStay(seen.lock) ? deps.locks.readEventually(target) : seen;
    };
    return sweep({ ...deps, locks: { ...deps.locks, readEventually } }, invocation);
  },
};

/** The register function does not prolong the row of an idle Target, although the row expires soon. */
const lockOfIdleTargetNotKept: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, locks: { ...deps.locks, keep: async () => true } }, messages, onFailure),
};

/** A warm function registers again a message that it received days ago. */
const receivedMessagesRegisteredAgain = (): Bug => {
  let received: { message: RegisterMessage; at: Millis }[] = [];
  return {
    registerAll: (deps, messages, onFailure) => {
      const now = deps.machine.now();
      // Messages of later times are from an earlier schedule: each schedule begins at the same virtual time.
      received = received.filter(({ at }) => at <= now);
      const old = received.filter(({ at }) => at < now - 2 * DAY).map(({ message }) => ({ ...message, messageId: '' }));
      received.push(...messages.map((message) => ({ message, at: now })));
      const known = new Set(messages.map(({ messageId }) => messageId));
      const all = [...messages, ...(old as unknown as typeof messages)];
      return registerAll(deps, all, onFailure).then((again) => again.filter(({ messageId }) => known.has(messageId)));
    },
  };
};

/** The register function reads every task that it has ever registered. */
const everyTaskRead = (): Bug => {
  const known = new Set<TaskId>();
  return {
    registerAll: (deps, messages, onFailure) => {
      const insert: Tasks['insert'] = async (tasks) => {
        for (const { id } of tasks) known.add(id);
        await Promise.all([...known].map((id) => deps.tasks.get(id)));
        return deps.tasks.insert(tasks);
      };
      return registerAll({ ...deps, tasks: { ...deps.tasks, insert } }, messages, onFailure);
    },
  };
};

/** A bug, the size of the schedules that show it, and the promise that it breaks. */
type SizeBug = readonly [
  name: string,
  size: Size,
  bug: Bug,
  promise: RegExp,
  /** The first seed of the schedules. @default 1 */
  first?: number,
];

export const SIZE_BUGS: readonly SizeBug[] = [
  ['freed slot reads the whole slot queue', 'large', wholeSlotQueueRead, /number of rows of a request is bounded/],
  ['registration reads every task', 'large', everyTaskRead(), /number of requests of a step is bounded/],
  ['lock expires while its Target waits', 'long', lockOfWaitingTargetNotKept, /is not deleted by its time to live/],
  [
    'lock expires while its operation is paused',
    'long',
    lockOfPausedOperationNotKept,
    /every registered task ends/,
    1128,
  ],
  [
    'lock expires while an elect message is lost',
    'long',
    lockOfIdleTargetNotKept,
    /every registered task ends/,
    1_002_001_201,
  ],
  ['task registered again without a message', 'long', receivedMessagesRegisteredAgain(), /every task was sent/],
];
