import { describe, expect, it } from 'vitest';
import { HTTP, problemsOf } from './problems.ts';

const MERGE = { keys: 'inputs[].id' };
const MACHINE = { kind: 'step-functions', stateMachine: 'jobs' };
const QUEUE = { kind: 'queue', name: 'jobs' };
/** So short that the retries need little time. */
const BRISK = { maxAttempts: 1, maxDelay: '1s' };

describe('a combination of values is refused', () => {
  it.each<[object, string]>([
    [{ target: ['ü'.repeat(90)] }, 'target has names so long that no values fit: a Target has at most 512 bytes'],
    [
      { batch: { minSize: 500, quietPeriod: '1ms' } },
      'batch.minSize must not be more than batch.maxSize (100): no batch reaches it',
    ],
    [
      { batch: { minSize: 5 } },
      'batch.minSize has an effect only with batch.quietPeriod: set quietPeriod too, or leave minSize out',
    ],
    [
      { batch: { minSize: 5, window: '5m' } },
      'batch.minSize has an effect only with batch.quietPeriod: set quietPeriod too, or leave minSize out',
    ],
    [
      { batch: { minSize: 100, quietPeriod: '1ms' } },
      'batch.minSize must be less than batch.maxSize (100): a full batch is sealed anyway, so batch.quietPeriod would have no effect',
    ],
    [
      { downstream: MACHINE, batch: { maxBytes: 250_001 } },
      'batch.maxBytes must not be more than 250000: a call of kind step-functions cannot hold more',
    ],
    [
      { downstream: QUEUE, batch: { maxBytes: 1_000_001 } },
      'batch.maxBytes must not be more than 1000000: a call of kind queue cannot hold more',
    ],
    [
      { downstream: { ...HTTP, legacySignature: false } },
      'downstream.legacySignature has an effect only with downstream.secret: without it, calls have no signature. Set secret too, or leave legacySignature out',
    ],
    [{ bypass: { bytes: 5 } }, 'bypass needs batch.window: a large task skips only the wait for a window'],
    [
      { batch: { window: '5m', maxBytes: 2_000 }, bypass: { bytes: 2_001 } },
      'bypass.bytes must not be more than batch.maxBytes (2000): no task is that large',
    ],
    [
      { downstream: MACHINE, batch: { window: '5m' }, bypass: { bytes: 260_000 } },
      'bypass.bytes must not be more than batch.maxBytes (250000): no task is that large',
    ],
    [
      { batch: { window: '5m', maxWait: '1s' } },
      'batch.maxWait cannot be combined with batch.window, which replaces it: leave one of the two out',
    ],
    [
      { batch: { window: '5m', quietPeriod: '1s' } },
      'batch.quietPeriod cannot be combined with batch.window, whose end is fixed: leave one of the two out',
    ],
    [
      { batch: { quietPeriod: '1s' } },
      'batch.quietPeriod must be shorter than batch.maxWait (1s), which seals the batch anyway: lower quietPeriod or raise maxWait',
    ],
    [
      { batch: { quietPeriod: '1ms', maxWait: '0s' } },
      'batch.quietPeriod must be shorter than batch.maxWait (0ms), which seals the batch anyway: lower quietPeriod or raise maxWait',
    ],
    [
      { merge: MERGE, concurrency: { perTarget: 2, total: 1 } },
      'concurrency.perTarget must be 1 (or left out) with merge: two jobs at once would process the same keys twice',
    ],
    [
      { concurrency: { perTarget: 3, total: 2 } },
      'concurrency.perTarget must not be more than concurrency.total (2), which is reached first',
    ],
    [{ merge: MERGE, shards: 2 }, 'shards must be 1 with merge: tasks with the same keys would be in different shards'],
    [
      { concurrency: { perTarget: 1 }, shards: 2 },
      'shards must be 1 with concurrency.perTarget: the cap would apply to each shard separately',
    ],
    [{ retry: { minDelay: '10m' } }, 'retry.minDelay is 10m: it must not be longer than retry.maxDelay (5m)'],
    [{ retry: { maxDelay: '100ms' } }, 'retry.minDelay is 1s: it must not be longer than retry.maxDelay (100ms)'],
    [
      { downstream: { ...HTTP, timeout: '4m' }, retry: { immediate: 3 } },
      'downstream.timeout is too long for 4 calls in one invocation: timeout × (retry.immediate + 1) + 10 s must not exceed 15 minutes; lower timeout or retry.immediate',
    ],
    [
      // Four times this, and 10 s, exceed 900 s.
      { downstream: { ...HTTP, timeout: '222501ms' }, retry: { immediate: 3 } },
      'downstream.timeout is too long for 4 calls in one invocation: timeout × (retry.immediate + 1) + 10 s must not exceed 15 minutes; lower timeout or retry.immediate',
    ],
    [
      { keepTasks: '1h' },
      'keepTasks must be at least 325m, retry.maxAttempts × (retry.maxDelay + downstream.deadline): otherwise results of the first attempts are deleted before the last attempt',
    ],
    [
      { downstream: QUEUE, keepTasks: '1h', retry: { maxDelay: '1h' } },
      'keepTasks must be at least 18150s, retry.maxAttempts × (retry.maxDelay + the duration of an attempt): otherwise results of the first attempts are deleted before the last attempt',
    ],
    [
      { merge: MERGE, batch: { window: '1d' }, keepTasks: '23h', retry: BRISK },
      'keepTasks must be at least 1d with merge, the longest wait of a batch: otherwise finished keys are deleted before the next request for them',
    ],
  ])('%#: %s', (operation, problem) => expect(problemsOf(operation)).toEqual([problem]));
});

describe('a combination of values is accepted', () => {
  it.each<[object]>([
    [{ target: ['a'.repeat(500)] }],
    [{ batch: { maxSize: 100, minSize: 99, quietPeriod: '1ms' } }],
    [{ batch: { maxSize: 1, minSize: 1 } }],
    [{ batch: { quietPeriod: '999ms' } }],
    [{ batch: { window: '2h', maxWeight: 5, minSize: 1 }, shards: 4, bypass: { bytes: 262_144 } }],
    [{ downstream: MACHINE, batch: { maxBytes: 250_000, window: '5m' }, bypass: { bytes: 250_000 } }],
    [{ merge: MERGE, concurrency: { perTarget: 1, total: 1 }, batch: { window: '5m' } }],
    [{ merge: MERGE, batch: { window: '1d' }, keepTasks: '1d', retry: BRISK }],
    [{ batch: { window: '1d' }, keepTasks: '2h', retry: BRISK }],
    [{ concurrency: { perTarget: 25, total: 25 }, rateLimit: 0.001 }],
    [{ retry: { minDelay: '5m' } }],
    [{ downstream: { ...HTTP, timeout: '222500ms' }, retry: { immediate: 3 } }],
    [{ downstream: QUEUE, keepTasks: '1h' }],
    [{ keepTasks: '325m' }],
    [{ circuit: null, merge: null, bypass: null, rateLimit: null }],
  ])('%#: %s', (operation) => expect(problemsOf(operation)).toEqual([]));
});

it('all problems of a configuration are reported at once', () => {
  const faults = problemsOf({
    batch: { minSize: 500, window: '5m', maxWait: '1s' },
    concurrency: { perTarget: 3 },
    shards: 2,
    retry: { maxDelay: '1ms' },
    keepTasks: '1h',
  });
  expect(faults.map((each) => each.split(' ')[0])).toEqual([
    'batch.minSize',
    'batch.maxWait',
    'shards',
    'retry.minDelay',
    'keepTasks',
  ]);
});
