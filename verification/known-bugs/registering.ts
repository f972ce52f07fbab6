/** Bugs in registering tasks. */

import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { parseRegisterBody } from '../../src/domain/register/register-message.ts';
import { runNumber } from '../../src/domain/tasks/task.ts';
import { Refusal } from '../../src/memory/limits.ts';
import { Unstorable } from '../../src/ports/tasks.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

/**
 * If one delivery contains several messages with the same id, only the first message is handled. If an earlier
 * invocation stored another of these messages and then stopped, the stored task never gets its waiting row.
 */
const onlyFirstMessageOfIdHandled: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const idOf = ({ body, messageId }: (typeof messages)[number]) => /"id":"(\w+)"/.exec(body)?.[1] ?? messageId;
    const first = new Map(messages.toReversed().map((message) => [idOf(message), message]));
    return registerAll(deps, [...first.values()], onFailure);
  },
};

/** Refused messages are not sent to the rejected queue. */
const refusedMessageNotStored: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, queues: { ...deps.queues, reject: async () => {} } }, messages, onFailure),
};

/** The register function does not read the version of a task. */
const versionIgnored: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll(
      deps,
      messages.map((message) => ({ ...message, body: message.body.replace(/"version":\d+,/, '') })),
      onFailure,
    ),
};

/** A dead letter that is redriven counts as sent at the moment of the redrive. */
const redrivenLetterCountsAsNew: Bug = {
  sweep: (deps, invocation) => {
    const redrive: typeof deps.deadLetters.redrive = (queue, deadLetter, delay) =>
      deps.deadLetters.redrive(queue, { ...deadLetter, firstSentAt: deps.machine.now() }, delay);
    return sweep({ ...deps, deadLetters: { ...deps.deadLetters, redrive } }, invocation);
  },
};

/** The age of a waiting task counts from its current run, and not from its registration. */
const redrivenTaskCountsAsNew: Bug = {
  group: (deps, message, delivery) => {
    const first: typeof deps.waiting.first = async (target, limit) =>
      (await deps.waiting.first(target, limit)).map(({ age: _, ...row }) => row);
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** A weight that DynamoDB refuses is accepted. The table's refusal of one task then fails the whole function. */
const tinyWeightAccepted: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const isTiny = ({ body }: (typeof messages)[number]): boolean => body.includes(`"weight":${scenarios.TINY}`);
    const tiny = new Set(messages.filter(isTiny).map(({ body }) => JSON.parse(body).id));
    const insert: typeof deps.tasks.insert = async (tasks) => {
      try {
        return await deps.tasks.insert(
          tasks.map((task) => (tiny.has(task.id) ? { ...task, weight: scenarios.TINY } : task)),
        );
      } catch (cause) {
        throw cause instanceof Unstorable ? new Refusal('ValidationException', cause.message) : cause;
      }
    };
    const taken = messages.map((message) => ({
      ...message,
      body: message.body.replace(`"weight":${scenarios.TINY},`, ''),
    }));
    return registerAll({ ...deps, tasks: { ...deps.tasks, insert } }, taken, onFailure);
  },
};

/** Payloads that need a row of their own are not stored. */
const largePayloadNotStored: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, tasks: { ...deps.tasks, storePayloads: async () => {} } }, messages, onFailure),
};

/** The register function never checks whether a batch is full. */
const noHintForFullBatch: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, machine: { ...deps.machine, random: () => 1 } }, messages, onFailure),
};

/** An error is thrown in a place where failures are caught and only reported. */
const nudgeThrows: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const random = (): number => (undefined as never as { chance: () => number }).chance();
    return registerAll({ ...deps, machine: { ...deps.machine, random } }, messages, onFailure);
  },
};

/** An error is thrown while messages are refused, so that they are delivered again and again. */
const refusalThrows: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const reject: typeof deps.queues.reject = (refused) => deps.queues.reject((refused as never as () => [])());
    return registerAll({ ...deps, queues: { ...deps.queues, reject } }, messages, onFailure);
  },
};

/**
 * Run numbers begin at 1, even for a task whose id was used before. A waiting row of the earlier task may still exist.
 */
const runsOfReusedIdBeginAtOne: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const insert: typeof deps.tasks.insert = (tasks) => deps.tasks.insert(tasks.map((task) => ({ ...task, run: 1 })));
    return registerAll({ ...deps, tasks: { ...deps.tasks, insert } }, messages, onFailure);
  },
};

/**
 * A redrive message names only the task, and not the run. If the message is delivered twice or late, it starts another
 * run.
 */
const redriveIgnoresRun: Bug = {
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

/**
 * The register function reads the lock with an eventually consistent read. The leader in this read may already have
 * released the lock.
 */
const lockReadEventually: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const readAll: typeof deps.locks.readAll = (targets) =>
      Promise.all(targets.map((target) => deps.locks.readEventually(target)));
    return registerAll({ ...deps, locks: { ...deps.locks, readAll } }, messages, onFailure);
  },
};

/** A redrive is stored without its waiting row. */
const redrivenTaskHasNoRow: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const put: typeof deps.waiting.put = (tasks) => deps.waiting.put(tasks.filter((task) => runNumber(task) === 1));
    return registerAll({ ...deps, waiting: { ...deps.waiting, put } }, messages, onFailure);
  },
};

/**
 * A new Target has no lock row until it has a leader. If its first elect message is lost, the patrol does not find it.
 */
const newTargetHasNoRow: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, locks: { ...deps.locks, enlist: async () => {} } }, messages, onFailure),
};

export const REGISTERING_BUGS: readonly KnownBug[] = [
  [
    'lock read eventually consistently',
    lockReadEventually,
    /every registered task ends|longer than maxWait|is sealed at once/,
    moments.registeredAtRelease,
  ],
  [
    'only the first message with an id handled',
    onlyFirstMessageOfIdHandled,
    /every registered task ends|a task or is refused/,
  ],
  [
    'runs of a reused id begin at 1',
    runsOfReusedIdBeginAtOne,
    /all tasks of a batch have the same Target/,
    scenarios.idsReused,
  ],
  ['version ignored', versionIgnored, /keeps the version and sending time/],
  [
    'redriven dead letter counts as newly sent',
    redrivenLetterCountsAsNew,
    /keeps the version and sending time/,
    scenarios.manyDeadLetters,
  ],
  ['redriven task counts as newly sent', redrivenTaskCountsAsNew, /superseded only by a newer task/],
  ['refused message not stored', refusedMessageNotStored, /becomes a task or is refused/],
  [
    'weight accepted that DynamoDB refuses',
    tinyWeightAccepted,
    /fails only because of an injected fault.*ValidationException/,
    scenarios.tinyWeights,
  ],
  ['large payload not stored', largePayloadNotStored, /included in a call/],
  ['new Target without a lock row', newTargetHasNoRow, /every registered task ends/, moments.purgedWhileElected],
  ['redriven task without a waiting row', redrivenTaskHasNoRow, /every registered task ends/],
  ['redrive ignores the run', redriveIgnoresRun, /a redrive starts at most one run/],
  ['nudge throws an error', nudgeThrows, /fails only because of an injected fault.*nudge-failed/],
  ['refusal throws an error', refusalThrows, /fails only because of an injected fault.*TypeError/],
  ['no hint for a full batch', noHintForFullBatch, /a full batch is sealed at once/, scenarios.withoutFaultsAndLimits],
];
