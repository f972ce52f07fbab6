/**
 * Bugs that were made once, by the design's drafts or by this code, to be put back where the simulation must find
 * them. They stand in for single steps or ports.
 */
import type { Deps } from '../../src/batching/deps.ts';
import { electLeader } from '../../src/batching/elect-leader.ts';
import { group } from '../../src/batching/group.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import { candidateOf, parseCandidate, type Token } from '../../src/batching/ids.ts';
import type { BatchPolicy } from '../../src/batching/policy.ts';
import { registerAll } from '../../src/batching/register.ts';
import type { Operation } from '../../src/config/resolved.ts';
import type { Answer, Call } from '../../src/downstream/downstream.ts';
import type { Batches, Locks } from '../../src/ports.ts';
import type { Steps } from '../../src/simulation/functions.ts';

type Bug = Partial<Steps>;

/** Trap 1: the guard is sent after the lock is acquired. A crash in between leaves a lock that nobody comes back for. */
export const guardAfterAcquire: Bug = {
  electLeader: (deps, message) => {
    let sendGuard = async (): Promise<void> => {};
    const queues: typeof deps.queues = {
      ...deps.queues,
      group: async (guard, delay) => {
        sendGuard = () => deps.queues.group(guard, delay);
      },
    };
    const locks: typeof deps.locks = {
      ...deps.locks,
      acquire: async (target, take) => {
        const won = await deps.locks.acquire(target, take);
        if (won) await sendGuard();
        return won;
      },
    };
    return electLeader({ ...deps, queues, locks }, message);
  },
};

/** Trap 2: an open batch that was not stored yet is taken for nothing and cleared. */
export const openBatchClearedWithoutBatch: Bug = {
  group: async (deps, message, invocation) => {
    const { openBatch } = await deps.locks.read(message.target);
    if (openBatch && !(await deps.batches.get(openBatch))) await deps.locks.closeBatch(message.target, openBatch);
    return group(deps, message, invocation);
  },
};

/** A claim that was throttled is taken for a claim that was refused: its task belongs to no batch. */
export const throttledClaimCountsAsRefused: Bug = {
  group: (deps, message, invocation) => {
    const claim: typeof deps.tasks.claim = async (candidates, batch) =>
      Promise.all(
        candidates.map((each) =>
          deps.tasks.claim([each], batch).then(
            ([mine]) => mine === true,
            () => false,
          ),
        ),
      );
    return group({ ...deps, tasks: { ...deps.tasks, claim } }, message, invocation);
  },
};

/** The lock is released without looking at the waiting rows once more: a task that came meanwhile has no leader. */
export const noLookAfterRelease: Bug = {
  group: (deps, message, invocation) => {
    let released = false;
    const locks: typeof deps.locks = {
      ...deps.locks,
      release: async (target, mine) => {
        released = await deps.locks.release(target, mine);
        return released;
      },
    };
    const waiting: typeof deps.waiting = {
      ...deps.waiting,
      first: async (target, limit) => (released ? [] : deps.waiting.first(target, limit)),
    };
    return group({ ...deps, locks, waiting }, message, invocation);
  },
};

/**
 * Of several messages with one id in one delivery only the first goes on. If an earlier run stored another of them and
 * stopped there, the stored task never gets its waiting row.
 */
export const onlyTheFirstOfAnIdGoesOn: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const idOf = ({ body, messageId }: (typeof messages)[number]) => /"id":"(\w+)"/.exec(body)?.[1] ?? messageId;
    const first = new Map(messages.toReversed().map((message) => [idOf(message), message]));
    return registerAll(deps, [...first.values()], onFailure);
  },
};

/** Refused messages are forgotten. */
export const refusedMessagesVanish: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, queues: { ...deps.queues, reject: async () => {} } }, messages, onFailure),
};

/** Payloads that need a row of their own are not stored. */
export const largePayloadsAreNotStored: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, tasks: { ...deps.tasks, storePayloads: async () => {} } }, messages, onFailure),
};

/** A register never looks whether a batch is full. */
export const nobodyIsNudged: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, machine: { ...deps.machine, random: () => 1 } }, messages, onFailure),
};

/** Whoever takes or passes on the lock for a wait does not look once more; only those two send hints from here. */
export const nobodyLooksAgain: Bug = {
  electLeader: (deps, message) => electLeader(withoutHints(deps), message),
  group: (deps, message, invocation) => group(withoutHints(deps), message, invocation),
};
const withoutHints = <Some extends Pick<Deps, 'queues'>>(deps: Some): Some => ({
  ...deps,
  queues: {
    ...deps.queues,
    group: async (message, delay) => (message.hint && delay === 0 ? undefined : deps.queues.group(message, delay)),
  },
});

