/** Responses of `/targets`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { PAUSE, UNDER_WAY } from '../operations/responses.ts';
import { CURSOR, describeCalls, list, moment, onlyTrue, text, whole } from '../shared/answer-schemas.ts';
import { TARGET_CALLS } from './requests.ts';

export const TARGET = z
  .object({
    target: text('The operation and the grouping values, percent-encoded.'),
    operation: text('The operation of the Target.'),
    waiting: whole('Number of waiting tasks, counted up to 1,000.', 0, 1_000),
    waitingIsAtLeast: z.optional(onlyTrue('More tasks than that may be waiting.')),
    oldestAt: z.optional(moment('When the next task to be batched was registered.')),
    leader: z
      .nullable(
        z.object({
          fence: whole('The fence number of the leader.'),
          lockedUntil: moment('When the lease of the leader ends.'),
        }),
      )
      .check(z.describe('The leader that groups the tasks of the Target at the moment; null if there is none.')),
    openBatch: z.optional(text('The batch that is being sealed.')),
    paused: z.optional(PAUSE),
    blocked: z.optional(
      z
        .object({ since: moment('Since when the oldest task of the Target has been waiting.') })
        .check(z.describe('Present if the Target waits for a free slot of its operation, or for the end of a pause.')),
    ),
    waitsForLimit: z.optional(onlyTrue('Its batch is due, and a limit delays the start of its call.')),
    underWay: z.optional(UNDER_WAY),
    failed: z.optional(whole('Number of failed tasks, counted up to 100. Present with `sort=failed`.', 0, 100)),
    inFlight: z.optional(
      list(
        z.string(),
        'The ids of the batches of the Target that are in progress. Present only if `concurrency.perTarget` is set.',
      ),
    ),
  })
  .check(z.meta({ id: 'Target', description: 'A Target: its waiting tasks, its leader and its batches.' }));
const PAGE = z
  .object({
    targets: list(TARGET, 'The Targets: by name, or as `sort` says.'),
    looked: z.optional(
      whole('With `sort` or `search`: number of Targets that the request looked at. `cursor` leads to the others.'),
    ),
    found: z.optional(
      whole('With `sort`: number of these Targets that have some. At most `limit` of them are listed.'),
    ),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'TargetPage' }));
export const FLUSHED = z
  .object({ target: text('The Target.'), waiting: whole('Number of waiting tasks, counted up to 1,000.') })
  .check(z.meta({ id: 'Flushed' }));

export type Target = z.infer<typeof TARGET>;
export type TargetPage = z.infer<typeof PAGE>;

export const TARGETS_DESCRIBED = describeCalls(TARGET_CALLS, {
  listTargets: {
    summary: 'Lists Targets',
    answers: { 200: { description: 'A page of Targets.', schema: PAGE } },
  },
  flushTarget: {
    summary: 'Seals the waiting tasks of a Target now',
    example: { target: 'distribute-parcels/carrier=DHL/depot=MUC' },
    answers: {
      202: {
        description: 'The flush was requested.',
        schema: FLUSHED,
        example: { target: 'distribute-parcels/carrier=DHL/depot=MUC', waiting: 7 },
      },
    },
    problems: {
      404: 'No task was ever registered for the Target.',
      409: 'The operation of the Target is no longer configured.',
    },
  },
});
