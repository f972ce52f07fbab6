/** What destinations are told: CloudEvents. */
import * as z from 'zod/mini';
import { anything, moment, text, whole } from '../../src/api/shared/answer-schemas.ts';
import { OMITTED, TASK_ERROR } from '../../src/api/tasks/responses.ts';

/** What every event says of itself. */
const cloudEvent = <Data extends z.ZodMiniType>(
  name: string,
  type: string,
  source: string,
  about: string,
  description: string,
  data: Data,
) =>
  z
    .object({
      specversion: z.literal('1.0'),
      id: text('With `source` it names the event for ever: a repeat has the same ones.'),
      source: text(`\`/groupage/STACK/${source}\`, each part percent-encoded.`, {
        pattern: /^\/groupage\/[^/]+\/[^/]+$/,
      }),
      type: z.literal(type),
      subject: text(about),
      time: moment('When it ended.'),
      datacontenttype: z.literal('application/json'),
      data: data.check(z.describe('What ended, and how.')),
    })
    .check(z.meta({ id: name, title: type, description }));

const ended = {
  id: text('The id of the task.'),
  operation: text('Its operation.'),
  target: text('Its Target.'),
  run: whole('1; a redrive adds one.', 1),
  batchId: z.optional(text('Its batch; missing where none had it.')),
  attempts: whole('Attempts at its batch.'),
  correlationId: z.optional(text('As its producer sent it.')),
};

const TASK_FAILED = cloudEvent(
  'TaskFailedEvent',
  'groupage.task.failed',
  'OPERATION',
  'The id of the task.',
  'A task failed.',
  z.object({ ...ended, status: z.literal('failed'), error: TASK_ERROR }),
);

const TASK_SUCCEEDED = cloudEvent(
  'TaskSucceededEvent',
  'groupage.task.succeeded',
  'OPERATION',
  'The id of the task.',
  'A task succeeded.',
  z.object({
    ...ended,
    status: z.literal('succeeded'),
    result: z.optional(anything('Its result to the letter, if it has one.')),
    resultOmitted: z.optional(OMITTED),
    supersededBy: z.optional(text('The newer task of its `coalesceKey` that was done instead.')),
  }),
);

const counted = {
  total: whole('All that it had.'),
  succeeded: z.optional(whole('Those that succeeded; missing where it ended before all were done.')),
  failed: whole('Those that failed by then.'),
  createdAt: moment('When it was opened.'),
};

const FAN_OUT_COMPLETED = cloudEvent(
  'FanOutCompletedEvent',
  'groupage.fan-out.completed',
  'fan-outs',
  'The id of the fan-out.',
  'All items of a fan-out are done, or too many failed.',
  z.object({
    id: text('The id of the fan-out.'),
    status: z.literal('complete'),
    because: z.enum(['all-done', 'too-many-failed']),
    ...counted,
    userKey: z.optional(text('As its opener gave it.')),
  }),
);

const FAN_OUT_EXPIRED = cloudEvent(
  'FanOutExpiredEvent',
  'groupage.fan-out.expired',
  'fan-outs',
  'The id of the fan-out.',
  'Nothing happened in a fan-out for too long.',
  z.object({
    id: text('The id of the fan-out.'),
    status: z.literal('expired'),
    because: z.literal('idle'),
    ...counted,
    userKey: z.optional(text('As its opener gave it.')),
  }),
);

const LIST_COMPLETED = cloudEvent(
  'ListCompletedEvent',
  'groupage.list.completed',
  'lists',
  'The id of the deferred list.',
  'All jobs of a deferred list are done.',
  z.object({
    id: text('The id of the list.'),
    status: z.literal('complete'),
    because: z.literal('all-done'),
    ...counted,
    name: z.optional(text('As its opener gave it.')),
  }),
);

/** Every event, by its type. */
export const EVENTS = {
  'groupage.task.failed': TASK_FAILED,
  'groupage.task.succeeded': TASK_SUCCEEDED,
  'groupage.fan-out.completed': FAN_OUT_COMPLETED,
  'groupage.fan-out.expired': FAN_OUT_EXPIRED,
  'groupage.list.completed': LIST_COMPLETED,
};

export const CALLBACK_EVENT = z
  .union(Object.values(EVENTS) as [typeof TASK_FAILED, ...(typeof LIST_COMPLETED)[]])
  .check(
    z.meta({
      id: 'CallbackEvent',
      title: 'Callback event',
      description: 'A CloudEvent, version 1.0, as JSON. It comes at least once, in no order.',
    }),
  );
