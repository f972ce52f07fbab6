/** An operation: how its tasks are grouped, batched, called about and told of; and what cannot go together. */
import * as z from 'zod';
import { MINUTE } from '../../batching/timings.ts';
import { printDuration } from '../duration.ts';
import { ITEMS_MAX_BYTES } from '../endpoints.ts';
import { attemptTime } from '../resolved.ts';
import { downstreamSchema } from './endpoints.ts';
import { DAY, duration, fault, HOUR, must, number, section, text, whole } from './rules.ts';

/** Lambda ends any function after this long. */
const LAMBDA_MAX = 15 * MINUTE;
const MAX_BYTES = 900_000;
const MAX_WAIT = 1_000;

const batchSchema = section({
  maxSize: whole(1, 1_000).default(100),
  maxBytes: whole(1_000, 6_000_000).optional(),
  maxWeight: number(0, 1_000_000_000).default(0),
  maxWait: duration(0, 7 * DAY).optional(),
  quietPeriod: duration(0, DAY).default(0),
  minSize: whole(1, 1_000).default(1),
  window: duration(1_000, DAY).nullable().default(null),
});

const retrySchema = section({
  immediate: whole(0, 10).default(1),
  maxAttempts: whole(1, 100).default(5),
  minDelay: duration(0, DAY).default(1_000),
  maxDelay: duration(0, DAY).default(5 * MINUTE),
  bisect: z.boolean(must('true or false')).default(true),
});

const cap = whole(1, 1_000).nullable().default(null);
const concurrencySchema = section({ perTarget: cap, total: cap });

const MERGE_KEYS = /^[^.[\]\s]+(?:\.[^.[\]\s]+)*\[\](?:\.[^.[\]\s]+)*$/;
const mergeSchema = section({
  keys: text(MERGE_KEYS, 'the path of a list in the payload and of the key in its elements, such as "inputs[].id"'),
});

const destinationName = z.string(must('the name of a destination')).nullable().default(null);
const callbacksSchema = section({ failed: destinationName, succeeded: destinationName });

const circuitSchema = section({
  failures: whole(1, 1_000).default(5),
  coolDown: duration(1_000, 15 * MINUTE).default(30_000),
});

const operationShape = section({
  target: z
    .array(
      z.string(must('the name of a payload field')).min(1, must('the name of a payload field')),
      must('a list of payload fields'),
    )
    .max(10, must('at most ten payload fields'))
    .refine((keys) => new Set(keys).size === keys.length, must('a list without repetitions')),
  batch: batchSchema.prefault({}),
  merge: mergeSchema.nullable().default(null),
  bypass: section({ bytes: whole(1, 6_000_000) })
    .nullable()
    .default(null),
  concurrency: concurrencySchema.prefault({}),
  downstream: downstreamSchema,
  retry: retrySchema.prefault({}),
  callbacks: callbacksSchema.prefault({}),
  rateLimit: number(0.001, 1_000).nullable().default(null),
  circuit: circuitSchema.nullable().prefault({}),
  shards: whole(1, 1_000).default(1),
  keepTasks: duration(HOUR, 3_650 * DAY).default(30 * DAY),
});

type Shape = z.output<typeof operationShape>;

