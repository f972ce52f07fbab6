/** Bugs of takeovers and repairs: a function dies, and the message, the sweep or the patrol that should go on does not. */

import { guardStatusOf } from '../../src/domain/batches/lock.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { merging } from '../batches/merged.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as where from './where.ts';
import * as narrow from './where-narrow.ts';

/** Guards are delayed by a minute more than the wait until the batch is due. */
const guardsComeLate: Bug = {
  electLeader: (deps, message) => electLeader(withLateGuards(deps), message),
  group: (deps, message, delivery) => group(withLateGuards(deps), message, delivery),
};

const withLateGuards = <Some extends Pick<Deps, 'queues'>>(deps: Some): Some => ({
  ...deps,
  queues: {
    ...deps.queues,
    group: (guard, delay) => deps.queues.group(guard, delay > 0 && !guard.hint ? Math.min(900, delay + 60) : delay),
  },
});

/** A Target that was woken for a free slot, and whose tasks were all cancelled, does not wake the next one. */
const emptyTargetsKeepTheirWake: Bug = {
  electLeader: async (deps, message) => {
    const isWoken = message.kind === 'elect' && message.wake !== undefined;
    if (isWoken && (await deps.waiting.first(message.target, 1)).length === 0) return;
    await electLeader(deps, message);
  },
};

/** A group message ends where it finds what `is` names, unless it is a hint. */
const guardsEndAt = (is: ReturnType<typeof guardStatusOf>['is']): Bug => ({
  group: async (deps, message, delivery) => {
    const standing = guardStatusOf(await deps.locks.read(message.target), message, deps.machine.now());
    if (standing.is === is && !message.hint) return;
    await group(deps, message, delivery);
  },
});

const openBatchesAreLeft = guardsEndAt('leader-with-open-batch');
const guardsNeverTakeOver = guardsEndAt('next');

/** A guard whose fence is over is sent again, twice each time. */
const oldGuardsMultiply: Bug = {
  group: async (deps, message, delivery) => {
    const standing = guardStatusOf(await deps.locks.read(message.target), message, deps.machine.now());
    const { early = 0 } = message;
    if (standing.is !== 'superseded' || message.hint || early > 3) return group(deps, message, delivery);
    for (let copy = 0; copy < 2; copy += 1) await deps.queues.group({ ...message, early: early + 1 }, 20);
  },
};

/** A batch is sealed with all of its candidates, also those that it could not claim. */
const candidatesAreAllMembers: Bug = {
  group: (deps, message, delivery) => {
    const seal: typeof deps.batches.seal = (batch, _, at, keep) => deps.batches.seal(batch, [], at, keep);
    return group({ ...deps, batches: { ...deps.batches, seal } }, message, delivery);
  },
};

/** With the rows of a batch's candidates goes the first row that is left. */
const nextRowGoesToo: Bug = {
  group: (deps, message, delivery) => {
    const remove: typeof deps.waiting.remove = async (target, entries) => {
      await deps.waiting.remove(target, entries);
      const [next] = await deps.waiting.first(target, 1);
      if (next) await deps.waiting.remove(target, [next.entry]);
    };
    return group({ ...deps, waiting: { ...deps.waiting, remove } }, message, delivery);
  },
};

/** The sweep frees no slot. */
const slotsOfTheDeadStay: Bug = {
  sweep: (deps, invocation) =>
    sweep({ ...deps, operations: { ...deps.operations, freeSlot: async () => undefined } }, invocation),
};

/** The sweep deletes a dead letter, and then sends it again. */
const deadLettersAreDeletedFirst: Bug = {
  sweep: (deps, invocation) => {
    const { deadLetters } = deps;
    const redrive: typeof deadLetters.redrive = async (queue, letter, delay) => {
      await deadLetters.remove(queue, letter);
      return deadLetters.redrive(queue, letter, delay);
    };
    return sweep({ ...deps, deadLetters: { ...deadLetters, redrive, remove: async () => {} } }, invocation);
  },
};

/** The batch handler does not look whether the operation or the Target is paused. */
const callsOverlookPauses: Bug = {
  handleBatch: (deps, message, delivery) => {
    const { locks, operations } = deps;
    const withoutPause = <Row extends { readonly paused?: unknown }>({ paused: _, ...row }: Row) => row as Row;
    const changed = {
      locks: { ...locks, read: async (target: never) => withoutPause(await locks.read(target)) },
      operations: { ...operations, read: async (name: never) => withoutPause(await operations.read(name)) },
    };
    return handleBatch({ ...deps, ...changed }, message, delivery);
  },
};

/** A circuit opens, and no message ends its pause: the sweep finds it minutes later. */
const circuitsAreNotResumed: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, queues: { ...deps.queues, resume: async () => {} } }, message, delivery),
};

/** The first answer after an outage closes the circuit, and wakes none of the Targets that still wait. */
const closedCircuitsDoNotWake: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, operations: { ...deps.operations, waiting: async () => [] } }, message, delivery),
};

/** A task is cancelled while it is being registered: its payload is not stored yet. */
const cancelsComeTooEarly: Bug = {
  cancel: (deps, id) => cancel({ ...deps, waiting: { ...deps.waiting, has: async () => true } }, id),
};

/** A merged job gets inputs that an earlier job has done. */
const doneInputsAreForgotten: Bug = { processed: (keys) => ({ ...keys, known: async () => new Map() }) };

export const REPAIRING_BUGS: readonly KnownBug[] = [
  ['guards that come late', guardsComeLate, /longer than maxWait/, narrow.fewTasks],
  [
    'woken Targets without tasks that do not pass the wake on',
    emptyTargetsKeepTheirWake,
    /waits for room that is there|in flight in the end/,
    narrow.cancelledInLine,
  ],
  [
    'open batches that are left unfinished',
    openBatchesAreLeft,
    /every registered task ends|deleted only after its fence/,
  ],
  ['guards that never take over', guardsNeverTakeOver, /every registered task ends|a held fence has a guard/],
  [
    'guards of a fence that is over and multiply',
    oldGuardsMultiply,
    /a guard is in flight once/,
    narrow.severalElected,
  ],
  ['batches with candidates that they could not claim', candidatesAreAllMembers, /its own|asked for|counts are what/],
  ['waiting rows that go with the batch before', nextRowGoesToo, /deleted only after its claim/],
  ['slots of dead leaders that stay taken', slotsOfTheDeadStay, /every registered task ends|no slot is/, where.capped],
  [
    'dead letters that are deleted before they are sent',
    deadLettersAreDeletedFirst,
    /becomes a task or is refused|every (registered|sent) task/,
    where.manyDeadLetters,
  ],
  ['calls that overlook a pause', callsOverlookPauses, /is called while it is paused/],
  ['circuits whose pause nothing ends', circuitsAreNotResumed, /waits for room that is there/, narrow.circuitOpens],
  [
    'circuits that close without waking the others',
    closedCircuitsDoNotWake,
    /waits for room that is there/,
    narrow.circuitOpens,
  ],
  ['cancels that come too early', cancelsComeTooEarly, /asked for downstream/, narrow.cancelledAtOnce],
  [
    'inputs that are done again',
    doneInputsAreForgotten,
    /done is not done again/,
    (scenario) => ({ ...merging(scenario), ...where.nothingGoesWrong() }),
  ],
];
