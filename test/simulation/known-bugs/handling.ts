/** Bugs of those who call downstream. */
import { handleBatch } from '../../../src/batching/handle-batch.ts';
import type { Token } from '../../../src/batching/ids.ts';
import { HANDLER_OVERHEAD } from '../../../src/batching/timings.ts';
import type { Answer, Call } from '../../../src/downstream/downstream.ts';
import type { Batches, Tasks } from '../../../src/ports.ts';
import type { Bug } from './bug.ts';

/** The handler believes that all succeeded without asking. */
export const nobodyIsCalled: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      { ...deps, downstreamOf: () => ({ call: async () => ({ kind: 'all-succeeded' }) }) },
      message,
      invocation,
    ),
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
/** A start whose answer was lost, and which the client repeated, is taken for somebody else's. */
export const repeatedStartsAreOverlooked = withStart((batches) => ({
  get: async (id) => {
    const batch = await batches.get(id);
    return batch && { ...batch, startedBy: 'nobody' as Token };
  },
}));

/** Whoever leaves a batch by a redrive is forgotten there. */
export const redrivenMembersAreNotCounted: Bug = {
  handleBatch: (deps, message, delivery) => {
    const finish: typeof deps.tasks.finish = async (results, batch) => {
      const written = await deps.tasks.finish(results, batch);
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
    if (!('results' in message)) return handleBatch(deps, message, delivery);
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
/** Who is seen open at a glance is taken for open at every attempt, and when a job reports: he may have ended. */
export const glancesAreAlwaysBelieved = readBehind((tasks) => async (ids, batch) => {
  const open = await tasks.glance(ids, batch);
  const seen = new Set(open.map(({ id }) => id));
  const rest = await tasks.members(
    ids.filter((id) => !seen.has(id)),
    batch,
  );
  return { ...rest, open: [...open, ...rest.open] };
});
