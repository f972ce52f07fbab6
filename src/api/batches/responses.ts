/** Responses of `/batches`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { BatchStatus } from '../../domain/batches/batch.ts';
import type { SealReason } from '../../domain/batches/policy.ts';
import { CURSOR, describeCalls, list, moment, number, text, whole, word } from '../shared/answer-schemas.ts';
import { BATCH_CALLS } from './requests.ts';

const outline = {
  id: text('Its id.'),
  operation: text('Its operation.'),
  target: text('Its Target.'),
  status: word<BatchStatus>('How far it is', {
    forming: 'its tasks are being claimed',
    sealed: 'it has its tasks, and is to be called about',
    'in-progress': 'it is called about, attempt after attempt',
    succeeded: 'all of its tasks have',
    'partly-failed': 'some of its tasks failed',
    failed: 'all of its tasks did',
  }),
  sealedBy: word<SealReason>('Why it was sealed', {
    full: '`batch.maxSize`',
    bytes: '`batch.maxBytes`',
    weight: '`batch.maxWeight`',
    waited: '`batch.maxWait`, or the end of its window',
    quiet: '`batch.quietPeriod`',
    bypass: 'a large task goes alone (`bypass`)',
    flush: 'somebody wanted it',
  }),
  size: whole('Its tasks.'),
  fill: z.optional(
    number('Its size as a share of `batch.maxSize`; missing where its operation is not configured any more.'),
  ),
  attempt: whole('Numbers its attempts.'),
  attempts: whole('Attempts that count against `retry.maxAttempts`.'),
  pending: z.optional(whole('Tasks with a job that reports later.')),
  counts: z.optional(
    z
      .object({ succeeded: whole('How many of its tasks did.'), failed: whole('How many of its tasks did.') })
      .check(z.meta({ id: 'Counts', description: 'How its tasks ended.' })),
  ),
  oldestAt: moment('When its oldest task was registered.'),
  createdAt: moment('When it was begun.'),
  sealedAt: z.optional(moment('When it was sealed.')),
  startedAt: z.optional(moment('When its first attempt began.')),
  finishedAt: z.optional(moment('When it ended.')),
  lastAttempt: z.optional(
    z
      .object({ endedAt: moment('When.'), reason: text('Why; it may quote the downstream.') })
      .check(z.meta({ id: 'LastAttempt', description: 'How its last attempt ended after which another was to come.' })),
  ),
  nextAttemptAfter: z.optional(moment('While it is in progress: when its next attempt is, at the earliest.')),
};

const BATCH = z
  .object({ ...outline, members: list(z.string(), 'The ids of its tasks.') })
  .check(z.meta({ id: 'Batch', description: 'A batch.' }));
export const BATCH_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'BatchOutline', description: 'A batch, without its members.' }));

const PAGE = z
  .object({ batches: list(BATCH_OUTLINE, 'Newest first.'), cursor: CURSOR })
  .check(z.meta({ id: 'BatchPage' }));
const COMPLETION_TAKEN = z.object({ id: text("The batch's id.") }).check(z.meta({ id: 'CompletionTaken' }));

export type Batch = z.infer<typeof BATCH>;
export type BatchOutline = z.infer<typeof BATCH_OUTLINE>;
export type BatchPage = z.infer<typeof PAGE>;

export const BATCHES_DESCRIBED = describeCalls(BATCH_CALLS, {
  listBatches: {
    summary: 'The batches of a Target',
    answers: { 200: { description: 'A page of them, newest first.', schema: PAGE } },
    problems: { 404: 'No task of the Target was ever registered.' },
  },
  getBatch: {
    summary: 'A batch',
    answers: { 200: { description: 'The batch.', schema: BATCH } },
    problems: { 404: 'There is no such batch, or its id is not URL-encoded.' },
  },
  completeBatch: {
    summary: 'Reports how the job of a batch ended',
    answers: {
      202: {
        description: 'The report is on its way.',
        schema: COMPLETION_TAKEN,
        example: { id: 'distribute-parcels/carrier=DHL/depot=MUC#3#1' },
      },
    },
    problems: { 404: 'There is no such batch.', 409: 'It is not in progress.' },
  },
});
