/** What a downstream is asked, in each form, and what it may answer. */
import * as z from 'zod/mini';
import { INPUT_RESULTS, ITEM_RESULTS, jobResults } from '../../src/api/batches/requests.ts';
import { anyObject, anything, list, text, whole } from '../../src/api/shared/answer-schemas.ts';

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
  .check(z.meta({ id: 'CallItem', description: 'A task of the batch.' }));

const MERGED_ITEM = z
  .object({ id: text('The id of a task that needs any of the inputs.') })
  .check(z.meta({ id: 'MergedCallItem', description: 'A task of a merged batch.' }));

const plain = { ...envelope, items: list(ITEM, 'The tasks that are asked about.', 1, 1_000) };
const merged = {
  ...envelope,
  inputs: list(anything('An input, as it was sent.'), 'Each key once, without those that an earlier job has done.', 1),
  items: list(MERGED_ITEM, 'The tasks that need any of them.', 1, 1_000),
};

export const BATCH_CALL = z
  .union([
    z.object(plain).check(z.meta({ id: 'PlainCall', description: 'Of an operation without `merge`.' })),
    z
      .object(merged)
      .check(z.meta({ id: 'MergedCall', description: 'Of an operation with `merge`: one job for all of its tasks.' })),
  ])
  .check(
    z.meta({
      id: 'BatchCall',
      title: 'Downstream call',
      description:
        'The body of a call by HTTP. Its header `Idempotency-Key` is the same for the same items (and inputs) of the same batch.',
    }),
  );

const keys = {
  idempotencyKey: text('The same for the same items (and inputs) of the same batch, whatever the attempt.'),
  traceparent: text('W3C Trace Context: each batch is a trace, each attempt a span.', {
    pattern: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  }),
};

export const BATCH_EVENT = z
  .union([
    z
      .object({ ...keys, ...plain })
      .check(z.meta({ id: 'PlainEvent', description: 'Of an operation without `merge`.' })),
    z.object({ ...keys, ...merged }).check(z.meta({ id: 'MergedEvent', description: 'Of an operation with `merge`.' })),
  ])
  .check(
    z.meta({
      id: 'BatchEvent',
      title: 'Downstream call as an event',
      description:
        "What a function is invoked with, what an execution of a state machine is started with, and the message that is put into a queue: an HTTP call's body, and its headers in it. In a message the key and `traceparent` are attributes, too.",
    }),
  );

const RESULTS = z
  .object({ results: ITEM_RESULTS.check(z.describe('An item that is left out is tried again.')) })
  .check(z.meta({ id: 'ResultsAnswer', description: 'Item by item.' }));
const INPUTS = z.object({ inputs: INPUT_RESULTS.check(z.describe('An input that is left out is tried again.')) }).check(
  z.meta({
    id: 'InputsAnswer',
    description: 'Of a merged call, input by input. Where there are `results` too, those stand.',
  }),
);
const PENDING = z
  .object({ pending: z.literal(true).check(z.describe('It is done later, and reported then.')) })
  .check(z.meta({ id: 'PendingAnswer', description: 'By HTTP with the status 202; a function returns it.' }));
const ALL_DONE = z
  .object({ results: z.optional(z.never()), inputs: z.optional(z.never()), pending: z.optional(z.never()) })
  .check(z.meta({ id: 'AllDoneAnswer', description: 'JSON with none of these, or no body: all succeeded.' }));

export const BATCH_ANSWER = z.union([RESULTS, INPUTS, PENDING, ALL_DONE]).check(
  z.meta({
    id: 'BatchAnswer',
    title: 'Downstream answer',
    description:
      'The body of an answer with a status 2xx; what a function returns; what the output of an execution has. No body (of a function: null) says that all succeeded. What is no JSON object, or has `results` or `inputs` that are no lists, is no success, and the call is repeated; an element that is not as described is tried again.',
  }),
);

export const JOB_REPORT = z.object({ batchId: text('As the call said it.'), ...jobResults() }).check(
  z.meta({
    id: 'JobReport',
    title: 'Job report',
    description:
      'How a job ended that reports later: a message on the batch queue. Several, in any order and more than once, do no harm; the first result of a task stands. One that cannot be meant goes to the rejected queue.',
  }),
);
