/** Bugs in storing results, acking items and sending callbacks. */
import { unfinishedOf } from '../../src/domain/batches/batch.ts';
import type { BatchMessage } from '../../src/domain/batches/messages.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import type { Batches } from '../../src/ports/batches.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { Queues } from '../../src/ports/queues.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { fanningOut } from '../batches/fanned-out.ts';
import { merging } from '../batches/merged.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

/** A job's report counts for all open tasks of the batch, including tasks of other jobs. */
const reportCountsForOtherJobs: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => {
      const inner = deps.downstreamOf(operation);
      if (!inner.reported) return inner;
      const reported: typeof inner.reported = async (call, said, hadOthers) => {
        const batch = await deps.batches.get(call.batchId);
        const { open: items } = batch ? await deps.tasks.members(unfinishedOf(batch), batch.id) : { open: call.items };
        const had = said.kind === 'results' ? false : hadOthers;
        return inner.reported?.({ ...call, items }, said, had) ?? said;
      };
      return { ...inner, reported };
    };
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/** Every batch finishes as succeeded, regardless of its members. */
const everyBatchSucceeds: Bug = {
  handleBatch: (deps, message, invocation) => {
    const finish: Batches['finish'] = (id, attempt, end) =>
      deps.batches.finish(id, attempt, { ...end, status: 'succeeded' });
    return handleBatch({ ...deps, batches: { ...deps.batches, finish } }, message, invocation);
  },
};

/** The end of a run sets the payload's time to live, although another run may have begun. */
const payloadExpiryIgnoresRun: Bug = {
  handleBatch: (deps, message, invocation) => {
    const finish: Tasks['finish'] = (results, batch) =>
      deps.tasks.finish(
        results.map((result) =>
          result.payloadRow
            ? { ...result, payloadRow: { ...result.payloadRow, run: Number.MAX_SAFE_INTEGER } }
            : result,
        ),
        batch,
      );
    return handleBatch({ ...deps, tasks: { ...deps.tasks, finish } }, message, invocation);
  },
};

/** An attempt whose results could not be stored counts. */
const attemptWithLostResultsCounts: Bug = {
  handleBatch: (deps, message, invocation) => {
    const postpone: Batches['postpone'] = (id, attempt, { uncounted, ...postponed }) => {
      const countedAttempts = postponed.countedAttempts + (uncounted === undefined ? 0 : 1);
      return deps.batches.postpone(id, attempt, { ...postponed, countedAttempts });
    };
    const batch: typeof deps.queues.batch = (sent, delay) => deps.queues.batch(unmarked(sent), delay);
    const changed = { batches: { ...deps.batches, postpone }, queues: { ...deps.queues, batch } };
    return handleBatch({ ...deps, ...changed }, unmarked(message), invocation);
  },
};

/**
 * The handler waits for a write until the write's request times out. Then no time is left to record that the attempt
 * does not count.
 */
const writeAwaitedTooLong: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, machine: { ...deps.machine, within: (_, work) => work() } }, message, invocation),
};

const unmarked = (message: BatchMessage): BatchMessage =>
  message.kind === 'completion' ? message : { ...message, uncounted: undefined };

/**
 * A member that is redriven before the batch handler reads the member again, a second later, is missing in the counts.
 */
const redrivenMemberNotCounted: Bug = {
  handleBatch: (deps, message, delivery) => {
    const finish: typeof deps.tasks.finish = async (results, batch) => {
      const written = await deps.tasks.finish(results, batch);
      await deps.machine.sleep(1_000);
      const tasks = await Promise.all(results.map(({ id }) => deps.tasks.get(id)));
      return written.map((status, index) => {
        const state = tasks[index]?.state;
        return state && 'batchId' in state && state.batchId === batch.id ? status : undefined;
      });
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, finish } }, message, delivery);
  },
};

