/** `/batches`. */
import * as z from 'zod';
import type { BatchStatus } from '../../../src/domain/batches/batch.ts';
import type { SealReason } from '../../../src/domain/batches/policy.ts';
import { JOB_RESULTS } from '../downstream-call.ts';
import { jobReport } from '../examples.ts';
import { list, moment, number, text, whole, word } from '../fields.ts';
import { CURSOR, paging, type Route, TARGET_ASKED } from './route.ts';

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
  fill: number(
    'Its size as a share of `batch.maxSize`; missing where its operation is not configured any more.',
  ).optional(),
  attempt: whole('Numbers its attempts.'),
  attempts: whole('Attempts that count against `retry.maxAttempts`.'),
  pending: whole('Tasks with a job that reports later.').optional(),
  counts: z
    .object({ succeeded: whole('How many of its tasks did.'), failed: whole('How many of its tasks did.') })
    .meta({ id: 'Counts', description: 'How its tasks ended.' })
    .optional(),
  oldestAt: moment('When its oldest task was registered.'),
  createdAt: moment('When it was begun.'),
  sealedAt: moment('When it was sealed.').optional(),
  startedAt: moment('When its first attempt began.').optional(),
  finishedAt: moment('When it ended.').optional(),
  lastAttempt: z
    .object({ endedAt: moment('When.'), reason: text('Why; it may quote the downstream.') })
    .meta({ id: 'LastAttempt', description: 'How its last attempt ended after which another was to come.' })
    .optional(),
  nextAttemptAfter: moment('While it is in progress: when its next attempt is, at the earliest.').optional(),
};

const BATCH = z
  .object({ ...outline, members: list(z.string(), 'The ids of its tasks.') })
  .meta({ id: 'Batch', description: 'A batch.' });
const BATCH_OUTLINE = z.object(outline).meta({ id: 'BatchOutline', description: 'A batch, without its members.' });

const COMPLETION = z
  .strictObject(JOB_RESULTS)
  .meta({ id: 'JobCompletion', description: 'How a job ended, of the batch in the path: its results, or its inputs.' });

const { batchId: _, ...completion } = jobReport;

export const BATCH_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/batches',
    id: 'listBatches',
    summary: 'The batches of a Target',
    query: { target: { schema: TARGET_ASKED, required: true }, ...paging(20) },
    answers: {
      200: {
        description: 'A page of them, newest first.',
        schema: z.object({ batches: list(BATCH_OUTLINE, 'Newest first.'), cursor: CURSOR }).meta({ id: 'BatchPage' }),
      },
    },
    problems: { 404: 'No task of the Target was ever registered.' },
  },
  {
    method: 'get',
    path: '/batches/{id}',
    id: 'getBatch',
    summary: 'A batch',
    answers: { 200: { description: 'The batch.', schema: BATCH } },
    problems: { 404: 'There is no such batch, or its id is not URL-encoded.' },
  },
  {
    method: 'post',
    path: '/batches/{id}/complete',
    id: 'completeBatch',
    summary: 'Reports how the job of a batch ended',
    body: { schema: COMPLETION, optional: true, example: completion },
    answers: {
      202: {
        description: 'The report is on its way.',
        schema: z.object({ id: text("The batch's id.") }).meta({ id: 'CompletionTaken' }),
        example: { id: jobReport.batchId },
      },
    },
    problems: { 404: 'There is no such batch.', 409: 'It is not in progress.' },
  },
];
