/** Bugs of those who call downstream. */
import { type Batch, unfinishedOf } from '../../src/domain/batches/batch.ts';
import type { BatchMessage } from '../../src/domain/batches/messages.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { TaskId, Token } from '../../src/domain/ids.ts';
import { NAP, VOID_AFTER } from '../../src/domain/operations/call-rate.ts';
import { delaySeconds, HANDLER_OVERHEAD } from '../../src/domain/timings.ts';
import type { Batches } from '../../src/ports/batches.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Bug } from './bug.ts';

/** Five tries of 4 s each, and the pauses between them, however much time the function has left. */
export const requestsHaveNoEnd: Bug = { timeForCall: () => 20_200 };

/** The handler believes that all succeeded without asking. */
export const nobodyIsCalled: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      { ...deps, downstreamOf: () => ({ call: async () => ({ kind: 'all-succeeded' }) }) },
      message,
      invocation,
    ),
};

/** Of merged requests the one that has its turn last counts as the newest. */
export const mergedRequestsGoByTurn: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => {
      const inner = deps.downstreamOf(operation);
      return {
        ...inner,
        call: (call) => inner.call({ ...call, items: call.items.map(({ age: _, ...item }) => item) }),
      };
    };
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/** What a job reports of its requests counts for all that are open, those of other jobs too. */
export const reportsCountForAll: Bug = {
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
export const everyBatchSucceeds: Bug = {
  handleBatch: (deps, message, invocation) => {
    const finish: Batches['finish'] = (id, attempt, end) =>
      deps.batches.finish(id, attempt, { ...end, status: 'succeeded' });
    return handleBatch({ ...deps, batches: { ...deps.batches, finish } }, message, invocation);
  },
};

/** The end of a run sets its payload's time to live, though another run may have begun since. */
export const expiryOverlooksTheRun: Bug = {
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
export const lostResultsCount: Bug = {
  handleBatch: (deps, message, invocation) => {
    const postpone: Batches['postpone'] = (id, attempt, { uncounted, ...postponed }) => {
      const tries = postponed.tries + (uncounted === undefined ? 0 : 1);
      return deps.batches.postpone(id, attempt, { ...postponed, tries });
    };
    const batch: typeof deps.queues.batch = (sent, delay) => deps.queues.batch(unmarked(sent), delay);
    const changed = { batches: { ...deps.batches, postpone }, queues: { ...deps.queues, batch } };
    return handleBatch({ ...deps, ...changed }, unmarked(message), invocation);
  },
};
/** A write is waited for until its request is ended, and no time is left to say that the attempt does not count. */
export const writesAreWaitedFor: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, machine: { ...deps.machine, within: (_, work) => work() } }, message, invocation),
};

const unmarked = (message: BatchMessage): BatchMessage =>
  message.kind === 'completion' ? message : { ...message, uncounted: undefined };

/** A look notes its next message before it sends it: a function that dies in between ends all messages of its batch. */
export const notesGoFirst: Bug = {
  handleBatch: (deps, message, invocation) => {
    const batch: typeof deps.queues.batch = async (sent, delay) => {
      const [before, next] = [message, sent].map((each) => (each.kind === 'due' ? each.held : undefined));
      const isUncounted = sent.kind === 'due' && sent.uncounted !== undefined;
      if (before && next && next.by !== before.by)
        await deps.batches.hold(sent.batchId, { ...next, isUncounted, after: before.by });
      await deps.queues.batch(sent, delay);
    };
    return handleBatch({ ...deps, queues: { ...deps.queues, batch } }, message, invocation);
  },
};

/** Every item goes into a call twice. */
export const itemsGoTwice: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: (call) => deps.downstreamOf(operation).call({ ...call, items: [...call.items, ...call.items] }),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/** The handler hears something else than was answered. */
const misheard = (change: (answer: Answer, call: Call) => Answer): Bug => ({
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: async (call) => change(await deps.downstreamOf(operation).call(call), call),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
});
export const resultsGoToTheNeighbour = misheard((answer, { items }) => {
  if (answer.kind !== 'results') return answer;
  const moved = items.flatMap(({ id }, index) => {
    const item = answer.items.get((items[index + 1] ?? items[0])?.id ?? id);
    return item ? [[id, item] as const] : [];
  });
  return { ...answer, items: new Map(moved) };
});
export const retryAfterIsIgnored = misheard((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { retryAfter: _, ...rest } = answer;
  return rest;
});

export const throttlesAreFailures = misheard((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { throttled: _, ...rest } = answer;
  return rest;
});

/** An answer that is too large to be read is taken for none: the same call is made again, with its effects. */
export const largeAnswersAreNone = misheard((answer) =>
  answer.kind === 'refused' && answer.suspect === 'its-answer'
    ? { kind: 'unavailable', reason: answer.reason, mayRetryAtOnce: true }
    : answer,
);