/** After a crash, no callback is sent for members that ended before the crash. */
const noCallbackAfterCrash: Bug = {
  handleBatch: (deps, message, delivery) => {
    const members: Tasks['members'] = async (ids, batch) => ({ ...(await deps.tasks.members(ids, batch)), ended: [] });
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** A job's first report ends its batch, although the report omits other tasks. */
const firstReportEndsBatch: Bug = {
  handleBatch: (deps, message, delivery) => {
    if (message.kind === 'due') return handleBatch(deps, message, delivery);
    const members: Tasks['members'] = async (ids, batch) => {
      const all = await deps.tasks.members(ids, batch);
      return { ...all, open: all.open.filter(({ id }) => message.results?.includes(`"${id}"`) !== false) };
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** Reads members with eventually consistent reads: all members, or only the open ones. */
const readBehind = (change: (tasks: Tasks) => Tasks['members']): Bug => ({
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, tasks: { ...deps.tasks, members: change(deps.tasks) } }, message, delivery),
});

/** A member that is missing in an eventually consistent read counts as absent. */
const allMembersReadEventually = readBehind((tasks) => async (ids, batch) => ({
  open: await tasks.readEventually(ids, batch),
  lost: [],
  ended: [],
  counts: { succeeded: 0, failed: 0 },
}));

/**
 * A member that is open in an eventually consistent read counts as open at every attempt and report, although the
 * member may have ended.
 */
const openMembersReadEventually: Bug = {
  handleBatch: (deps, message, delivery) => {
    const { tasks } = deps;
    const seen = new Set<TaskId>();
    const members: Tasks['members'] = async (ids, batch) => {
      const open = await tasks.readEventually(ids, batch);
      for (const { id } of open) seen.add(id);
      const rest = await tasks.members(
        ids.filter((id) => !open.some((each) => each.id === id)),
        batch,
      );
      return { ...rest, open: [...open, ...rest.open] };
    };
    const all: Tasks['all'] = async (ids) => (await tasks.all(ids)).filter(({ id }) => !seen.has(id));
    return handleBatch({ ...deps, tasks: { ...tasks, members, all } }, message, delivery);
  },
};

/**
 * Callbacks are sent before the acks. After a crash in between, receivers have got outcomes that the fan-out does not
 * contain.
 */
const callbackBeforeAck: Bug = {
  handleBatch: (deps, message, delivery) => {
    let held: (() => Promise<unknown>)[] = [];
    const ack: FanOuts['ack'] = async (id, position, slots) => {
      held.push(() => deps.fanOuts.ack(id, position, slots));
      return { isWritten: true, node: { left: 1, failed: 0, seenAt: slots.at } };
    };
    const release = async (): Promise<void> => {
      const acks = held;
      held = [];
      for (const each of acks) await each();
    };
    const callbacks: Queues['callbacks'] = async (messages) => {
      await deps.queues.callbacks(messages);
      await release();
    };
    const finish: Batches['finish'] = async (id, attempt, end) => {
      await release();
      return deps.batches.finish(id, attempt, end);
    };
    const changed = {
      fanOuts: { ...deps.fanOuts, ack },
      queues: { ...deps.queues, callbacks },
      batches: { ...deps.batches, finish },
    };
    return handleBatch({ ...deps, ...changed }, message, delivery);
  },
};

/** A handler that continues a batch after a crash does not ack the items of ended members again. */
const noAckAfterCrash: Bug = {
  handleBatch: (deps, message, delivery) => {
    const members: Tasks['members'] = async (ids, batch) => {
      const found = await deps.tasks.members(ids, batch);
      return { ...found, ended: found.ended.map(({ fanOutItem: _, ...member }) => member) };
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

export const RESULT_BUGS: readonly KnownBug[] = [
  [
    'redriven member missing in the counts',
    redrivenMemberNotCounted,
    /counts match its members' results/,
    scenarios.manyRedrives,
  ],
  [
    'ended run expires the payload of a later run',
    payloadExpiryIgnoresRun,
    /an unfinished task's payload has no time to live/,
    scenarios.manyRedrives,
  ],
  [
    'report counts for tasks of other jobs',
    reportCountsForOtherJobs,
    /succeeds only if all its inputs were processed/,
    merging,
  ],
  [
    'all members read eventually consistently',
    allMembersReadEventually,
    /every registered task ends|counts match|in this batch/,
  ],
  [
    'open members read eventually consistently',
    openMembersReadEventually,
    /an item that has its result|ends as soon as each member has its result/,
    moments.reportedTogether,
  ],
  ['every batch finishes as succeeded', everyBatchSucceeds, /status matches its counts/],
  ['callback not sent after a crash', noCallbackAfterCrash, /with a destination sends its callback/],
  [
    'first report of a job ends its batch',
    firstReportEndsBatch,
    /in this batch|counts match|every registered task ends/,
  ],
  ['attempt with lost results counts', attemptWithLostResultsCounts, /could not be stored does not count/],
  [
    'write awaited until no time is left',
    writeAwaitedTooLong,
    /could not be stored does not count/,
    scenarios.repeatedOutages,
  ],
  ['callback sent before the ack', callbackBeforeAck, /sent only after its item is acked/, fanningOut],
  [
    'item not acked after a crash',
    noAckAfterCrash,
    /item has the outcome of its task|sent only after its item/,
    fanningOut,
  ],
];
