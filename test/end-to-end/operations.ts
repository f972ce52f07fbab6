/**
 * All operations that the suite uses, so that one deployment serves every test file. They differ in what a test needs:
 * a test that waits for a batch's age wants a short one, a test that looks at waiting tasks a long one.
 */

import type { Config } from '../../src/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../../src/config/schema.ts';

type OperationInput = ConfigInput['operations'][string];
export interface Fields extends Pick<Partial<OperationInput>, 'batch' | 'retry' | 'merge' | 'concurrency'> {
  /** Of a call; long enough for a downstream on a busy machine where nothing is said. */
  readonly timeout?: OperationInput['downstream']['timeout'];
}

/** An operation that calls `url`. */
export const operationAt = (url: string, { timeout = '20s', ...fields }: Fields = {}): OperationInput => ({
  target: ['depot'],
  downstream: { kind: 'http', url, timeout },
  batch: { maxSize: 10, maxWait: '300ms', ...fields.batch },
  retry: { minDelay: '100ms', maxDelay: '1s', ...fields.retry },
  ...(fields.merge ? { merge: fields.merge } : {}),
  ...(fields.concurrency ? { concurrency: fields.concurrency } : {}),
});

const OPERATIONS = {
  ship: {},
  /** Batches that fill before they are old. */
  burst: { batch: { maxSize: 50, maxWait: '5s' } },
  shapes: { batch: { maxSize: 50, maxBytes: 300_000, maxWait: '400ms' } },
  /** Waits until it is full or flushed. */
  patient: { batch: { maxSize: 8, maxWait: '10m' } },
  /** Small batches that wait for long. */
  pair: { batch: { maxSize: 2, maxWait: '10m' } },
  failing: { retry: { maxAttempts: 3 } },
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
} satisfies Record<string, Fields>;

export type OperationOfSuite = keyof typeof OPERATIONS;

/** @param url of the downstream of all of them. */
export const suiteInput = (url: string): ConfigInput => ({
  operations: Object.fromEntries(Object.entries(OPERATIONS).map(([name, fields]) => [name, operationAt(url, fields)])),
});

export const suiteConfig = (url: string): Config => configFrom(suiteInput(url));

/** @throws Error with every problem */
export const configFrom = (input: ConfigInput): Config => {
  const config = parseConfig(input);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return config.value;
};