/** Some step works by another configuration than the one that was made. */
const withOperation = <Some extends Pick<Deps, 'config'>>(
  deps: Some,
  change: (operation: Operation) => Partial<Operation>,
): Some => ({
  ...deps,
  config: {
    ...deps.config,
    operations: Object.fromEntries(
      Object.entries(deps.config.operations).map(([name, operation]) => [name, { ...operation, ...change(operation) }]),
    ),
  },
});

/** Leaders follow another policy than the one configured. */
const withPolicy = (change: (policy: BatchPolicy) => Partial<BatchPolicy>): Bug => {
  const changed = ({ batch }: Operation): Partial<Operation> => ({ batch: { ...batch, ...change(batch) } });
  return {
    electLeader: (deps, message) => electLeader(withOperation(deps, changed), message),
    group: (deps, message, invocation) => group(withOperation(deps, changed), message, invocation),
  };
};
export const batchesAreTooLarge = withPolicy(({ maxSize }) => ({ maxSize: 5 * maxSize, maxBytes: 10_000_000 }));
export const batchesHoldOneTask = withPolicy(() => ({ maxSize: 1 }));
export const tasksWaitTooLong = withPolicy(({ maxWait }) => ({ maxWait: maxWait + 6 * 3_600_000 }));

/** Whoever takes or passes on the lock does not care that it was flushed since he read it. */
export const flushesAreOverlooked: Bug = {
  electLeader: (deps, message) => electLeader({ ...deps, locks: careless(deps.locks) }, message),
  group: (deps, message, invocation) => group({ ...deps, locks: careless(deps.locks) }, message, invocation),
};
const careless = (locks: Locks): Locks => ({
  ...locks,
  acquire: async (target, take) => {
    const { flushedAt } = await locks.read(target);
    return locks.acquire(target, { ...take, seen: { fence: take.seen.fence, ...(flushedAt ? { flushedAt } : {}) } });
  },
  handOver: async (target, mine, next) => {
    const { flushedAt } = await locks.read(target);
    return locks.handOver(target, mine, { ...next, seen: { fence: mine.fence, ...(flushedAt ? { flushedAt } : {}) } });
  },
});

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

/** The handler retries by another policy than the one configured. */
const withAttempts = (maxAttempts: number): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      withOperation(deps, ({ retry }) => ({ retry: { ...retry, maxAttempts } })),
      message,
      invocation,
    ),
});
export const attemptsHaveNoEnd = withAttempts(100);
export const nobodyTriesAgain = withAttempts(1);

/** Whoever finds a batch open that he wanted to open himself takes it for his: all hints of a fence name it alike. */
export const losersFinishToo: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = async (target, mine, open) =>
      (await deps.locks.openBatch(target, mine, open)) || (await deps.locks.read(target)).openBatch === open.batch;
    return group({ ...deps, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/** What goes wrong with the start of an attempt. */
const withStart = (change: (batches: Batches) => Partial<Batches>): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, batches: { ...deps.batches, ...change(deps.batches) } }, message, invocation),
});
export const attemptsOverlap = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at - 1 }),
}));
/** A start whose answer was lost, and which the client repeated, is taken for somebody else's. */
export const repeatedStartsAreOverlooked = withStart((batches) => ({
  get: async (id) => {
    const batch = await batches.get(id);
    return batch && { ...batch, startedBy: 'nobody' as Token };
  },
}));

/** A leader that slept since before a redrive claims the task by its id alone, into a batch that is over. */
export const claimsOverlookTheRun: Bug = {
  group: (deps, message, delivery) => {
    const claim: typeof deps.tasks.claim = async (candidates, batch) => {
      const tasks = await Promise.all(candidates.map((each) => deps.tasks.get(parseCandidate(each).id)));
      return deps.tasks.claim(
        candidates.map((each, index) => candidateOf(parseCandidate(each).id, tasks[index]?.run ?? 1)),
        batch,
      );
    };
    return group({ ...deps, tasks: { ...deps.tasks, claim } }, message, delivery);
  },
};

/** A redrive is written, and its waiting row is left to a message that never comes. */
export const redrivenTasksDoNotWait: Bug = {
  registerAll: (deps, messages, onFailure) => {
    const put: typeof deps.waiting.put = (tasks) => deps.waiting.put(tasks.filter(({ run }) => run === 1));
    return registerAll({ ...deps, waiting: { ...deps.waiting, put } }, messages, onFailure);
  },
};

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

/** A Target has no row until somebody leads it: if its first elect message is lost, no patrol finds it. */
export const newTargetsHaveNoRow: Bug = {
  registerAll: (deps, messages, onFailure) =>
    registerAll({ ...deps, locks: { ...deps.locks, enlist: async () => {} } }, messages, onFailure),
};
