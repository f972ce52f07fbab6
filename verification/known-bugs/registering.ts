/** Bugs of those who register tasks. */

import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { parseRegisterBody } from '../../src/domain/register/register-message.ts';
import { runNumber } from '../../src/domain/tasks/task.ts';
import { Refusal } from '../../src/memory/limits.ts';
import { Unstorable } from '../../src/ports/tasks.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as where from './where.ts';
import * as narrow from './where-narrow.ts';

/**
 * Of several messages with one id in one delivery only the first goes on. If an earlier run stored another of them and
 * stopped there, the stored task never gets its waiting row.
 */
const onlyTheFirstOfAnIdGoesOn: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const idOf = ({ body, messageId }: (typeof messages)[number]) => /"id":"(\w+)"/.exec(body)?.[1] ?? messageId;
    const first = new Map(messages.toReversed().map((message) => [idOf(message), message]));
    return registerAll(deps, [...first.values()], onFailure);
  },
};

/** Refused messages are forgotten. */
const refusedMessagesVanish: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, queues: { ...deps.queues, reject: async () => {} } }, messages, onFailure),
};

/** The version of a task is not read. */
const versionsAreOverlooked: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll(
      deps,
      messages.map((message) => ({ ...message, body: message.body.replace(/"version":\d+,/, '') })),
      onFailure,
    ),
};

/** A message that is sent again counts as sent at that moment. */
const sentAgainIsSentNow: Bug = {
  sweep: (deps, invocation) => {
    const redrive: typeof deps.deadLetters.redrive = (queue, deadLetter, delay) =>
      deps.deadLetters.redrive(queue, { ...deadLetter, firstSentAt: deps.machine.now() }, delay);
    return sweep({ ...deps, deadLetters: { ...deps.deadLetters, redrive } }, invocation);
  },
};

/** What waits is as new as its run. */
const redrivenTasksAreNew: Bug = {
  group: (deps, message, delivery) => {
    const first: typeof deps.waiting.first = async (target, limit) =>
      (await deps.waiting.first(target, limit)).map(({ age: _, ...row }) => row);
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** Such a weight is taken, and a table that refuses one task for its content makes the whole function fail. */
const tinyWeightsAreTaken: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const isTiny = ({ body }: (typeof messages)[number]): boolean => body.includes(`"weight":${where.TINY}`);
    const tiny = new Set(messages.filter(isTiny).map(({ body }) => JSON.parse(body).id));
    const insert: typeof deps.tasks.insert = async (tasks) => {
      try {
        return await deps.tasks.insert(
          tasks.map((task) => (tiny.has(task.id) ? { ...task, weight: where.TINY } : task)),
        );
      } catch (cause) {
        throw cause instanceof Unstorable ? new Refusal('ValidationException', cause.message) : cause;
      }
    };
    const taken = messages.map((message) => ({
      ...message,
      body: message.body.replace(`"weight":${where.TINY},`, ''),
    }));
    return registerAll({ ...deps, tasks: { ...deps.tasks, insert } }, taken, onFailure);
  },
};

/** Payloads that need a row of their own are not stored. */
const largePayloadsAreNotStored: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, tasks: { ...deps.tasks, storePayloads: async () => {} } }, messages, onFailure),
};

/** A register never looks whether a batch is full. */
const nobodyIsNudged: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, machine: { ...deps.machine, random: () => 1 } }, messages, onFailure),
};

/** A mistake where a failure is caught and only told of. */
const nudgesThrow: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const random = (): number => (undefined as never as { chance: () => number }).chance();
    return registerAll({ ...deps, machine: { ...deps.machine, random } }, messages, onFailure);
  },
};

/** A mistake in how messages are refused: they come back for ever. */
const refusalsThrow: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const reject: typeof deps.queues.reject = (refused) => deps.queues.reject((refused as never as () => [])());
    return registerAll({ ...deps, queues: { ...deps.queues, reject } }, messages, onFailure);
  },
};

