/** Bugs of those who write how tasks ended, ack their items, and notify. */
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
import * as where from './where.ts';
import * as narrow from './where-narrow.ts';

/** What a job reports of its requests counts for all that are open, those of other jobs too. */
const reportsCountForAll: Bug = {
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

/** A batch has succeeded, whatever became of its members. */
const everyBatchSucceeds: Bug = {
  handleBatch: (deps, message, invocation) => {
    const finish: Batches['finish'] = (id, attempt, end) =>
      deps.batches.finish(id, attempt, { ...end, status: 'succeeded' });
    return handleBatch({ ...deps, batches: { ...deps.batches, finish } }, message, invocation);
  },
};

/** The end of a run sets its payload's time to live, though another run may have begun since. */
const expiryOverlooksTheRun: Bug = {
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

/** An attempt whose results could not be stored counts as any other one does. */
const lostResultsCount: Bug = {
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

/** A write is waited for until its request is ended, and no time is left to say that the attempt does not count. */
const writesAreWaitedFor: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, machine: { ...deps.machine, within: (_, work) => work() } }, message, invocation),
};

const unmarked = (message: BatchMessage): BatchMessage =>
  message.kind === 'completion' ? message : { ...message, uncounted: undefined };

/** A member that is redriven before the batch has looked at it again, a second later, is forgotten there. */
const redrivenMembersAreNotCounted: Bug = {
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

/** Who ended before a crash is not told of after it. */
const tellingIsForgottenAfterACrash: Bug = {
  handleBatch: (deps, message, delivery) => {
    const members: Tasks['members'] = async (ids, batch) => ({ ...(await deps.tasks.members(ids, batch)), ended: [] });
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** A job's first report ends its batch, whatever it says of the others. */
const firstReportsEndBatches: Bug = {
  handleBatch: (deps, message, delivery) => {
    if (message.kind === 'due') return handleBatch(deps, message, delivery);
    const members: Tasks['members'] = async (ids, batch) => {
      const all = await deps.tasks.members(ids, batch);
      return { ...all, open: all.open.filter(({ id }) => message.results?.includes(`"${id}"`) !== false) };
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** Members as a glance shows them, which is all that is believed, or all that is believed of those that are open. */
const readBehind = (change: (tasks: Tasks) => Tasks['members']): Bug => ({
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, tasks: { ...deps.tasks, members: change(deps.tasks) } }, message, delivery),
});

/** Who is not seen at a glance is taken for gone. */
const glancesAreAllThatThereIs = readBehind((tasks) => async (ids, batch) => ({
  open: await tasks.readEventually(ids, batch),
  lost: [],
  ended: [],
  counts: { succeeded: 0, failed: 0 },
}));

/** Who is seen open at a glance is taken for open at every attempt, and when a job reports, however often one looks: he may have ended. */
const glancesAreAlwaysBelieved: Bug = {
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

/** Who crashes after the callbacks leaves initiators who know more than the fan-out does. */
const callbacksGoFirst: Bug = {
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

/** Whoever takes a batch over believes that the items of those that have ended were acked. */
const repeatedBatchesAckNothing: Bug = {
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
    'redriven members that are not counted',
    redrivenMembersAreNotCounted,
    /counts match its members' results/,
    where.manyRedrives,
  ],
  [
    'payloads that expire for a run that is over',
    expiryOverlooksTheRun,
    /an unfinished task's payload has no time to live/,
    where.manyRedrives,
  ],
  ['reports that count for all', reportsCountForAll, /succeeds only if all its inputs were processed/, merging],
  [
    'members that are missed at a glance and not looked for',
    glancesAreAllThatThereIs,
    /every registered task ends|counts match|in this batch/,
  ],
  [
    'glances that are believed at every attempt',
    glancesAreAlwaysBelieved,
    /an item that has its result|ends as soon as each member has its result/,
    narrow.reportedTogether,
  ],
  ['batches that succeed whatever their counts say', everyBatchSucceeds, /status matches its counts/],
  ['telling that is forgotten after a crash', tellingIsForgottenAfterACrash, /with a destination sends its callback/],
  [
    'jobs whose first report ends their batch',
    firstReportsEndBatches,
    /in this batch|counts match|every registered task ends/,
  ],
  ['results that were lost and count', lostResultsCount, /could not be stored does not count/],
  [
    'writes that are waited for until no time is left',
    writesAreWaitedFor,
    /could not be stored does not count/,
    where.tablesComeAndGo,
  ],
  ['callbacks that go before their acks', callbacksGoFirst, /sent only after its item is acked/, fanningOut],
  [
    'acks that are forgotten after a crash',
    repeatedBatchesAckNothing,
    /item has the outcome of its task|sent only after its item/,
    fanningOut,
  ],
];
