/** What a downstream is asked, in each form, and what it may answer. */
import * as z from 'zod';
import { RESULT_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import { anyObject, anything, flag, list, text, whole, word } from './fields.ts';

const envelope = {
  batchId: text('Names the batch. Not made to be taken apart.'),
  operation: text('The configured operation.'),
  target: text("The operation and the values that the batch's tasks share, percent-encoded."),
  attempt: whole('Numbers the attempts at this batch, from 1. It grows from call to call; the items of a key stay.', 1),
};

const ITEM = z
  .object({
    id: text('The id of a task: the same one for ever, also when it is called about again.'),
    payload: anyObject('As its producer sent it, to the letter.'),
  })
  .meta({ id: 'CallItem', description: 'A task of the batch.' });

const MERGED_ITEM = z
  .object({ id: text('The id of a task that needs any of the inputs.') })
  .meta({ id: 'MergedCallItem', description: 'A task of a merged batch.' });

const plain = { ...envelope, items: list(ITEM, 'The tasks that are asked about.', 1, 1_000) };
const merged = {
  ...envelope,
  inputs: list(anything('An input, as it was sent.'), 'Each key once, without those that an earlier job has done.', 1),
  items: list(MERGED_ITEM, 'The tasks that need any of them.', 1, 1_000),
};

export const BATCH_CALL = z
  .union([
    z.object(plain).meta({ id: 'PlainCall', description: 'Of an operation without `merge`.' }),
    z
      .object(merged)
      .meta({ id: 'MergedCall', description: 'Of an operation with `merge`: one job for all of its tasks.' }),
  ])
  .meta({
    id: 'BatchCall',
    title: 'Downstream call',
    description:
      'The body of a call by HTTP. Its header `Idempotency-Key` is the same for the same items (and inputs) of the same batch.',
  });

const keys = {
  idempotencyKey: text('The same for the same items (and inputs) of the same batch, whatever the attempt.'),
  traceparent: text('W3C Trace Context: each batch is a trace, each attempt a span.', {
    pattern: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  }),
};

export const BATCH_EVENT = z
  .union([
    z.object({ ...keys, ...plain }).meta({ id: 'PlainEvent', description: 'Of an operation without `merge`.' }),
    z.object({ ...keys, ...merged }).meta({ id: 'MergedEvent', description: 'Of an operation with `merge`.' }),
  ])
  .meta({
    id: 'BatchEvent',
    title: 'Downstream call as an event',
    description:
      "What a function is invoked with, what an execution of a state machine is started with, and the message that is put into a queue: an HTTP call's body, and its headers in it. In a message the key and `traceparent` are attributes, too.",
  });

const outcome = {
  status: word<'succeeded' | 'failed' | 'retry'>('How it ended', {
    succeeded: 'done',
    failed: 'it never will be: the task fails',
    retry: 'it is to be asked about again, after a delay',
  }),
  result: anything(`Of one that succeeded: any JSON, kept to the letter up to ${RESULT_MAX_BYTES} bytes.`).optional(),
  error: z
    .union([
      text('Why, in words.'),
      z.object({
        code: text('A word to tell causes apart; `failed` without one. Cut after 64 characters.').optional(),
        message: text('Why, in words. Cut after 1,024 characters.').optional(),
        retriable: flag('Whether a redrive can help; false without it.').optional(),
      }),
    ])
    .meta({
      id: 'ItemError',
      description: 'Why it failed, or is to be tried again. Anything else is kept as it was written.',
    })
    .optional(),
};

const ITEM_RESULT = z
  .object({ id: text('The id of an item of the call; others are passed over.'), ...outcome })
  .meta({ id: 'ItemResult', description: 'What became of an item. The first result of a task stands.' });

const INPUT_RESULT = z
  .object({
    key: z.union([z.string(), z.number()]).describe('The key of an input of the call.'),
    ...outcome,
  })
  .meta({ id: 'InputResult', description: 'What became of an input of a merged call.' });

const RESULTS = z
  .object({ results: list(ITEM_RESULT, 'An item that is left out is tried again.') })
  .meta({ id: 'ResultsAnswer', description: 'Item by item.' });
const INPUTS = z.object({ inputs: list(INPUT_RESULT, 'An input that is left out is tried again.') }).meta({
  id: 'InputsAnswer',
  description: 'Of a merged call, input by input. Where there are `results` too, those stand.',
});
const PENDING = z
  .object({ pending: z.literal(true).describe('It is done later, and reported then.') })
  .meta({ id: 'PendingAnswer', description: 'By HTTP with the status 202; a function returns it.' });
const ALL_DONE = z
  .object({ results: z.never().optional(), inputs: z.never().optional(), pending: z.never().optional() })
  .meta({ id: 'AllDoneAnswer', description: 'JSON with none of these, or no body: all succeeded.' });

export const BATCH_ANSWER = z.union([RESULTS, INPUTS, PENDING, ALL_DONE]).meta({
  id: 'BatchAnswer',
  title: 'Downstream answer',
  description:
    'The body of an answer with a status 2xx; what a function returns; what the output of an execution has. No body (of a function: null) says that all succeeded. What is no JSON object, or has `results` or `inputs` that are no lists, is no success, and the call is repeated; an element that is not as described is tried again.',
});

export const JOB_RESULTS = {
  results: list(
    ITEM_RESULT,
    'Without them all that the job had succeeded. Items that are left out stay open.',
  ).optional(),
  inputs: list(
    INPUT_RESULT,
    'Of a merged job, instead of results, all in one message: those that are left out are tried again.',
  ).optional(),
};

export const JOB_REPORT = z.object({ batchId: text('As the call said it.'), ...JOB_RESULTS }).meta({
  id: 'JobReport',
  title: 'Job report',
  description:
    'How a job ended that reports later: a message on the batch queue. Several, in any order and more than once, do no harm; the first result of a task stands. One that cannot be meant goes to the rejected queue.',
});
