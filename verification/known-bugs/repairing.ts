/**
 * Bugs in takeovers and repairs: a function dies, and the function that receives its message, the sweep or the patrol
 * does not continue its work.
 */

import { guardStatusOf } from '../../src/domain/batches/lock.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { merging } from '../batches/merged.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

/** Guards are delayed by a minute more than the wait until the batch is due. */
const guardTooLate: Bug = {
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

/** If a Target was woken for a free slot and all its tasks were cancelled, it does not wake the next waiting Target. */
const emptyTargetKeepsWake: Bug = {
  electLeader: async (deps, message) => {
    const isWoken = message.kind === 'elect' && message.wake !== undefined;
    if (isWoken && (await deps.waiting.first(message.target, 1)).length === 0) return;
    await electLeader(deps, message);
  },
};

/** The function stops handling a group message if the guard's status is `is`, unless the message is a hint. */
const guardsEndAt = (is: ReturnType<typeof guardStatusOf>['is']): Bug => ({
  group: async (deps, message, delivery) => {
    const standing = guardStatusOf(await deps.locks.read(message.target), message, deps.machine.now());
    if (standing.is === is && !message.hint) return;
    await group(deps, message, delivery);
  },
});

const openBatchLeftUnfinished = guardsEndAt('leader-with-open-batch');
const guardNeverTakesOver = guardsEndAt('next');

/** If a newer fence has superseded a guard, the function sends the guard again, twice each time. */
const supersededGuardSentTwice: Bug = {
  group: async (deps, message, delivery) => {
    const standing = guardStatusOf(await deps.locks.read(message.target), message, deps.machine.now());
    const { early = 0 } = message;
    if (standing.is !== 'superseded' || message.hint || early > 3) return group(deps, message, delivery);
    for (let copy = 0; copy < 2; copy += 1) await deps.queues.group({ ...message, early: early + 1 }, 20);
  },
};

/** A batch is sealed with all of its candidates, including those that it could not claim. */
const allCandidatesAreMembers: Bug = {
  group: (deps, message, delivery) => {
    const seal: typeof deps.batches.seal = (batch, _, at, keep) => deps.batches.seal(batch, [], at, keep);
    return group({ ...deps, batches: { ...deps.batches, seal } }, message, delivery);
  },
};

/** The rows of a batch's candidates are deleted, and with them the first remaining waiting row. */
const nextRowDeletedToo: Bug = {
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
const sweepFreesNoSlots: Bug = {
  sweep: (deps, invocation) =>
    sweep({ ...deps, operations: { ...deps.operations, freeSlot: async () => undefined } }, invocation),
};

/** The sweep deletes a dead letter before it sends it again. */
const deadLetterDeletedFirst: Bug = {
  sweep: (deps, invocation) => {
    const { deadLetters } = deps;
    const redrive: typeof deadLetters.redrive = async (queue, letter, delay) => {
      await deadLetters.remove(queue, letter);
      return deadLetters.redrive(queue, letter, delay);
    };
    return sweep({ ...deps, deadLetters: { ...deadLetters, redrive, remove: async () => {} } }, invocation);
  },
};

/** The batch handler does not check whether the operation or the Target is paused. */
const callIgnoresPause: Bug = {
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

/** No message ends the pause that an opened circuit began. The sweep ends the pause minutes later. */
const circuitNotResumed: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, queues: { ...deps.queues, resume: async () => {} } }, message, delivery),
};

/** The first answer after an outage closes the circuit, but no waiting Target is woken. */
const closedCircuitWakesNoTarget: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, operations: { ...deps.operations, waiting: async () => [] } }, message, delivery),
};

/** A task is cancelled while it is being registered, before the task's payload is stored. */
const cancelBeforePayload: Bug = {
  cancel: (deps, id) => cancel({ ...deps, waiting: { ...deps.waiting, has: async () => true } }, id),
};

/** A merged job gets inputs that an earlier job has already processed. */
const processedInputsForgotten: Bug = { processed: (keys) => ({ ...keys, known: async () => new Map() }) };

export const REPAIRING_BUGS: readonly KnownBug[] = [
  ['guard delayed by another minute', guardTooLate, /longer than maxWait/, moments.fewTasks],
  [
    'woken Target without tasks keeps its wake',
    emptyTargetKeepsWake,
    /waits although a slot is free|in flight in the end/,
    moments.cancelledWhileWaiting,
  ],
  [
    'guard leaves an open batch unfinished',
    openBatchLeftUnfinished,
    /every registered task ends|deleted only after its fence/,
  ],
  ['guard never takes over', guardNeverTakesOver, /every registered task ends|a held fence has a guard/],
  ['superseded guard sent twice', supersededGuardSentTwice, /at most two copies of a guard/, moments.severalElected],
  ['unclaimed candidate becomes a member', allCandidatesAreMembers, /in this batch|included in a call|counts match/],
  ['waiting row deleted with the previous batch', nextRowDeletedToo, /deleted only after its task is claimed/],
  ['sweep frees no slots', sweepFreesNoSlots, /every registered task ends|no slot is/, scenarios.capped],
  [
    'dead letter deleted before it is redriven',
    deadLetterDeletedFirst,
    /becomes a task or is refused|every (registered|sent) task/,
    scenarios.manyDeadLetters,
  ],
  ['call ignores a pause', callIgnoresPause, /is called while it is paused/],
  ['opened circuit sends no resume', circuitNotResumed, /waits although a slot is free/, moments.circuitOpens],
  ['closed circuit wakes no Target', closedCircuitWakesNoTarget, /waits although a slot is free/, moments.circuitOpens],
  ['cancel before the payload is stored', cancelBeforePayload, /included in a call/, moments.cancelledAtOnce],
  [
    'processed input processed again',
    processedInputsForgotten,
    /a processed input is not processed again/,
    (scenario) => ({ ...merging(scenario), ...scenarios.withoutFaults() }),
  ],
];
