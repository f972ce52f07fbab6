/** The schema of an operation, key by key. Combinations are checked in `combinations.ts`. */
import * as z from 'zod';
import { OPERATION_NAME_PATTERN } from '../../ids.ts';
import { MOST_SLOTS } from '../../operations/slot-pages.ts';
import { PAYLOAD_MAX_BYTES } from '../../tasks/task.ts';
import { MINUTE } from '../../timings.ts';
import { downstreamSchema } from './endpoints.ts';
import { payloadFields } from './fields.ts';
import { limitNamesSchema } from './named-limits.ts';
import { ruleKeys, rulesSchema } from './producers.ts';
import { DAY, duration, formed, HOUR, must, mustUnseen, number, section, text, whole } from './rules.ts';

const batchSchema = section({
  maxSize: whole(1, 1_000).default(100),
  maxBytes: whole(1_000, 6_000_000).optional(),
  maxWeight: number(0, 1_000_000_000, ', or 0 for no limit').default(0),
  maxWait: duration(0, 7 * DAY).optional(),
  quietPeriod: duration(0, DAY).default(0),
  minSize: whole(1, 1_000).default(1),
  window: duration(1_000, DAY, ', or null for none').nullable().default(null),
});

const retrySchema = section({
  immediate: whole(0, 10).default(1),
  maxAttempts: whole(1, 100).default(5),
  minDelay: duration(0, DAY).default(1_000),
  maxDelay: duration(0, DAY).default(5 * MINUTE),
  bisect: z.boolean(must('true or false')).default(true),
  isolate: z.boolean(must('true or false')).default(true),
});

const cap = whole(1, MOST_SLOTS, ', or null for no limit').nullable().default(null);
const concurrencySchema = section({ perTarget: cap, total: cap });

const MERGE_KEYS = /^[^.[\]\s]+(?:\.[^.[\]\s]+)*\[\](?:\.[^.[\]\s]+)*$/;
const mergeSchema = section(
  {
    keys: text(MERGE_KEYS, 'the path of a list in the payload and of the key in its elements, such as "inputs[].id"'),
  },
  'an object such as {"keys": "inputs[].id"}, or null for none',
);

const bypassSchema = section(
  { bytes: whole(1, PAYLOAD_MAX_BYTES) },
  'an object such as {"bytes": 100000}, or null for none',
);

// The message does not show the value, because it may be an address that contains a secret.
const destinationName = formed(
  OPERATION_NAME_PATTERN,
  mustUnseen('the name of one of the "destinations" (not an address), or null for none'),
)
  .nullable()
  .default(null);
const callbacksSchema = section({ failed: destinationName, succeeded: destinationName });

const circuitSchema = section(
  {
    failures: whole(1, 1_000).default(5),
    coolDown: duration(1_000, 15 * MINUTE).default(30_000),
  },
  'an object, or null for none',
);

export const operationShape = section(
  {
    target: payloadFields(must('a list of payload fields, [] for none')),
    batch: batchSchema.prefault({}),
    merge: mergeSchema.nullable().default(null),
    bypass: bypassSchema.nullable().default(null),
    concurrency: concurrencySchema.prefault({}),
    downstream: downstreamSchema,
    retry: retrySchema.prefault({}),
    callbacks: callbacksSchema.prefault({}),
    rateLimit: number(0.001, 1_000, ' (calls per second), or null for no limit').nullable().default(null),
    limits: limitNamesSchema,
    circuit: circuitSchema.nullable().prefault({}),
    shards: whole(1, 1_000).default(1),
    keepTasks: duration(HOUR, 3_650 * DAY).default(30 * DAY),
    producers: rulesSchema,
  },
  'an object with "target" and "downstream"',
);

/** An operation that {@link operationShape} accepts: each value is valid alone. */
export type OperationShape = z.output<typeof operationShape>;

/** The keys of each section. */
export const operationKeys: Readonly<Record<string, readonly string[]>> = {
  operation: Object.keys(operationShape.shape),
  batch: Object.keys(batchSchema.shape),
  merge: Object.keys(mergeSchema.shape),
  bypass: Object.keys(bypassSchema.shape),
  concurrency: Object.keys(concurrencySchema.shape),
  retry: Object.keys(retrySchema.shape),
  callbacks: Object.keys(callbacksSchema.shape),
  circuit: Object.keys(circuitSchema.shape),
  producers: ruleKeys,
};