/** Runs begin at 1, also those of a task whose id another one had, of which there may be a waiting row still. */
const runsBeginAtOneAgain: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const insert: typeof deps.tasks.insert = (tasks) => deps.tasks.insert(tasks.map((task) => ({ ...task, run: 1 })));
    return registerAll({ ...deps, tasks: { ...deps.tasks, insert } }, messages, onFailure);
  },
};

/** A redrive names a task only: one that comes twice, or late, starts another run of it. */
const redrivesOverlookTheRun: Bug = {
  registerAll: async (deps, messages, onFailure) => {
    const current = messages.map(async (message) => {
      const parsed = parseRegisterBody(deps.config, message);
      const isRedrive = parsed.ok && parsed.value.kind === 'redrive';
      const task = isRedrive ? await deps.tasks.get(parsed.value.run.id) : undefined;
      return task ? { ...message, body: printRedrive(task) } : message;
    });
    return registerAll(deps, await Promise.all(current), onFailure);
  },
};

/** A register decides by what a lock showed a moment ago: the leader whom it sees may be gone. */
const locksAreReadAtAGlance: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const readAll: typeof deps.locks.readAll = (targets) =>
      Promise.all(targets.map((target) => deps.locks.readEventually(target)));
    return registerAll({ ...deps, locks: { ...deps.locks, readAll } }, messages, onFailure);
  },
};

/** A redrive is written, and its waiting row is left to a message that never comes. */
const redrivenTasksDoNotWait: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const put: typeof deps.waiting.put = (tasks) => deps.waiting.put(tasks.filter((task) => runNumber(task) === 1));
    return registerAll({ ...deps, waiting: { ...deps.waiting, put } }, messages, onFailure);
  },
};

/** A Target has no row until somebody leads it: if its first elect message is lost, no patrol finds it. */
const newTargetsHaveNoRow: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, locks: { ...deps.locks, enlist: async () => {} } }, messages, onFailure),
};

export const REGISTERING_BUGS: readonly KnownBug[] = [
  [
    'locks that are read at a glance',
    locksAreReadAtAGlance,
    /every registered task ends|longer than maxWait|is sealed at once/,
    narrow.asTheLeaderGoes,
  ],
  [
    'a message that is dropped because another one has its id',
    onlyTheFirstOfAnIdGoesOn,
    /every registered task ends|a task or is refused/,
  ],
  [
    'ids that are used again with the runs of the task before',
    runsBeginAtOneAgain,
    /all tasks of a batch have the same Target/,
    where.idsAreUsedAgain,
  ],
  ['versions that are overlooked', versionsAreOverlooked, /keeps the version and sending time/],
  [
    'messages that are sent again and count as new',
    sentAgainIsSentNow,
    /keeps the version and sending time/,
    where.manyDeadLetters,
  ],
  ['redriven tasks that count as new', redrivenTasksAreNew, /superseded only by a newer task/],
  ['refused messages that vanish', refusedMessagesVanish, /becomes a task or is refused/],
  [
    'weights that no table holds',
    tinyWeightsAreTaken,
    /fails only because of an injected fault.*ValidationException/,
    where.tinyWeights,
  ],
  ['large payloads that are not stored', largePayloadsAreNotStored, /included in a call/],
  ['new Targets that have no row', newTargetsHaveNoRow, /every registered task ends/, narrow.purgedWhileElected],
  ['redriven tasks that do not wait', redrivenTasksDoNotWait, /every registered task ends/],
  ["redrives that overlook a task's run", redrivesOverlookTheRun, /a redrive starts at most one run/],
  ['a nudge that stumbles', nudgesThrow, /fails only because of an injected fault.*nudge-failed/],
  ['a refusal that stumbles', refusalsThrow, /fails only because of an injected fault.*TypeError/],
  ['full batches that nobody notices', nobodyIsNudged, /a full batch is sealed at once/, where.nobodyWaits],
];
