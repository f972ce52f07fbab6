/** Schemas of the calls that downstreams receive, in each form, and of the answers of downstreams. */
import * as z from 'zod/mini';
import { INPUT_RESULTS, ITEM_RESULTS, jobResults } from '../../src/api/batches/requests.ts';
import { anyObject, anything, list, text, whole } from '../../src/api/shared/answer-schemas.ts';

const envelope = {
  batchId: text('The id of the batch. Do not parse it.'),
  operation: text('The name of the operation.'),
  target: text('The operation and the grouping values of the tasks, percent-encoded.'),
  attempt: whole(
    'The number of the attempt, from 1. It grows, while the items of one idempotency key stay the same.',
    1,
  ),
};

const ITEM = z
  .object({
    id: text('The id of the task, which is the same in each call with this task.'),
    payload: anyObject('The payload, byte for byte as its producer sent it.'),
  })
  .check(z.meta({ id: 'CallItem', description: 'A task of the batch.' }));

const MERGED_ITEM = z
  .object({ id: text('The id of a task that needs at least one of the inputs.') })
  .check(z.meta({ id: 'MergedCallItem', description: 'A task of a merged batch.' }));

const plain = { ...envelope, items: list(ITEM, 'The tasks of this call.', 1, 1_000) };
const merged = {
  ...envelope,
  inputs: list(
    anything('An input, as sent.'),
    'The inputs. Each key appears once; inputs that an earlier job finished are left out.',
    1,
  ),
  items: list(MERGED_ITEM, 'The tasks that need at least one of the inputs.', 1, 1_000),
};

export const BATCH_CALL = z
  .union([
    z.object(plain).check(z.meta({ id: 'PlainCall', description: 'A call of an operation without `merge`.' })),
    z
      .object(merged)
      .check(z.meta({ id: 'MergedCall', description: 'A call of an operation with `merge`: one job for all tasks.' })),
  ])
  .check(
    z.meta({
      id: 'BatchCall',
      title: 'Downstream call',
      description:
        'The body of an HTTP call. The header `Idempotency-Key` is the same for the same items (and inputs) of the same batch.',
    }),
  );

const keys = {
  idempotencyKey: text('The same for the same items (and inputs) of the same batch, in every attempt.'),
  traceparent: text('W3C Trace Context: each batch is a trace, each attempt a span.', {
    pattern: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  }),
};

export const BATCH_EVENT = z
  .union([
    z
      .object({ ...keys, ...plain })
      .check(z.meta({ id: 'PlainEvent', description: 'A call of an operation without `merge`.' })),
    z
      .object({ ...keys, ...merged })
      .check(z.meta({ id: 'MergedEvent', description: 'A call of an operation with `merge`.' })),
  ])
  .check(
    z.meta({
      id: 'BatchEvent',
      title: 'Downstream call as an event',
      description:
        "The event of a Lambda function, the input of a state machine's execution, and the body of a queue's message: the body of an HTTP call plus its headers. A message also has the key and `traceparent` as attributes.",
    }),
  );

const usage = z.optional(
  z.number().check(
    z.meta({
      description:
        'The weight that the call used, for a limit with `weight`. Another value is ignored: the call counts with the weight of its tasks.',
      minimum: 0,
      maximum: 1e12,
    }),
  ),
);
const RESULTS = z
  .object({ results: ITEM_RESULTS.check(z.describe('The results. An item that is left out is retried.')), usage })
  .check(z.meta({ id: 'ResultsAnswer', description: 'A result for each item.' }));
const INPUTS = z
  .object({
    inputs: INPUT_RESULTS.check(z.describe('The results of inputs. An input that is left out is retried.')),
    usage,
  })
  .check(
    z.meta({
      id: 'InputsAnswer',
      description: 'For a merged call: a result for each input. If `results` are present too, only those count.',
    }),
  );
const PENDING = z
  .object({ pending: z.literal(true).check(z.describe('A job was started that reports later.')), usage })
  .check(z.meta({ id: 'PendingAnswer', description: 'Over HTTP with the status 202; a function returns it.' }));
const ALL_DONE = z
  .object({ results: z.optional(z.never()), inputs: z.optional(z.never()), pending: z.optional(z.never()), usage })
  .check(z.meta({ id: 'AllDoneAnswer', description: 'JSON without these fields, or no body: all tasks succeeded.' }));

export const BATCH_ANSWER = z.union([RESULTS, INPUTS, PENDING, ALL_DONE]).check(
  z.meta({
    id: 'BatchAnswer',
    title: 'Downstream answer',
    description:
      'The body of a 2xx answer, the return value of a function, or the output of an execution. No body (for a function: null) means that all tasks succeeded. If the answer is not a JSON object, or `results` or `inputs` is not a list, the call has failed and is retried. An element that does not match this schema is retried.',
  }),
);

export const JOB_REPORT = z.object({ batchId: text('The `batchId` of the call.'), ...jobResults() }).check(
  z.meta({
    id: 'JobReport',
    title: 'Job report',
    description:
      'The report of a job that reports later: a message on the batch queue. A job may send several reports, in any order and more than once; only the first result of a task counts. Invalid reports go to the rejected queue.',
  }),
);
