/** The events that destinations receive: CloudEvents. */
import * as z from 'zod/mini';
import { anything, moment, onlyTrue, text, whole } from '../../src/api/shared/answer-schemas.ts';
import { OMITTED, TASK_ERROR } from '../../src/api/tasks/responses.ts';

/** The fields that all events share. */
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
      id: text('Identifies the event together with `source`. A repeat has the same two values.'),
      source: text(`\`/groupage/STACK/${source}\`, each part percent-encoded.`, {
        pattern: /^\/groupage\/[^/]+\/[^/]+$/,
      }),
      type: z.literal(type),
      subject: text(about),
      time: moment('When the task, fan-out or list ended, or when what the event reports was found.'),
      datacontenttype: z.literal('application/json'),
      data: data.check(z.describe('The task, fan-out or list, and how it ended.')),
    })
    .check(z.meta({ id: name, title: type, description }));

const ended = {
  id: text('The id of the task.'),
  operation: text('The operation of the task.'),
  target: text('The Target of the task.'),
  run: whole('The number of the run of the task. It begins at 1 and grows by 1 with each redrive.', 1),
  batchId: z.optional(text('The id of the batch of the task. Missing if the task was in no batch.')),
  attempts: whole('Counted attempts of the batch.'),
  correlationId: z.optional(text('As sent by the producer.')),
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
    result: z.optional(anything('The result of the task, byte for byte, if there is one.')),
    resultOmitted: z.optional(OMITTED),
    supersededBy: z.optional(text('The newer task with the same `coalesceKey` that replaced the task.')),
  }),
);

const counted = {
  total: whole('Number of all items or jobs.'),
  succeeded: z.optional(whole('Items or jobs that had succeeded when it ended. Missing if they were not counted.')),
  failed: whole('Items or jobs that had failed when it ended.'),
  pending: z.optional(whole('Items or jobs without an outcome when it ended. Missing if they were not counted.')),
  countsAreAtLeast: z.optional(onlyTrue('It ended before all items were counted: more items may have failed.')),
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
    userKey: z.optional(text('As given when the fan-out was opened.')),
  }),
);

const FAN_OUT_EXPIRED = cloudEvent(
  'FanOutExpiredEvent',
  'groupage.fan-out.expired',
  'fan-outs',
  'The id of the fan-out.',
  'A fan-out was idle for too long.',
  z.object({
    id: text('The id of the fan-out.'),
    status: z.literal('expired'),
    because: z.literal('idle'),
    ...counted,
    userKey: z.optional(text('As given when the fan-out was opened.')),
  }),
);

const opened = {
  id: text('The id of the fan-out.'),
  userKey: z.optional(text('As given when the fan-out was opened.')),
  createdAt: moment('When it was opened.'),
};

const FAN_OUT_FIRST_FAILURE = cloudEvent(
  'FanOutFirstFailureEvent',
  'groupage.fan-out.first-failure',
  'fan-outs',
  'The id of the fan-out.',
  'The first failure that was noted in a fan-out. Sent only if the fan-out was opened with `notifyFirstFailure`.',
  z.object({ ...opened, item: text('The id of the failed item. Other items may have failed before it.') }),
);

const FAN_OUT_ALL_SUCCEEDED = cloudEvent(
  'FanOutAllSucceededEvent',
  'groupage.fan-out.all-succeeded',
  'fan-outs',
  'The id of the fan-out.',
  'All items of a fan-out that completed with failed items have succeeded, after redrives of their tasks.',
  z.object({
    ...opened,
    total: whole('Number of all items.'),
    succeeded: whole('Number of items that have succeeded: all of them.'),
  }),
);

const LIST_COMPLETED = cloudEvent(
  'ListCompletedEvent',
  'groupage.list.completed',
  'lists',
  'The id of the deferred list.',
  'All jobs of a deferred list have ended.',
  z.object({
    id: text('The id of the list.'),
    status: z.literal('complete'),
    because: z.literal('all-done'),
    ...counted,
    name: z.optional(text('As given when the list was opened.')),
  }),
);

/** The schema of every event, by the event's type. */
export const EVENTS = {
  'groupage.task.failed': TASK_FAILED,
  'groupage.task.succeeded': TASK_SUCCEEDED,
  'groupage.fan-out.completed': FAN_OUT_COMPLETED,
  'groupage.fan-out.expired': FAN_OUT_EXPIRED,
  'groupage.fan-out.first-failure': FAN_OUT_FIRST_FAILURE,
  'groupage.fan-out.all-succeeded': FAN_OUT_ALL_SUCCEEDED,
  'groupage.list.completed': LIST_COMPLETED,
};

export const CALLBACK_EVENT = z
  .union(Object.values(EVENTS) as [typeof TASK_FAILED, ...(typeof LIST_COMPLETED)[]])
  .check(
    z.meta({
      id: 'CallbackEvent',
      title: 'Callback event',
      description: 'A CloudEvent, version 1.0, as JSON. Events are delivered at least once, in no particular order.',
    }),
  );
