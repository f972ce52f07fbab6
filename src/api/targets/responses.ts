/** Responses of `/targets`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import { PAUSE } from '../operations/responses.ts';
import { CURSOR, describeCalls, list, moment, onlyTrue, text, whole } from '../shared/answer-schemas.ts';
import { TARGET_CALLS } from './requests.ts';

export const TARGET = z
  .object({
    target: text('The operation and the grouping values, percent-encoded.'),
    operation: text('Its operation.'),
    waiting: whole('Tasks that wait, counted up to 1,000.', 0, 1_000),
    waitingIsAtLeast: z.optional(onlyTrue('There may be more.')),
    oldestAt: z.optional(moment('When the task was registered whose turn is next.')),
    leader: z
      .nullable(z.object({ fence: whole('Numbers its leaders.'), lockedUntil: moment('When its lease is over.') }))
      .check(z.describe('Who groups its tasks at the moment.')),
    openBatch: z.optional(text('The batch that is being sealed.')),
    paused: z.optional(PAUSE),
    blocked: z.optional(
      z
        .object({ since: moment('Since when its oldest task waits.') })
        .check(z.describe('It waits for room in its operation, or for the end of its pause.')),
    ),
    inFlight: z.optional(list(z.string(), 'Its batches that are under way, where `concurrency.perTarget` is set.')),
  })
  .check(z.meta({ id: 'Target', description: 'What waits where, and who leads it.' }));
const PAGE = z.object({ targets: list(TARGET, 'By operation.'), cursor: CURSOR }).check(z.meta({ id: 'TargetPage' }));
export const FLUSHED = z
  .object({ target: text('The Target.'), waiting: whole('Tasks that wait, counted up to 1,000.') })
  .check(z.meta({ id: 'Flushed' }));

export type Target = z.infer<typeof TARGET>;
export type TargetPage = z.infer<typeof PAGE>;

export const TARGETS_DESCRIBED = describeCalls(TARGET_CALLS, {
  listTargets: {
    summary: 'What waits where, and who leads it',
    answers: { 200: { description: 'A page of them.', schema: PAGE } },
  },
  flushTarget: {
    summary: 'Seals what waits now',
    example: { target: 'distribute-parcels/carrier=DHL/depot=MUC' },
    answers: {
      202: {
        description: 'It was asked for.',
        schema: FLUSHED,
        example: { target: 'distribute-parcels/carrier=DHL/depot=MUC', waiting: 7 },
      },
    },
    problems: {
      404: 'No task of the Target was ever registered.',
      409: 'Its operation is not configured any more.',
    },
  },
});
