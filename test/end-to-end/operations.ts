/**
 * All operations that the suite uses, so that one deployment serves every test file. A test that waits for `maxWait`
 * needs a short one; a test that looks at waiting tasks needs a long one.
 */

import type { Config } from '../../src/domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../../src/domain/config/schema/config.ts';

type OperationInput = ConfigInput['operations'][string];
export interface Fields extends Partial<Omit<OperationInput, 'target' | 'downstream'>> {
  /** Timeout of a call. The default is long enough for a downstream on a busy machine. */
  readonly timeout?: OperationInput['downstream']['timeout'];
}

/** An operation that calls `url`. */
export const operationAt = (url: string, { timeout = '20s', ...fields }: Fields = {}): OperationInput => ({
  ...fields,
  target: ['depot'],
  downstream: { kind: 'http', url, timeout },
  batch: { maxSize: 10, ...(fields.batch?.window ? {} : { maxWait: '300ms' }), ...fields.batch },
  retry: { minDelay: '100ms', maxDelay: '1s', ...fields.retry },
});

/** The queue of the destination `told`. */
export const TOLD_QUEUE = 'groupage-suite-told';
/** Queues of the destinations for fan-outs and for deferred lists: one test file reads each of them, and deletes it. */
export const FAN_OUTS_QUEUE = 'groupage-suite-fan-outs';
export const LISTS_QUEUE = 'groupage-suite-lists';

const OPERATIONS = {
  ship: {},
  /** Batches become full before `maxWait` is over. */
  burst: { batch: { maxSize: 50, maxWait: '5s' } },
  shapes: { batch: { maxSize: 50, maxBytes: 300_000, maxWait: '400ms' } },
  /** Batches wait until they are full or flushed. */
  patient: { batch: { maxSize: 8, maxWait: '10m' } },
  /** Small batches with a long `maxWait`. */
  pair: { batch: { maxSize: 2, maxWait: '10m' } },
  /** No circuit, so that every attempt is made. */
  failing: { retry: { maxAttempts: 3 }, circuit: null },
  hanging: { timeout: '1s' },
  /** Three requests fill a job; fewer wait for a flush. */
  merging: { batch: { maxSize: 3, maxWait: '10m' }, merge: { keys: 'inputs[].id' } },
  /** A batch waits for exactly four tasks. */
  four: { batch: { maxSize: 4, maxWait: '10m' } },
  /** A batch waits until no task arrives for the quiet period. */
  quiet: { batch: { maxSize: 50, maxWait: '10m', quietPeriod: '700ms' } },
  heavy: { batch: { maxSize: 50, maxWeight: 10, maxWait: '500ms' } },
  /** One batch in flight for each Target. */
  single: { batch: { maxSize: 2, maxWait: '200ms' }, concurrency: { perTarget: 1 } },
  /** Two batches in flight for the operation. */
  capped: { batch: { maxSize: 2, maxWait: '200ms' }, concurrency: { total: 2 } },
  hundred: { batch: { maxSize: 100, maxWait: '10m' } },
  /** A function has five seconds for its calls; then the next invocation continues. */
  unhurried: { batch: { maxSize: 16, maxWait: '10m' }, timeout: '40s', retry: { immediate: 0 } },
  /** One batch in flight for each Target, under every fault. */
  alone: {
    batch: { maxSize: 2, maxWait: '200ms' },
    concurrency: { perTarget: 1 },
    timeout: '1s',
    retry: { maxAttempts: 30 },
    circuit: null,
  },
  /**
   * Two attempts are enough for no task to fail while the downstream is down: the attempts of one batch alone open the
   * circuit.
   */
  broken: {
    batch: { maxSize: 2, maxWait: '200ms' },
    concurrency: { total: 4 },
    retry: { immediate: 0, maxAttempts: 2 },
    circuit: { failures: 2, coolDown: '1s' },
  },
  /** A wrong configuration must not use up the only attempt. */
  locked: { retry: { immediate: 0, maxAttempts: 1 }, circuit: { failures: 5, coolDown: '10m' } },
  /** One job at a time, which reports later. */
  later: { batch: { maxSize: 4, maxWait: '200ms' }, concurrency: { total: 1 } },
  told: { batch: { maxSize: 2, maxWait: '10m' }, callbacks: { failed: 'told', succeeded: 'told' } },
  /** Short windows, and one job at a time. */
  windowed: { batch: { maxSize: 100, window: '1s' }, merge: { keys: 'inputs[].id' }, concurrency: { total: 1 } },
  /** Weight, quiet period, caps, retries and rate limit at once. */
  all: {
    batch: { maxSize: 20, maxWeight: 6, maxWait: '3s', quietPeriod: '300ms' },
    concurrency: { perTarget: 1, total: 3 },
    retry: { maxAttempts: 20 },
    rateLimit: 3,
    circuit: null,
  },
  /** Batches that call once a second, under a limit that counts everything. */
  metered: {
    batch: { maxSize: 4, maxWeight: 8, maxWait: '200ms' },
    limits: ['vendor'],
    retry: { immediate: 0, maxAttempts: 20 },
    circuit: null,
  },
} satisfies Record<string, Fields>;

export type OperationOfSuite = keyof typeof OPERATIONS;

/** @param url of the downstream of all operations. @param told name of the destination's queue */
export const suiteInput = (url: string, told = TOLD_QUEUE): ConfigInput => ({
  limits: { vendor: { calls: 2, weight: 60, per: '2s', concurrency: { calls: 2, weight: 16 } } },
  operations: Object.fromEntries(Object.entries(OPERATIONS).map(([name, fields]) => [name, operationAt(url, fields)])),
  destinations: {
    told: { kind: 'queue', name: told },
    'fan-outs': { kind: 'queue', name: FAN_OUTS_QUEUE },
    lists: { kind: 'queue', name: LISTS_QUEUE },
  },
});

export const suiteConfig = (url: string, told?: string): Config => configFrom(suiteInput(url, told));

/** @throws Error with every problem */
export const configFrom = (input: ConfigInput): Config => {
  const config = parseConfig(input);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return config.value;
};
