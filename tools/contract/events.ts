/** What destinations are told: CloudEvents. */
import * as z from 'zod';
import { anything, flag, moment, text, whole } from './fields.ts';

/** What every event says of itself. */
const cloudEvent = <Data extends z.ZodType>(
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
      data: data.describe('What ended, and how.'),
    })
    .meta({ id: name, title: type, description });

export const TASK_ERROR = z
  .object({
    code: text(
      "A word to tell causes apart: the downstream's own, or `attempts-exhausted`, `refused`, `answer-too-large`, `failed`, `inputs-unreadable`, `payload-lost`, `expired` or `cancelled`.",
    ),
    message: text('Why, in words; it may quote the downstream.'),
    retriable: flag('Whether trying again (a redrive) can help.'),
  })
  .meta({ id: 'TaskError', description: 'Why a task failed.' });

export const OMITTED = z
  .object({ bytes: whole('How large it was.') })
  .meta({ id: 'ResultOmitted', description: 'A result that was too large to be kept, or to be told.' });

const ended = {
  id: text('The id of the task.'),
  operation: text('Its operation.'),
  target: text('Its Target.'),
  run: whole('1; a redrive adds one.', 1),
  batchId: text('Its batch; missing where none had it.').optional(),
  attempts: whole('Attempts at its batch.'),
  correlationId: text('As its producer sent it.').optional(),
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
    result: anything('Its result to the letter, if it has one.').optional(),
    resultOmitted: OMITTED.optional(),
    supersededBy: text('The newer task of its `coalesceKey` that was done instead.').optional(),
  }),
);

const counted = {
  total: whole('All that it had.'),
  succeeded: whole('Those that succeeded; missing where it ended before all were done.').optional(),
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
    userKey: text('As its opener gave it.').optional(),
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
    userKey: text('As its opener gave it.').optional(),
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
    name: text('As its opener gave it.').optional(),
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
  .meta({
    id: 'CallbackEvent',
    title: 'Callback event',
    description: 'A CloudEvent, version 1.0, as JSON. It comes at least once, in no order.',
  });