/** What goes wrong with the start of an attempt, or the wait for it. */
const withStart = (change: (batches: Batches) => Partial<Batches>): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, batches: { ...deps.batches, ...change(deps.batches) } }, message, invocation),
});
export const attemptsOverlap = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at - 1 }),
}));
/** A run lasts for what it needs besides its calls. */
export const callsTakeNoTime = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at + HANDLER_OVERHEAD }),
}));
/** The next attempt has to wait for an hour more than the policy says. */
export const retriesAreLate = withStart((batches) => ({
  postpone: (id, attempt, { retryAt, ...rest }) =>
    batches.postpone(id, attempt, { ...rest, retryAt: retryAt + 3_600_000 }),
}));
/** Each attempt begins with the whole batch, whatever an earlier one found too large. */
export const sizesAreForgotten = withStart((batches) => ({
  postpone: (id, attempt, { split: _, ...rest }) => batches.postpone(id, attempt, rest),
}));
/** A start whose answer was lost, and which the client repeated, is taken for somebody else's. */
export const repeatedStartsAreOverlooked = withStart((batches) => ({
  get: async (id) => {
    const batch = await batches.get(id);
    return batch && { ...batch, startedBy: 'nobody' as Token };
  },
}));

/** A member that is redriven before the batch has looked at it again, a second later, is forgotten there. */
export const redrivenMembersAreNotCounted: Bug = {
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
export const tellingIsForgottenAfterACrash: Bug = {
  handleBatch: (deps, message, delivery) => {
    const members: Tasks['members'] = async (ids, batch) => ({ ...(await deps.tasks.members(ids, batch)), ended: [] });
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** A job's first report ends its batch, whatever it says of the others. */
export const firstReportsEndBatches: Bug = {
  handleBatch: (deps, message, delivery) => {
    if (message.kind === 'due') return handleBatch(deps, message, delivery);
    const members: Tasks['members'] = async (ids, batch) => {
      const all = await deps.tasks.members(ids, batch);
      return { ...all, open: all.open.filter(({ id }) => message.results?.includes(`"${id}"`) !== false) };
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};

/** A moment that is taken is taken once more. */
export const ratesAreOverlooked: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, operations: { ...deps.operations, reserveCall: async () => true } }, message, delivery),
};

/** As release 0.2.0 did it: a batch reserves its moment however far that is, and the line outlives pauses, rates and batches. */
export const linesHaveNoEnd: Bug = {
  handleBatch: async (deps, message, delivery) => {
    if (message.kind === 'completion') return handleBatch(deps, message, delivery);
    const { operation } = (await deps.batches.get(message.batchId)) as Batch;
    const { rateLimit } = operationFor(deps.config, operation);
    const { line, paused } = await deps.operations.read(operation);
    const now = deps.machine.now();
    const kept = message.at !== undefined && now <= message.at + VOID_AFTER ? message.at : undefined;
    if (rateLimit !== null && !paused) {
      const at = Math.ceil(kept ?? Math.max(now, line?.next ?? 0));
      const next = { next: at + 1_000 / rateLimit, rate: 1, since: 1 };
      if (kept === undefined && !(await deps.operations.reserveCall(operation, line, next)))
        return deps.queues.batch({ kind: 'due', batchId: message.batchId }, 1);
      if (at > now + NAP)
        return deps.queues.batch({ kind: 'due', batchId: message.batchId, at }, delaySeconds(at - now));
    }
    // The rate is kept already, and the line stays.
    const config = withOperations(deps.config, () => ({ rateLimit: null }));
    const operations = { ...deps.operations, reserveCall: async () => true };
    return handleBatch({ ...deps, config, operations }, message, delivery);
  },
};

/** Whatever is refused fails as a whole, though its halves might not. */
export const innocentTasksFail = misheard((answer) => {
  if (answer.kind !== 'refused') return answer;
  const { suspect: _, ...refused } = answer;
  return refused;
});

/** Members as a glance shows them, which is all that is believed, or all that is believed of those that are open. */
const readBehind = (change: (tasks: Tasks) => Tasks['members']): Bug => ({
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, tasks: { ...deps.tasks, members: change(deps.tasks) } }, message, delivery),
});
/** Who is not seen at a glance is taken for gone. */
export const glancesAreAllThatThereIs = readBehind((tasks) => async (ids, batch) => ({
  open: await tasks.glance(ids, batch),
  lost: [],
  ended: [],
  counts: { succeeded: 0, failed: 0 },
}));
/** Who is seen open at a glance is taken for open at every attempt, and when a job reports, however often one looks: he may have ended. */
export const glancesAreAlwaysBelieved: Bug = {
  handleBatch: (deps, message, delivery) => {
    const { tasks } = deps;
    const seen = new Set<TaskId>();
    const members: Tasks['members'] = async (ids, batch) => {
      const open = await tasks.glance(ids, batch);
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
