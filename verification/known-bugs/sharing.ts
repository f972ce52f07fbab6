/** Bugs of those who share room in an operation, and of those who end tasks that wait. */
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
import * as where from './where.ts';
import { backInLine } from './where-many.ts';
import * as narrow from './where-narrow.ts';

const withOperations = <Some extends Pick<Deps, 'operations'>>(deps: Some, changed: Partial<Operations>): Some => ({
  ...deps,
  operations: { ...deps.operations, ...changed },
});

/** A Target that gets a cap counts only batches that are opened from then on. */
const newCapsCountNothing: Bug = {
  group: (deps, message, delivery) => {
    const read: Locks['read'] = async (target) => {
      const { uncountedAt: _, ...lock } = await deps.locks.read(target);
      return lock;
    };
    return group({ ...deps, locks: { ...deps.locks, read } }, message, delivery);
  },
};

/** The slot is taken once the batch is open. */
const slotsAreTakenLate: Bug = {
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

/** The slot is given back when the batch is taken in hand. */
const slotsAreFreedEarly: Bug = {
  handleBatch: async (deps, message, delivery) => {
    const batch = await deps.batches.get(message.batchId);
    if (batch && !isFinished(batch.status)) await deps.operations.freeSlot(batch.operation, slotOfBatch(batch));
    return handleBatch(deps, message, delivery);
  },
};

/** Whoever frees a slot leaves it to the sweep to find those who wait for one. */
const nobodyIsWaked: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch(withOperations(deps, { waiting: async () => [] }), message, delivery),
};

/** Who was waked for room and has nothing for it keeps that to himself. */
const roomIsNotPassedOn: Bug = {
  group: (deps, message, delivery) => group(withOperations(deps, { waiting: async () => [] }), message, delivery),
};

