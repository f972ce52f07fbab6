/**
 * All operations that the suite uses, so that one deployment serves every test file. They differ in what a test needs:
 * a test that waits for a batch's age wants a short one, a test that looks at waiting tasks a long one.
 */

import type { Config } from '../../src/domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../../src/domain/config/schema/config.ts';

type OperationInput = ConfigInput['operations'][string];
export interface Fields extends Partial<Omit<OperationInput, 'target' | 'downstream'>> {
  /** Of a call; long enough for a downstream on a busy machine where nothing is said. */
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

/** The queue of the destination that operations name. */
export const TOLD_QUEUE = 'groupage-suite-told';
/**
 * Those of the destinations that are told of fan-outs alone, and of deferred lists: one file reads each, and takes it
 * away.
 */
export const FAN_OUTS_QUEUE = 'groupage-suite-fan-outs';
export const LISTS_QUEUE = 'groupage-suite-lists';

const OPERATIONS = {
  ship: {},
  /** Batches that fill before they are old. */
  burst: { batch: { maxSize: 50, maxWait: '5s' } },
  shapes: { batch: { maxSize: 50, maxBytes: 300_000, maxWait: '400ms' } },
  /** Waits until it is full or flushed. */
  patient: { batch: { maxSize: 8, maxWait: '10m' } },
  /** Small batches that wait for long. */
  pair: { batch: { maxSize: 2, maxWait: '10m' } },
  /** Not held up by a circuit, so that attempts can be counted. */
  failing: { retry: { maxAttempts: 3 }, circuit: null },
  hanging: { timeout: '1s' },
  /** Three requests become one job; fewer wait for a flush. */
  merging: { batch: { maxSize: 3, maxWait: '10m' }, merge: { keys: 'inputs[].id' } },
  /** Exactly these four together. */
  four: { batch: { maxSize: 4, maxWait: '10m' } },
  /** Waits until nothing comes any more. */
  quiet: { batch: { maxSize: 50, maxWait: '10m', quietPeriod: '700ms' } },
  heavy: { batch: { maxSize: 50, maxWeight: 10, maxWait: '500ms' } },
  /** One batch of a Target at a time. */
  single: { batch: { maxSize: 2, maxWait: '200ms' }, concurrency: { perTarget: 1 } },
  /** Two batches at a time. */
  capped: { batch: { maxSize: 2, maxWait: '200ms' }, concurrency: { total: 2 } },
  hundred: { batch: { maxSize: 100, maxWait: '10m' } },
  /** A function has five seconds for calls before it has to leave the rest to the next one. */
  unhurried: { batch: { maxSize: 16, maxWait: '10m' }, timeout: '40s', retry: { immediate: 0 } },
  /** One batch of a Target at a time, whatever goes wrong. */
  alone: {
    batch: { maxSize: 2, maxWait: '200ms' },
    concurrency: { perTarget: 1 },
    timeout: '1s',
    retry: { maxAttempts: 30 },
    circuit: null,
  },
  /**
   * Fails no task while its downstream is down, though there are but two attempts: even those of one batch, while the others
   * are late, open the circuit.
   */
  broken: {
    batch: { maxSize: 2, maxWait: '200ms' },
    concurrency: { total: 4 },
    retry: { immediate: 0, maxAttempts: 2 },
    circuit: { failures: 2, coolDown: '1s' },
  },
  /** The only attempt is not lost to a configuration that is wrong. */
  locked: { retry: { immediate: 0, maxAttempts: 1 }, circuit: { failures: 5, coolDown: '10m' } },
  /** One job at a time, which may report later. */
  later: { batch: { maxSize: 4, maxWait: '200ms' }, concurrency: { total: 1 } },
  told: { batch: { maxSize: 2, maxWait: '10m' }, callbacks: { failed: 'told', succeeded: 'told' } },
  /** Short windows, one job at a time. */
  windowed: { batch: { maxSize: 100, window: '1s' }, merge: { keys: 'inputs[].id' }, concurrency: { total: 1 } },
  /** Everything at once. */
  all: {
    batch: { maxSize: 20, maxWeight: 6, maxWait: '3s', quietPeriod: '300ms' },
    concurrency: { perTarget: 1, total: 3 },
    retry: { maxAttempts: 20 },
    rateLimit: 3,
    circuit: null,
  },
} satisfies Record<string, Fields>;

export type OperationOfSuite = keyof typeof OPERATIONS;

/** @param url of the downstream of all of them. @param told queue of the destination. */
export const suiteInput = (url: string, told = TOLD_QUEUE): ConfigInput => ({
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
