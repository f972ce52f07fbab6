/** Responses of `/batches`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { BatchStatus } from '../../domain/batches/batch.ts';
import { CALLS_KEPT } from '../../domain/batches/call-record.ts';
import type { SealReason } from '../../domain/batches/policy.ts';
import { CURSOR, describeCalls, flag, list, moment, number, text, whole, word } from '../shared/answer-schemas.ts';
import { BATCH_CALLS } from './requests.ts';

const outline = {
  id: text('The id of the batch.'),
  operation: text('The operation of the batch.'),
  target: text('The Target of the batch.'),
  status: word<BatchStatus>('Status of the batch', {
    forming: 'the leader is claiming its tasks',
    sealed: 'its members are fixed, and its first attempt has not started',
    'in-progress': 'its first attempt has started, and some tasks are open',
    succeeded: 'all of its tasks succeeded',
    'partly-failed': 'some of its tasks failed',
    failed: 'all of its tasks failed',
  }),
  sealedBy: word<SealReason>('Why the batch was sealed', {
    full: '`batch.maxSize` was reached',
    bytes: '`batch.maxBytes` was reached',
    weight: '`batch.maxWeight` was reached',
    waited: '`batch.maxWait` passed, or its window ended',
    quiet: '`batch.quietPeriod` passed without a new task',
    bypass: 'a task is sent alone: a large one (`bypass`), or a redriven one that may be at fault (`retry.isolate`)',
    flush: 'a user flushed the Target',
  }),
  size: whole('Number of tasks in the batch.'),
  fill: z.optional(
    number('The size of the batch divided by `batch.maxSize`. Missing if the operation is no longer configured.'),
  ),
  attempt: whole('The number of the latest attempt.'),
  attempts: whole('Counted attempts (`retry.maxAttempts`).'),
  pending: z.optional(whole('The number of tasks whose job has yet to report.')),
  counts: z.optional(
    z
      .object({ succeeded: whole('Tasks that succeeded.'), failed: whole('Tasks that failed.') })
      .check(z.meta({ id: 'Counts', description: 'The outcomes of its tasks.' })),
  ),
  oldestAt: moment('When the oldest task of the batch was registered.'),
  createdAt: moment('When the leader created the batch.'),
  sealedAt: z.optional(moment('When the batch was sealed.')),
  startedAt: z.optional(moment('When the first attempt began.')),
  finishedAt: z.optional(moment('When the batch ended.')),
  lastAttempt: z.optional(
    z
      .object({
        endedAt: moment('When the attempt ended.'),
        reason: text('Why tasks stayed open. It may quote the downstream.'),
      })
      .check(z.meta({ id: 'LastAttempt', description: 'The last attempt that left tasks open.' })),
  ),
  nextAttemptAfter: z.optional(
    moment('The earliest time of the next attempt. Present while the batch is in progress.'),
  ),
};

const CALL = z
  .object({
    attempt: whole('The attempt that made the call.'),
    startedAt: moment('When the call began.'),
    tookMs: whole('How long the call took, in milliseconds.'),
    isError: flag('Whether the call failed. An answer about single tasks is no failure.'),
    answer: text('The answer, or the reason why the call failed. It may quote the downstream.'),
    tasks: whole('Number of tasks in the call.'),
    members: z.optional(
      text('Which members the call contained, by their place in `members`, such as `1-50`. Missing if all of them.'),
    ),
  })
  .check(z.meta({ id: 'DownstreamCall', description: 'A call of the downstream for a batch.' }));

export const BATCH = z
  .object({
    ...outline,
    members: list(z.string(), 'The ids of the tasks in the batch.'),
    calls: z.optional(
      list(CALL, `The last ${CALLS_KEPT} calls, oldest first. The calls of an attempt are stored when it ends.`),
    ),
  })
  .check(z.meta({ id: 'Batch', description: 'A batch.' }));
export const BATCH_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'BatchOutline', description: 'A batch without the ids of its tasks.' }));

const PAGE = z
  .object({
    batches: list(
      BATCH_OUTLINE,
      'The batches, newest first; with `which=under-way`, the one with the oldest task first.',
    ),
    looked: z.optional(
      whole('Without a `target`: number of Targets whose batches were read. `cursor` leads to the next Targets.'),
    ),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'BatchPage' }));
const COMPLETION_TAKEN = z.object({ id: text("The batch's id.") }).check(z.meta({ id: 'CompletionTaken' }));

export type Batch = z.infer<typeof BATCH>;
export type BatchOutline = z.infer<typeof BATCH_OUTLINE>;
export type BatchPage = z.infer<typeof PAGE>;

export const BATCHES_DESCRIBED = describeCalls(BATCH_CALLS, {
  listBatches: {
    summary: 'Lists batches: the newest, or those under way',
    answers: { 200: { description: 'A page of batches.', schema: PAGE } },
    problems: { 404: 'No task was ever registered for the Target.' },
  },
  getBatch: {
    summary: 'Gets a batch',
    answers: { 200: { description: 'The batch.', schema: BATCH } },
    problems: { 404: 'The batch does not exist, or its id is not URL-encoded.' },
  },
  completeBatch: {
    summary: 'Reports the results of a job',
    answers: {
      202: {
        description: 'The report is in the batch queue.',
        schema: COMPLETION_TAKEN,
        example: { id: 'distribute-parcels/carrier=DHL/depot=MUC#1#1' },
      },
    },
    problems: { 404: 'The batch does not exist.', 409: 'The batch is not in progress.' },
  },
});
