/** Bugs of those who elect, lead and finish batches. */

import { guardStatusOf } from '../../src/domain/batches/lock.ts';
import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { candidateOf, parseCandidate } from '../../src/domain/ids.ts';
import { delaySeconds, LEASE } from '../../src/domain/timings.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { type Bug, type KnownBug, withOperation } from './bug.ts';
import * as where from './where.ts';
import * as narrow from './where-narrow.ts';

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
const openBatchClearedWithoutBatch: Bug = {
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
const noLookAfterRelease: Bug = {
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

/** "An earlier run got to the end of the list, so all of it is claimed": as if claims happened one after the other. */
const lastClaimStandsForAll: Bug = {
  group: (deps, message, delivery) => {
    const claim: typeof deps.tasks.claim = async (candidates, batch) => {
      const last = candidates.at(-1);
      const state = last && (await deps.tasks.get(parseCandidate(last).id))?.state;
      const isClaimed = state && 'batchId' in state && state.batchId === batch;
      return isClaimed ? candidates.map(() => true) : deps.tasks.claim(candidates, batch);
    };
    return group({ ...deps, tasks: { ...deps.tasks, claim } }, message, delivery);
  },
};

/** The leader reads the waiting rows for half the price, eventually consistent: his last look may not show the last task. */
const rowsAreReadBehind: Bug = {
  group: (deps, message, delivery) => {
    const first: typeof deps.waiting.first = async (target, limit) => (await deps.waiting.page(target, limit)).items;
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** A sealed batch is sent off with a delay. */
const batchesLeaveLate: Bug = {
  group: (deps, message, delivery) => {
    const batch: typeof deps.queues.batch = (sealed) => deps.queues.batch(sealed, 900);
    return group({ ...deps, queues: { ...deps.queues, batch } }, message, delivery);
  },
};

/** A branch that is taken now and then has a plain mistake in it. */
const earlyGuardsThrow: Bug = {
  group: async (deps, message, delivery) => {
    const lock = await deps.locks.read(message.target);
    if (guardStatusOf(lock, message, deps.machine.now()).is === 'early') JSON.parse('{');
    return group(deps, message, delivery);
  },
};

/** An early guard is sent away for half a lease, however soon the lock is handed over. */
export const earlyGuardsSleep: Bug = {
  group: async (deps, message, delivery) => {
    const lock = await deps.locks.read(message.target);
    if (guardStatusOf(lock, message, deps.machine.now()).is !== 'early') return group(deps, message, delivery);
    return deps.queues.group(message, delaySeconds(LEASE / 2));
  },
};

/** An early guard is sent again twice, to be safe. */
const earlyGuardsMultiply: Bug = {
  group: (deps, message, delivery) => {
    const send: typeof deps.queues.group = async (sent, delay) => {
      await deps.queues.group(sent, delay);
      if (sent.early !== undefined) await deps.queues.group(sent, delay);
    };
    return group({ ...deps, queues: { ...deps.queues, group: send } }, message, delivery);
  },
};

/** Whoever takes or passes on the lock for a wait does not look once more; only those two send hints from here. */
const nobodyLooksAgain: Bug = {
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

/** A hint that meets, or leaves, a lock that was given back does not look at the waiting rows: the guard sleeps. */
const hintsLeaveFreedLocks: Bug = {
  group: (deps, message, invocation) => {
    const read: Locks['read'] = async (target) => {
      const lock = await deps.locks.read(target);
      return message.hint && lock.holder === undefined ? { ...lock, fence: lock.fence + 1 } : lock;
    };
    return group({ ...deps, locks: { ...deps.locks, read } }, message, invocation);
  },
};

/** Whoever takes or passes on the lock does not care that it was flushed since he read it. */
const flushesAreOverlooked: Bug = {
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

/** Whoever finds a batch open that he wanted to open himself takes it for his: all hints of a fence name it alike. */
export const losersFinishToo: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = async (target, mine, open) =>
      (await deps.locks.openBatch(target, mine, open)) || (await deps.locks.read(target)).openBatch === open.batch;
    return group({ ...deps, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/** A leader that slept since before a redrive claims the task by its id alone, into a batch that is over. */
const claimsOverlookTheRun: Bug = {
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

/** Leaders follow another policy than the one configured. */
const withPolicy = (change: (policy: BatchPolicy) => Partial<BatchPolicy>): Bug => {
  const changed = ({ batch }: Operation): Partial<Operation> => ({ batch: { ...batch, ...change(batch) } });
  return {
    electLeader: (deps, message) => electLeader(withOperation(deps, changed), message),
    group: (deps, message, invocation) => group(withOperation(deps, changed), message, invocation),
  };
};
const batchesAreTooLarge = withPolicy(({ maxSize }) => ({ maxSize: 5 * maxSize, maxBytes: 10_000_000 }));
const batchesHoldOneTask = withPolicy(() => ({ maxSize: 1 }));
const batchesAreClosedEarly = withPolicy(({ maxBytes }) => ({ maxBytes: maxBytes / 4 }));
const tasksWaitTooLong = withPolicy(({ maxWait }) => ({ maxWait: maxWait + 6 * 3_600_000 }));

export const LEADING_BUGS: readonly KnownBug[] = [
  ['a guard that is sent after the acquire', guardAfterAcquire, /a held fence has a guard|every registered task ends/],
  [
    'an open batch that is cleared before it is stored',
    openBatchClearedWithoutBatch,
    /open batch is cleared from its lock only/,
  ],
  [
    'a throttled claim that is counted as refused',
    throttledClaimCountsAsRefused,
    /its task is claimed|every registered task ends/,
  ],
  [
    'a last claim that stands for all',
    lastClaimStandsForAll,
    /its task is claimed|in this batch|every registered task ends|included in a call/,
  ],
  [
    'a release without a second look',
    noLookAfterRelease,
    /every registered task ends|longer than maxWait/,
    narrow.asTheLeaderGoes,
  ],
  [
    'a leader whose reads are behind',
    rowsAreReadBehind,
    /every registered task ends|longer than maxWait|is sealed at once/,
    where.nothingGoesWrong,
  ],
  [
    "claims that overlook a task's run",
    claimsOverlookTheRun,
    /a candidate of its batch|counts match|in this batch/,
    where.manyRedrives,
  ],
  ['a guard that is early and stumbles', earlyGuardsThrow, /fails only because of an injected fault.*SyntaxError/],
  ['early guards that sleep for half a lease', earlyGuardsSleep, /longer than maxWait/, where.sustained],
  ['early guards that multiply', earlyGuardsMultiply, /at most two copies of a guard/, where.sustained],
  ['batches that are too large', batchesAreTooLarge, /at most max/],
  ['batches that hold one task', batchesHoldOneTask, /a batch sealed as full has maxSize/],
  ['batches that are closed early', batchesAreClosedEarly, /only if one more task would exceed/],
  ['batches that leave late', batchesLeaveLate, /a sealed batch is called at once/],
  ['tasks that wait too long', tasksWaitTooLong, /longer than maxWait/, narrow.fewTasks],
  [
    'full batches that came while the lock changed hands',
    nobodyLooksAgain,
    /a full batch is sealed at once/,
    where.fullWhileElected,
  ],
  [
    'hints that leave a freed lock alone',
    hintsLeaveFreedLocks,
    /a full batch is sealed at once/,
    narrow.fullAgainAtOnce,
  ],
  ['flushes that are overlooked', flushesAreOverlooked, /a flush seals all waiting tasks/, where.manyFlushes],
];
