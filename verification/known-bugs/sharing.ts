/** Bugs in sharing the slots of an operation, and in settling waiting tasks. */
import { isFinished } from '../../src/domain/batches/batch.ts';
import type { Waiting } from '../../src/domain/batches/policy.ts';
import { operationOf } from '../../src/domain/ids.ts';
import { type Slot, slotOf, slotOfBatch, turnOf } from '../../src/domain/operations/slots.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Operations } from '../../src/ports/operations.ts';
import type { WaitingTasks } from '../../src/ports/waiting.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { TOGETHER, wakeThese } from '../../src/steps/slots/wake.ts';
import type { Bug, KnownBug } from './bug.ts';
import { waitingAgain } from './load-scenarios.ts';
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

const withOperations = <Some extends Pick<Deps, 'operations'>>(deps: Some, changed: Partial<Operations>): Some => ({
  ...deps,
  operations: { ...deps.operations, ...changed },
});

/** A Target that gets a cap counts only batches that are opened after that. */
const newCapIgnoresBatches: Bug = {
  group: (deps, message, delivery) => {
    const read: Locks['read'] = async (target) => {
      const { uncountedAt: _, ...lock } = await deps.locks.read(target);
      return lock;
    };
    return group({ ...deps, locks: { ...deps.locks, read } }, message, delivery);
  },
};

