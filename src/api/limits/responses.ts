/** Responses of `/limits`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { CURSOR, describeCalls, list, moment, number, onlyTrue, text, whole } from '../shared/answer-schemas.ts';
import { LIMIT_CALLS } from './requests.ts';
import { NEXT_SHOWN, WAITING_COUNTED } from './views.ts';

const limit = {
  limit: text('The name of the limit, or `rate:OPERATION` for the `rateLimit` of an operation.'),
  operations: list(z.string(), 'The operations whose calls count.'),
  calls: z.optional(number('Most calls that start in any span of `perSeconds`.')),
  weight: z.optional(number('Largest sum of the task weights of these calls.')),
  perSeconds: number('The length of the span, in seconds.'),
  burst: whole('How many calls may start at once. With 1, calls are evenly paced.', 1),
  key: z.optional(
    z
      .union([z.literal('target'), z.array(z.string())])
      .check(z.describe('Which calls share a bucket: fields of the payload, or the Target. Missing: all calls.')),
  ),
  concurrency: z.optional(
    z
      .object({
        calls: z.optional(whole('Most calls in progress.', 1)),
        weight: z.optional(number('Largest sum of their task weights.')),
      })
      .check(z.describe('Present if the limit counts calls in progress.')),
  ),
};

/** How much is used of what a bucket allows. */
const use = (description: string) =>
  z.object({ used: number('Used now.'), allowed: number('Allowed by the limit.') }).check(z.describe(description));

export const BUCKET = z
  .object({
    key: z.optional(text('The key of the bucket, such as `account=17`. Missing if the limit has none.')),
    part: z.optional(
      whole('The number of the part, if the limit is divided because it allows more than one row can store.'),
    ),
    nextAt: z.optional(
      moment(
        'When the first waiting call may start, or, if none waits, a call of weight 1. In the past: at once. Missing if a call in progress has to end first.',
      ),
    ),
    calls: z.optional(use('Calls that started, or will start, in the last span. Missing if calls are evenly paced.')),
    weight: z.optional(use('The weight of these calls.')),
    inProgress: z.optional(use('Calls in progress, if the limit counts them.')),
    weightInProgress: z.optional(use('The weight of the calls in progress, if the limit counts it.')),
    planned: z.optional(
      whole('About how many calls have been promised a start in the next seconds, up to about a minute ahead.', 1),
    ),
    waiting: whole(
      `How many Targets and batches wait for a call, counted up to ${WAITING_COUNTED}.`,
      0,
      WAITING_COUNTED,
    ),
    waitingIsAtLeast: z.optional(onlyTrue('More may be waiting.')),
    next: list(
      z.object({
        target: text('The Target that waits.'),
        batchId: z.optional(text('The batch that waits for another attempt. Missing if the Target waits to seal one.')),
        since: moment('When the oldest of its tasks was registered.'),
        weight: number('The weight of its call.'),
      }),
      `The first of them, at most ${NEXT_SHOWN}.`,
    ),
  })
  .check(z.meta({ id: 'LimitBucket', description: 'The calls of a limit that count together.' }));

export const LIMIT = z
  .object(limit)
  .check(z.meta({ id: 'Limit', description: 'A limit of calls that operations share.' }));
const LIMITS = z.object({ limits: list(LIMIT, 'All configured limits.') }).check(z.meta({ id: 'LimitList' }));
const LIMIT_DETAILS = z
  .object({
    ...limit,
    buckets: list(BUCKET, 'Its buckets by key. A bucket is listed after its first call, until it is idle for 7 days.'),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'LimitDetails', description: 'A limit, and a page of its buckets.' }));

export type Limit = z.infer<typeof LIMIT>;
export type LimitBucket = z.infer<typeof BUCKET>;

export const LIMITS_DESCRIBED = describeCalls(LIMIT_CALLS, {
  listLimits: {
    summary: 'Lists the configured limits',
    answers: {
      200: { description: 'All configured limits, and those that a `rateLimit` is short for.', schema: LIMITS },
    },
  },
  getLimit: {
    summary: 'Gets a limit, with the use and the queue of its buckets',
    answers: { 200: { description: 'The limit, and a page of its buckets.', schema: LIMIT_DETAILS } },
    problems: { 404: 'The limit is not configured.' },
  },
});