const checkBatch = ({ batch, bypass, downstream }: Shape, context: z.RefinementCtx): void => {
  const { maxSize, minSize, maxBytes, maxWait, quietPeriod, window } = batch;
  const most = ITEMS_MAX_BYTES[downstream.kind];
  if (minSize > maxSize)
    fault(context, ['batch', 'minSize'], 'must not be more than batch.maxSize: no batch gets there');
  if (maxBytes !== undefined && maxBytes > most)
    fault(
      context,
      ['batch', 'maxBytes'],
      `must not be more than ${most}: a call to a ${downstream.kind} holds no more`,
    );
  if (window !== null) {
    if (maxWait !== undefined)
      fault(context, ['batch', 'maxWait'], 'is replaced by batch.window: leave one of them out');
    if (quietPeriod > 0)
      fault(
        context,
        ['batch', 'quietPeriod'],
        'does not go with batch.window, which ends when it ends: leave one of them out',
      );
  } else if (quietPeriod > 0 && quietPeriod >= (maxWait ?? MAX_WAIT))
    fault(
      context,
      ['batch', 'quietPeriod'],
      `must be shorter than batch.maxWait (${printDuration(maxWait ?? MAX_WAIT)}), which ends the wait anyway`,
    );
  if (minSize > 1 && quietPeriod === 0)
    fault(
      context,
      ['batch', 'minSize'],
      'only matters with batch.quietPeriod: a Target that is quiet is not sealed below it',
    );
  if (bypass && window === null) fault(context, ['bypass'], 'needs batch.window: there is nothing else to be skipped');
  if (bypass && bypass.bytes > (maxBytes ?? Math.min(MAX_BYTES, most)))
    fault(context, ['bypass', 'bytes'], 'must not be more than batch.maxBytes: no request is that large');
};

const checkTogether = ({ merge, concurrency, shards }: Shape, context: z.RefinementCtx): void => {
  const { perTarget, total } = concurrency;
  if (perTarget !== null && total !== null && perTarget > total)
    fault(context, ['concurrency', 'perTarget'], 'must not be more than concurrency.total, which is reached before');
  if (perTarget !== null && shards > 1)
    fault(context, ['shards'], 'must be 1 with concurrency.perTarget: each shard would have the cap for itself');
  if (merge && perTarget !== null && perTarget !== 1)
    fault(
      context,
      ['concurrency', 'perTarget'],
      'must be 1 (or left out) with merge: two jobs at once would do the same keys twice',
    );
  if (merge && shards > 1)
    fault(context, ['shards'], 'must be 1 with merge: requests with the same keys would not meet');
};

const checkTimes = ({ downstream, retry, keepTasks }: Shape, context: z.RefinementCtx): void => {
  if (retry.minDelay > retry.maxDelay) fault(context, ['retry', 'minDelay'], 'must not be longer than retry.maxDelay');
  const attempt = attemptTime(downstream.timeout, retry.immediate);
  const longest = Math.max(attempt, downstream.deadline);
  if (keepTasks < retry.maxAttempts * (retry.maxDelay + longest))
    fault(
      context,
      ['keepTasks'],
      `must be at least retry.maxAttempts × (retry.maxDelay + ${printDuration(longest)} for an attempt): a batch must not outlive the results of its first attempts`,
    );
  if (attempt > LAMBDA_MAX)
    fault(
      context,
      ['downstream', 'timeout'],
      `is too long for ${retry.immediate + 1} calls in one function: timeout × (retry.immediate + 1) + 10 s must stay within 15 minutes; lower one of them`,
    );
};

/** With what follows from its values filled in. */
export const operationSchema = operationShape
  .superRefine((operation, context) => {
    checkBatch(operation, context);
    checkTogether(operation, context);
    checkTimes(operation, context);
  })
  .transform(({ batch, bypass, concurrency, ...rest }) => ({
    ...rest,
    batch: {
      ...batch,
      maxBytes: batch.maxBytes ?? Math.min(MAX_BYTES, ITEMS_MAX_BYTES[rest.downstream.kind]),
      maxWait: batch.window ?? batch.maxWait ?? MAX_WAIT,
      bypass: bypass?.bytes ?? null,
    },
    // Merging runs one job of a Target at a time: what one has done the next one need not do.
    concurrency: { ...concurrency, perTarget: rest.merge ? 1 : concurrency.perTarget },
  }));

/** What may be meant by an unknown key. */
export const operationKeys: Readonly<Record<string, readonly string[]>> = {
  operation: Object.keys(operationShape.shape),
  batch: Object.keys(batchSchema.shape),
  merge: Object.keys(mergeSchema.shape),
  bypass: ['bytes'],
  concurrency: Object.keys(concurrencySchema.shape),
  retry: Object.keys(retrySchema.shape),
  callbacks: Object.keys(callbacksSchema.shape),
  circuit: Object.keys(circuitSchema.shape),
};
