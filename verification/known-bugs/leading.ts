/** Bugs in electing a leader, and in leading and sealing batches. */

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
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

/**
 * The guard is sent after the lock is acquired (L2). If the function dies in between, no guard is delivered for the
 * lock.
 */
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

/** An open batch that is not stored yet is cleared from the lock. */
const openBatchClearedWithoutBatch: Bug = {
  group: async (deps, message, invocation) => {
    const { openBatch } = await deps.locks.read(message.target);
    if (openBatch && !(await deps.batches.get(openBatch))) await deps.locks.closeBatch(message.target, openBatch);
    return group(deps, message, invocation);
  },
};

/** A throttled claim counts as a refused one, so that its task belongs to no batch. */
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

/**
 * The lock is released without another read of the waiting rows (G3). A task that is registered in between has no
 * leader.
 */
const rowsNotReadAfterRelease: Bug = {
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

/** If the last candidate is claimed, all candidates count as claimed, as if claims were written one after another. */
const lastClaimProvesAll: Bug = {
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

/**
 * The leader reads the waiting rows with an eventually consistent read, at half the price. Its last read may miss the
 * last task.
 */
const rowsReadEventually: Bug = {
  group: (deps, message, delivery) => {
    const first: typeof deps.waiting.first = async (target, limit) => (await deps.waiting.page(target, limit)).items;
    return group({ ...deps, waiting: { ...deps.waiting, first } }, message, delivery);
  },
};

/** The message of a sealed batch is sent with a delay. */
const batchMessageDelayed: Bug = {
  group: (deps, message, delivery) => {
    const batch: typeof deps.queues.batch = (sealed) => deps.queues.batch(sealed, 900);
    return group({ ...deps, queues: { ...deps.queues, batch } }, message, delivery);
  },
};

/** A rarely used branch throws an error. */
const earlyGuardThrows: Bug = {
  group: async (deps, message, delivery) => {
    const lock = await deps.locks.read(message.target);
    if (guardStatusOf(lock, message, deps.machine.now()).is === 'early') JSON.parse('{');
    return group(deps, message, delivery);
  },
};

/** An early guard is delayed for half a lease, although the lock may be handed over soon. */
export const earlyGuardDelayed: Bug = {
  group: async (deps, message, delivery) => {
    const lock = await deps.locks.read(message.target);
    if (guardStatusOf(lock, message, deps.machine.now()).is !== 'early') return group(deps, message, delivery);
    return deps.queues.group(message, delaySeconds(LEASE / 2));
  },
};

/** An early guard is sent twice. */
const earlyGuardSentTwice: Bug = {
  group: (deps, message, delivery) => {
    const send: typeof deps.queues.group = async (sent, delay) => {
      await deps.queues.group(sent, delay);
      if (sent.early !== undefined) await deps.queues.group(sent, delay);
    };
    return group({ ...deps, queues: { ...deps.queues, group: send } }, message, delivery);
  },
};

/**
 * The functions that take the lock, or hand it over for a wait, send no hints afterwards. If the batch was filled in
 * between, no function notices it.
 */
const noHintWhileLockChangesHands: Bug = {
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

/** A hint that finds a released lock does not read the waiting rows, so that the Target waits for its guard. */
const hintIgnoresReleasedLock: Bug = {
  group: (deps, message, invocation) => {
    const read: Locks['read'] = async (target) => {
      const lock = await deps.locks.read(target);
      return message.hint && lock.holder === undefined ? { ...lock, fence: lock.fence + 1 } : lock;
    };
    return group({ ...deps, locks: { ...deps.locks, read } }, message, invocation);
  },
};

/** The functions that take the lock or hand it over ignore flushes that came after they read the lock. */
const flushIgnored: Bug = {
  electLeader: (deps, message) => electLeader({ ...deps, locks: ignoringFlushes(deps.locks) }, message),
  group: (deps, message, invocation) => group({ ...deps, locks: ignoringFlushes(deps.locks) }, message, invocation),
};

const ignoringFlushes = (locks: Locks): Locks => ({
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

/**
 * A function that failed to open a batch continues as if it had opened the batch. All hints with the same fence use the
 * same batch id.
 */
export const failedOpenContinues: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = async (target, mine, open) =>
      (await deps.locks.openBatch(target, mine, open)) || (await deps.locks.read(target)).openBatch === open.batch;
    return group({ ...deps, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/**
 * A leader that was paused since before a redrive claims the task by its id alone (without the run), into a batch that
 * is over.
 */
const claimIgnoresRun: Bug = {
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

/** Leaders follow a policy that differs from the configured one. */
const withPolicy = (change: (policy: BatchPolicy) => Partial<BatchPolicy>): Bug => {
  const changed = ({ batch }: Operation): Partial<Operation> => ({ batch: { ...batch, ...change(batch) } });
  return {
    electLeader: (deps, message) => electLeader(withOperation(deps, changed), message),
    group: (deps, message, invocation) => group(withOperation(deps, changed), message, invocation),
  };
};
const batchTooLarge = withPolicy(({ maxSize }) => ({ maxSize: 5 * maxSize, maxBytes: 10_000_000 }));
const batchHoldsOneTask = withPolicy(() => ({ maxSize: 1 }));
const batchSealedEarly = withPolicy(({ maxBytes }) => ({ maxBytes: maxBytes / 4 }));
const batchDueTooLate = withPolicy(({ maxWait }) => ({ maxWait: maxWait + 6 * 3_600_000 }));

export const LEADING_BUGS: readonly KnownBug[] = [
  ['guard sent after the lock is acquired', guardAfterAcquire, /a held fence has a guard|every registered task ends/],
  ['open batch cleared before it is stored', openBatchClearedWithoutBatch, /open batch is cleared from its lock only/],
  [
    'throttled claim counted as refused',
    throttledClaimCountsAsRefused,
    /its task is claimed|every registered task ends/,
  ],
  [
    'last claim taken as proof of all claims',
    lastClaimProvesAll,
    /its task is claimed|in this batch|every registered task ends|included in a call/,
  ],
  [
    'rows not read again after the release',
    rowsNotReadAfterRelease,
    /every registered task ends|longer than maxWait/,
    moments.registeredAtRelease,
  ],
  [
    'waiting rows read eventually consistently',
    rowsReadEventually,
    /every registered task ends|longer than maxWait|is sealed at once/,
    scenarios.withoutFaults,
  ],
  [
    'claim ignores the run',
    claimIgnoresRun,
    /a candidate of its batch|counts match|in this batch/,
    scenarios.manyRedrives,
  ],
  ['early guard throws an error', earlyGuardThrows, /fails only because of an injected fault.*SyntaxError/],
  ['early guard delayed for half a lease', earlyGuardDelayed, /longer than maxWait/, scenarios.sustained],
  ['early guard sent twice', earlyGuardSentTwice, /at most two copies of a guard/, scenarios.sustained],
  ['batch exceeds maxSize', batchTooLarge, /at most max/],
  ['batch holds only one task', batchHoldsOneTask, /a batch sealed as full has maxSize/],
  ['batch sealed at a quarter of maxBytes', batchSealedEarly, /only if one more task would exceed/],
  ['batch message sent with a delay', batchMessageDelayed, /a sealed batch is called at once/],
  ['batch due six hours late', batchDueTooLate, /longer than maxWait/, moments.fewTasks],
  [
    'no hint for a batch filled while the lock changed hands',
    noHintWhileLockChangesHands,
    /a full batch is sealed at once/,
    scenarios.fullWhileElected,
  ],
  [
    'hint ignores a released lock',
    hintIgnoresReleasedLock,
    /a full batch is sealed at once/,
    moments.filledAgainAtOnce,
  ],
  [
    'flush ignored while the lock changes hands',
    flushIgnored,
    /a flush seals all waiting tasks/,
    scenarios.manyFlushes,
  ],
];