/** The slot is taken after the batch is open. */
const slotTakenAfterOpen: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = async (target, mine, open) => {
      const opened = await deps.locks.openBatch(target, mine, open);
      const operation = operationOf(target);
      const { total } = deps.config.operations[operation]?.concurrency ?? {};
      if (opened && total) await deps.operations.takeSlot(operation, slotOf(target, mine.fence, open.round), total);
      return opened;
    };
    const late = withOperations(deps, { takeSlot: async () => true });
    return group({ ...late, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/** The slot is freed when the handler receives the batch. */
const slotFreedEarly: Bug = {
  handleBatch: async (deps, message, delivery) => {
    const batch = await deps.batches.get(message.batchId);
    if (batch && !isFinished(batch.status)) await deps.operations.freeSlot(batch.operation, slotOfBatch(batch));
    return handleBatch(deps, message, delivery);
  },
};

/** When a slot becomes free, no Target is woken. The sweep finds the waiting Targets later. */
const freedSlotSendsNoSignal: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch(withOperations(deps, { waiting: async () => [] }), message, delivery),
};

/** If a Target was woken for a free slot but needs it no longer, it does not wake the next waiting Target. */
const wakeNotPassedOn: Bug = {
  group: (deps, message, delivery) => group(withOperations(deps, { waiting: async () => [] }), message, delivery),
};

/**
 * W3 before W2: the row in the slot queue is deleted before the wake is sent. If the function dies in between, the
 * Target is never woken.
 */
const rowDeletedBeforeWake: Bug = {
  handleBatch: (deps, message, delivery) => {
    let dequeued: Slot | undefined;
    const elect: Deps['queues']['elect'] = async (messages) => {
      for (const { target, wake } of messages) {
        if (wake === undefined) continue;
        const operation = operationOf(target);
        const waiting = await deps.operations.waiting(operation, 99);
        const row = waiting.find((each) => each.target === target && each.fence === wake);
        if (row && (await deps.operations.dequeue(operation, row))) dequeued = slotOf(target, wake, 0);
      }
      return deps.queues.elect(messages);
    };
    const dequeue: Operations['dequeue'] = async (operation, waiting) =>
      dequeued === slotOf(waiting.target, waiting.fence, 0) || deps.operations.dequeue(operation, waiting);
    return handleBatch({ ...withOperations(deps, { dequeue }), queues: { ...deps.queues, elect } }, message, delivery);
  },
};

/**
 * W3: the row of a Target is deleted by its key some time after the wake, although the Target may wait again by then.
 */
const rowDeletedByKey: Bug = {
  handleBatch: (deps, message, delivery) => handleBatch(byKey(deps), message, delivery),
};

const byKey = <Some extends Pick<Deps, 'operations' | 'machine'>>(deps: Some): Some =>
  withOperations(deps, {
    dequeue: async (operation, waiting) => {
      await deps.machine.sleep(deps.machine.random() * 10_000);
      const row = (await deps.operations.waiting(operation, 999)).find((each) => turnOf(each) === turnOf(waiting));
      return row !== undefined && deps.operations.dequeue(operation, row);
    },
  });

/**
 * G9a: if a Target need not wait after all, its row is deleted before the Target leads, although the row may belong to
 * another delivery.
 */
const rowDeletedBeforeLead: Bug = {
  group: (deps, message, delivery) => {
    const { operations } = deps;
    let mine: Parameters<Operations['enqueue']>[1] | undefined;
    const enqueue: Operations['enqueue'] = (operation, waiting) => {
      mine = waiting;
      return operations.enqueue(operation, waiting);
    };
    const read: Operations['read'] = async (operation) => {
      const state = await operations.read(operation);
      const { total = null } = deps.config.operations[operation]?.concurrency ?? {};
      if (mine && !state.paused && (total === null || state.inFlight.length < total))
        await operations.dequeue(operation, mine);
      mine = undefined;
      return state;
    };
    return group(withOperations(deps, { enqueue, read }), message, delivery);
  },
};

/** A woken Target is elected like any other Target. It leads, finds no free slot, and waits at the end of the queue. */
const wakeIgnored: Bug = {
  electLeader: async (deps, message) =>
    message.kind === 'elect' && message.wake !== undefined
      ? electLeader(deps, { kind: 'elect', target: message.target })
      : electLeader(deps, message),
};

/** Gives the leader changed waiting rows. */
const withRows = (change: (rows: readonly Waiting[]) => readonly Waiting[]): Bug => ({
  group: (deps, message, delivery) => {
    const first: WaitingTasks['first'] = async (target, limit) => change(await deps.waiting.first(target, limit));
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
});

const expiryIgnored = withRows((rows) => rows.map(({ startBy: _, ...row }) => row));

const coalesceKeyIgnored = withRows((rows) => rows.map(({ key: _, ...row }) => row));

/**
 * A function that forms a batch in place of a dead leader also takes rows of tasks that must be settled, such as
 * expired tasks.
 */
const takeoverTakesUnsettledRows: Bug = {
  group: (deps, message, delivery) => {
    let forms = false;
    const get: Deps['batches']['get'] = async (id) => {
      const batch = await deps.batches.get(id);
      forms = batch === undefined;
      return batch;
    };
    const first: WaitingTasks['first'] = async (target, limit) => {
      const rows = await deps.waiting.first(target, limit);
      return forms ? rows.map(({ key: _, startBy: __, ...row }) => row) : rows;
    };
    const form: Deps['batches']['form'] = (batch) => {
      forms = false;
      return deps.batches.form(batch);
    };
    const changed = { batches: { ...deps.batches, get, form }, waiting: { ...deps.waiting, first } };
    return group({ ...deps, ...changed }, message, delivery);
  },
};

/** Tasks are batched in the order of their registration, regardless of priority. */
const priorityIgnored: Bug = {
  group: (deps, message, delivery) => {
    const first: WaitingTasks['first'] = async (target, limit) => {
      const rows = await deps.waiting.first(target, 1_000);
      return rows.toSorted((a, b) => a.at - b.at).slice(0, limit);
    };
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** Of two tasks with the same coalesceKey the older one is kept. */
const oldestOfKeyKept: Bug = {
  group: (deps, message, delivery) => {
    const settle: Deps['tasks']['settle'] = (settlements, end) =>
      deps.tasks.settle(
        settlements.map(({ task, as }) =>
          as.status === 'failed'
            ? { task, as }
            : { task: { ...task, id: as.supersededBy }, as: { ...as, supersededBy: task.id } },
        ),
        end,
      );
    return group({ ...deps, tasks: { ...deps.tasks, settle } }, message, delivery);
  },
};

/** Tasks that are settled by the leader send no callback. */
const settlementSendsNoCallback: Bug = {
  group: (deps, message, delivery) =>
    group({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, message, delivery),
};

/** The register function sends no callback for tasks that were settled earlier, e.g. when it redrives them. */
const registerSendsNoCallback: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, messages, onFailure),
};

/** No hint is sent for a task that expires while the leader sleeps. */
const noHintForExpiry: Bug = {
  registerAll: (deps, messages, onFailure) => registerAll(withoutLateHints(deps), messages, onFailure),
  electLeader: (deps, message) => electLeader(withoutLateHints(deps), message),
  group: (deps, message, delivery) => group(withoutLateHints(deps), message, delivery),
};

const withoutLateHints = <Some extends Pick<Deps, 'queues'>>(deps: Some): Some => ({
  ...deps,
  queues: {
    ...deps.queues,
    group: async (message, delay) => (message.hint && delay > 0 ? undefined : deps.queues.group(message, delay)),
  },
});

/**
 * Only the register function sends hints for expiries. If a task was registered while the lock changed hands, no hint
 * is sent for its expiry.
 */
const noHintForExpiryAtHandOver: Bug = {
  electLeader: (deps, message) => electLeader(withoutLateHints(deps), message),
  group: (deps, message, delivery) => group(withoutLateHints(deps), message, delivery),
};

/** One request settles two runs of the same task. DynamoDB refuses such a request each time that the Target is led. */
const settlementsContainTaskTwice: Bug = {
  group: (deps, message, delivery) => {
    const settle: typeof deps.tasks.settle = async (settlements, end) => {
      const ids = new Set(settlements.map(({ task }) => task.id));
      if (ids.size < settlements.length) throw new TypeError('Provided list of item keys contains duplicates');
      return deps.tasks.settle(settlements, end);
    };
    return group({ ...deps, tasks: { ...deps.tasks, settle } }, message, delivery);
  },
};

/** A resume wakes a limited number of Targets, and each sweep wakes some more. */
const resumeWakesSomeTargets: Bug = {
  electLeader: async (deps, message) => {
    if (message.kind !== 'resume') return electLeader(deps, message);
    await deps.operations.resume(message.operation, message.resume, deps.machine.now());
    await wakeThese(deps, message.operation, await deps.operations.waiting(message.operation, TOGETHER));
  },
};

export const SHARING_BUGS: readonly KnownBug[] = [
  ['new cap ignores batches in flight', newCapIgnoresBatches, /at most perTarget batches/, scenarios.capAddedLate],
  ['slot taken after the batch is opened', slotTakenAfterOpen, /opened only with a slot|at most total/],
  ['slot freed before the batch is over', slotFreedEarly, /freed only after its batch is over/],
  ['freed slot sends no signal', freedSlotSendsNoSignal, /waits although a slot is free/, scenarios.withoutFaults],
  ['unused wake not passed on', wakeNotPassedOn, /waits although a slot is free/, moments.expiredWhileWaiting],
  [
    'resume wakes some Targets each minute',
    resumeWakesSomeTargets,
    /waits although a slot is free/,
    scenarios.manyTargetsBlocked,
  ],
  ['wake handled as a plain elect message', wakeIgnored, /every registered task ends/],
  ['queue row deleted before the wake is sent', rowDeletedBeforeWake, /every registered task ends/, scenarios.capped],
  ['queue row deleted although its Target waits again', rowDeletedByKey, /every registered task ends/, waitingAgain],
  [
    'queue row deleted before its Target leads',
    rowDeletedBeforeLead,
    /every registered task ends/,
    moments.guardsRedelivered,
  ],
  ['expired task put into a batch', expiryIgnored, /expired task is put into a batch|soon after its deadline/],
  ['no hint for an expiry', noHintForExpiry, /ends soon after its deadline/, scenarios.manyExpiries],
  [
    'no hint for an expiry while the lock changes hands',
    noHintForExpiryAtHandOver,
    /ends soon after its deadline/,
    scenarios.manyExpiries,
  ],
  ['coalesceKey ignored', coalesceKeyIgnored, /two tasks with the same coalesceKey/],
  [
    'takeover forms a batch with unsettled rows',
    takeoverTakesUnsettledRows,
    /two tasks with the same coalesceKey/,
    scenarios.oneKey,
  ],
  ['oldest task of a coalesceKey kept', oldestOfKeyKept, /only by a newer task|its task is claimed/],
  ['priority ignored', priorityIgnored, /in order of priority and age/, scenarios.withoutFaults],
  [
    'two runs of a task settled in one request',
    settlementsContainTaskTwice,
    /fails only because of an injected fault.*duplicates/,
    scenarios.rowsOutliveTheirTasks,
  ],
  ['settled task sends no callback', settlementSendsNoCallback, /a settled task's callback is sent/],
  [
    'redrive sends no callback for a settled task',
    registerSendsNoCallback,
    /a settled task's callback is sent/,
    moments.expiredAndRedriven,
  ],
];