/** W3 before W2: whoever dies in between has taken the row of one whom he did not wake. */
const rowsGoBeforeTheirWake: Bug = {
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

/** W3: the row of a Target is removed, a while after it was woken, though the Target came back into the line since. */
const rowsGoByTheirKey: Bug = {
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

/** G9a: the row of a Target that need not wait after all goes before it leads, though it may be another's, too. */
const rowsGoBeforeTheLead: Bug = {
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

/** A Target that waits for room is elected like any other: it leads, finds no room, and waits from anew. */
const wakesAreOverlooked: Bug = {
  electLeader: async (deps, message) =>
    message.kind === 'elect' && message.wake !== undefined
      ? electLeader(deps, { kind: 'elect', target: message.target })
      : electLeader(deps, message),
};

/** The leader sees other rows than there are. */
const withRows = (change: (rows: readonly Waiting[]) => readonly Waiting[]): Bug => ({
  group: (deps, message, delivery) => {
    const first: WaitingTasks['first'] = async (target, limit) => change(await deps.waiting.first(target, limit));
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
});

const expiriesAreOverlooked = withRows((rows) => rows.map(({ startBy: _, ...row }) => row));

const keysAreOverlooked = withRows((rows) => rows.map(({ key: _, ...row }) => row));

/** Whoever forms a batch for another takes whatever waits, what has expired too. */
const formersTakeEverything: Bug = {
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

/** First come, first served, however urgent. */
const prioritiesAreOverlooked: Bug = {
  group: (deps, message, delivery) => {
    const first: WaitingTasks['first'] = async (target, limit) => {
      const rows = await deps.waiting.first(target, 1_000);
      return rows.toSorted((a, b) => a.at - b.at).slice(0, limit);
    };
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** Of two tasks of one key the older one is done. */
const theOldestOfAKeyIsDone: Bug = {
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

/** Tasks that end while they wait end in silence. */
const settlementsAreUntold: Bug = {
  group: (deps, message, delivery) =>
    group({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, message, delivery),
};

/** Whoever comes upon a task that ended while it waited, be it to redrive it, believes that it was told. */
const registersTellNobody: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, messages, onFailure),
};

/** Nobody is woken for a task that expires. */
const expiriesWakeNobody: Bug = {
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

/** The same, but for registers: what came while the lock changed hands is overlooked. */
const nobodyLooksForExpiries: Bug = {
  electLeader: (deps, message) => electLeader(withoutLateHints(deps), message),
  group: (deps, message, delivery) => group(withoutLateHints(deps), message, delivery),
};

/** One request settles two runs of a task, which DynamoDB refuses: now, and whenever the Target is led again. */
const settlementsNameATaskTwice: Bug = {
  group: (deps, message, delivery) => {
    const settle: typeof deps.tasks.settle = async (settlements, end) => {
      const ids = new Set(settlements.map(({ task }) => task.id));
      if (ids.size < settlements.length) throw new TypeError('Provided list of item keys contains duplicates');
      return deps.tasks.settle(settlements, end);
    };
    return group({ ...deps, tasks: { ...deps.tasks, settle } }, message, delivery);
  },
};

/** After a pause some are woken, and some more by each sweep: as it was, with a thousand of them. */
const someAreWokenEachMinute: Bug = {
  electLeader: async (deps, message) => {
    if (message.kind === 'elect') return electLeader(deps, message);
    await deps.operations.resume(message.operation, message.resume);
    await wakeThese(deps, message.operation, await deps.operations.waiting(message.operation, TOGETHER));
  },
};

export const SHARING_BUGS: readonly KnownBug[] = [
  [
    'batches that are not counted when a cap comes',
    newCapsCountNothing,
    /at most perTarget batches/,
    where.capsComeLate,
  ],
  ['slots that are taken late', slotsAreTakenLate, /opened only with a slot|at most total/],
  ['slots that are freed early', slotsAreFreedEarly, /freed only after its batch is over/],
  ['slots that are freed in silence', nobodyIsWaked, /waits although a slot is free/, where.nothingGoesWrong],
  ['room that is not passed on', roomIsNotPassedOn, /waits although a slot is free/, narrow.expiredInLine],
  [
    'pauses after which some are woken each minute',
    someAreWokenEachMinute,
    /waits although a slot is free/,
    where.manyAreBlocked,
  ],
  ['wakes that count as any message', wakesAreOverlooked, /every registered task ends/],
  ['rows that go before their wake', rowsGoBeforeTheirWake, /every registered task ends/, where.capped],
  ['rows that go though their Target is back', rowsGoByTheirKey, /every registered task ends/, backInLine],
  ['rows that go before the lead', rowsGoBeforeTheLead, /every registered task ends/, narrow.guardsComeAgain],
  [
    'tasks that are batched though they expired',
    expiriesAreOverlooked,
    /expired task is put into a batch|soon after its deadline/,
  ],
  ['tasks that expire unseen', expiriesWakeNobody, /ends soon after its deadline/, where.muchExpires],
  [
    'tasks that expire unseen as the lock changes hands',
    nobodyLooksForExpiries,
    /ends soon after its deadline/,
    where.muchExpires,
  ],
  ['keys that are overlooked', keysAreOverlooked, /two tasks with the same coalesceKey/],
  [
    'batches that are formed of whatever waits',
    formersTakeEverything,
    /two tasks with the same coalesceKey/,
    where.oneKey,
  ],
  ['the oldest of a key that is done', theOldestOfAKeyIsDone, /only by a newer task|its task is claimed/],
  ['priorities that are overlooked', prioritiesAreOverlooked, /in order of priority and age/, where.nothingGoesWrong],
  [
    'two runs of a task that end in one request',
    settlementsNameATaskTwice,
    /fails only because of an injected fault.*duplicates/,
    where.rowsOutliveTheirTasks,
  ],
  ['tasks that end in silence', settlementsAreUntold, /a settled task's callback is sent/],
  ['redrives that tell nobody', registersTellNobody, /a settled task's callback is sent/, narrow.expiredAndRedriven],
];
