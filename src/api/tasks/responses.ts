/** Responses of `/tasks` and `/failures`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import {
  anyObject,
  anything,
  CURSOR,
  describeCalls,
  flag,
  list,
  moment,
  number,
  onlyTrue,
  SKIPPED,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
import { FAILURE_CALLS, TASK_CALLS } from './requests.ts';
import type { WaitsFor } from './waits-for.ts';

export const TASK_ERROR = z
  .object({
    code: text(
      "The kind of error: the downstream's own code, or `attempts-exhausted`, `refused`, `answer-too-large`, `failed`, `inputs-unreadable`, `payload-lost`, `expired` or `cancelled`.",
    ),
    message: text('The reason. It may quote the downstream.'),
    retriable: flag('Whether a redrive can help.'),
  })
  .check(z.meta({ id: 'TaskError', description: 'Why a task failed.' }));

export const OMITTED = z.object({ bytes: whole('The size of the result in bytes.') }).check(
  z.meta({
    id: 'ResultOmitted',
    description: 'Present if the result was too large to be stored, or too large for the event.',
  }),
);

const WAITS_FOR = z
  .object({
    reason: word<WaitsFor['reason']>('The reason', {
      'operation-unknown': 'its operation is no longer configured',
      'operation-paused': 'a user paused its operation',
      'circuit-open': "its operation's circuit is open: the downstream fails, or its configuration is wrong",
      'target-paused': 'a user paused its Target',
      'room-in-target': 'its Target has `concurrency.perTarget` batches in progress',
      'room-in-operation': 'its operation has, or a moment ago had, no free slot (`concurrency.total`)',
      limit: 'its next call waits for its moment under a limit that its operation names',
      'open-batch': 'a batch of its Target is being sealed, possibly with this task',
      'batch-to-fill': 'its batch waits for more tasks',
      leader: 'its Target has no leader at the moment',
      job: 'the downstream processes it and reports later',
    }),
    text: text('The reason as text for people. The wording may change.'),
    limit: z.optional(text('The limit, if `reason` is `limit`.')),
  })
  .check(z.meta({ id: 'WaitsFor', description: 'Why an unfinished task is waiting.' }));

const outline = {
  id: text('The id of the task.'),
  operation: text('The operation of the task.'),
  target: text('The Target of the task. Only tasks of the same Target share a batch.'),
  status: word<'created' | 'batched' | 'in-progress' | 'succeeded' | 'failed'>('Status of the task', {
    created: 'waits for a batch',
    batched: 'is in a batch',
    'in-progress': 'its batch has started',
    succeeded: 'has succeeded',
    failed: 'has failed; a redrive runs it again',
  }),
  batchId: z.optional(text('The id of its batch, if the task is or was in a batch.')),
  attempts: whole('Counted attempts of the batch.'),
  nextAttemptAfter: z.optional(moment('Between two attempts: the earliest time of the next attempt.')),
  lastReason: z.optional(text('Why the last attempt did not end the task. It may quote the downstream.')),
  run: whole('The number of the run of the task. It begins at 1 and grows by 1 with each redrive.', 1),
  correlationId: z.optional(text('As sent by the producer.')),
  priority: z.optional(whole('As sent by the producer.', 1, 9)),
  weight: z.optional(number('As sent by the producer.')),
  coalesceKey: z.optional(text('As sent by the producer.')),
  version: z.optional(whole('As sent by the producer.')),
  callback: z.optional(text('As sent by the producer.')),
  fanOutItem: z.optional(text('As sent by the producer.')),
  startBy: z.optional(moment('When the task expires (`expiresIn`).')),
  sentAt: z.optional(
    moment(
      'When the first message of the task was sent. Present only with `coalesceKey` or `merge`, which compare it.',
    ),
  ),
  createdAt: moment('When the task was registered.'),
  redrivenAt: z.optional(moment('When the task was last redriven.')),
  finishedAt: z.optional(moment('When the task ended.')),
  error: z.optional(TASK_ERROR),
  supersededBy: z.optional(text('The newer task with the same `coalesceKey` that replaced the task.')),
  resultOmitted: z.optional(OMITTED),
};

export const TASK = z
  .object({
    ...outline,
    waitsFor: z.optional(WAITS_FOR),
    payload: z.optional(anyObject('The payload, byte for byte as sent.')),
    result: z.optional(anything("The downstream's result, byte for byte, if there is one.")),
  })
  .check(z.meta({ id: 'Task', description: 'A task.' }));

const TASK_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'TaskOutline', description: 'A task without `payload`, `result` and `waitsFor`.' }));

const PAGE = z
  .object({
    tasks: list(TASK_OUTLINE, 'The tasks. Each is read separately, so they may show different moments.'),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'TaskPage' }));
export const REGISTERED = z
  .object({ ids: list(z.string(), 'The ids of the tasks, in the order of the request.') })
  .check(z.meta({ id: 'Registered' }));

const redriven = {
  redriven: whole('Number of tasks for which a redrive was requested, or would be (dry run).'),
  skipped: list(SKIPPED, 'Tasks that cannot be redriven.'),
  cursor: CURSOR,
};

export const REDRIVEN = z.object(redriven).check(z.meta({ id: 'Redriven' }));
const REDRIVE_DRY_RUN = z
  .object({ dryRun: onlyTrue('It was a dry run.'), ...redriven })
  .check(z.meta({ id: 'RedriveDryRun' }));

const FAILURE_GROUP = z
  .object({
    key: text('The key of the cause. Groups with the same key on different pages belong together.'),
    operation: text('The operation of the tasks.'),
    code: text('The code of the errors of the tasks.'),
    cause: text('The error message of the tasks, with `…` in place of varying parts.'),
    message: text('One error message in full. It may quote the downstream.'),
    tasks: whole('Number of tasks.', 1),
    targets: whole('Number of Targets to which the tasks belong.', 1),
    ids: list(z.string(), 'The ids of the tasks, which can be redriven.'),
  })
  .check(z.meta({ id: 'FailureGroup', description: 'Failed tasks with one cause.' }));

export const FAILURES = z
  .object({
    groups: list(FAILURE_GROUP, 'The groups, largest first.'),
    looked: whole('Number of failed tasks that were read.'),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'Failures' }));

export type Task = z.infer<typeof TASK>;
export type TaskOutline = z.infer<typeof TASK_OUTLINE>;
export type TaskPage = z.infer<typeof PAGE>;
export type FailureGroup = z.infer<typeof FAILURE_GROUP>;
export type Failures = z.infer<typeof FAILURES>;

const NO_TASK = 'The task is not registered yet, was rejected, or has been deleted after `keepTasks`.';
const NO_TARGET = 'No task was ever registered for the Target.';

export const TASKS_DESCRIBED = describeCalls(TASK_CALLS, {
  sendTasks: {
    summary: 'Registers tasks',
    description:
      'If any task is invalid, none is registered. After a 5xx some may have been registered: tasks with ids can be sent again. An id that already exists is detected later: the message is rejected if operation, payload or `fanOutItem` differ.',
    answers: {
      202: { description: 'The tasks are in the register queue.', schema: REGISTERED, example: { ids: ['order-7'] } },
    },
    problems: {
      403: 'The rules for producers forbid some of the tasks, or the limited rights of the caller (`x-groupage-right`) do not include this call. None was registered.',
    },
  },
  listTasks: {
    summary: 'Lists waiting tasks, tasks in batches, or failed tasks',
    answers: { 200: { description: 'A page of tasks. Failed tasks of a Target come newest first.', schema: PAGE } },
    problems: { 404: NO_TARGET },
  },
  getTask: {
    summary: 'Gets a task',
    answers: { 200: { description: 'The task.', schema: TASK } },
    problems: { 404: NO_TASK },
  },
  cancelTask: {
    summary: 'Cancels a waiting task',
    description: 'A repeat changes nothing.',
    answers: { 200: { description: 'The task, now `failed` with the code `cancelled`.', schema: TASK } },
    problems: {
      404: NO_TASK,
      409: 'The task is in a batch, has ended otherwise, or is being registered at this moment.',
    },
  },
  redriveTasks: {
    summary: 'Runs failed tasks again',
    example: { ids: ['order-8'] },
    answers: {
      200: { description: 'A dry run: nothing was changed.', schema: REDRIVE_DRY_RUN },
      202: { description: 'The redrive was requested.', schema: REDRIVEN, example: { redriven: 1, skipped: [] } },
    },
    problems: { 404: NO_TARGET },
  },
});

export const FAILURES_DESCRIBED = describeCalls(FAILURE_CALLS, {
  listFailures: {
    summary: 'Groups failed tasks by cause',
    description:
      'Reads a page of failed tasks and groups them by operation, error code and cause, largest group first.',
    answers: { 200: { description: 'A page of groups.', schema: FAILURES } },
  },
});
