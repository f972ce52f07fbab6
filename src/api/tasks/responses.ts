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
      "A word to tell causes apart: the downstream's own, or `attempts-exhausted`, `refused`, `answer-too-large`, `failed`, `inputs-unreadable`, `payload-lost`, `expired` or `cancelled`.",
    ),
    message: text('Why, in words; it may quote the downstream.'),
    retriable: flag('Whether trying again (a redrive) can help.'),
  })
  .check(z.meta({ id: 'TaskError', description: 'Why a task failed.' }));

export const OMITTED = z
  .object({ bytes: whole('How large it was.') })
  .check(z.meta({ id: 'ResultOmitted', description: 'A result that was too large to be kept, or to be told.' }));

const WAITS_FOR = z
  .object({
    reason: word<WaitsFor['reason']>('What stands in its way', {
      'operation-unknown': 'its operation is not configured any more',
      'operation-paused': 'a person paused its operation',
      'circuit-open': 'the downstream is down, or refuses whoever calls',
      'target-paused': 'a person paused its Target',
      'room-in-target': '`concurrency.perTarget` is reached',
      'room-in-operation': '`concurrency.total` is reached, or was a moment ago',
      'open-batch': 'a batch of its Target is being sealed, which may be its own',
      'batch-to-fill': 'its batch may still get others',
      leader: 'nobody leads its Target at the moment',
      job: 'its downstream took it over, and reports later',
    }),
    text: text('For people; it may change.'),
  })
  .check(z.meta({ id: 'WaitsFor', description: 'What an unfinished task waits for.' }));

const outline = {
  id: text('Its id.'),
  operation: text('Its operation.'),
  target: text('Its Target: only tasks with one Target share a batch.'),
  status: word<'created' | 'batched' | 'in-progress' | 'succeeded' | 'failed'>('How far it is', {
    created: 'it waits for a batch',
    batched: 'a batch has it',
    'in-progress': 'its batch is being called about',
    succeeded: 'it has ended',
    failed: 'likewise; a redrive gives it another run',
  }),
  batchId: z.optional(text('Its batch, if it has or had one.')),
  attempts: whole('Attempts at its batch.'),
  nextAttemptAfter: z.optional(moment('Between two attempts: when the next one is, at the earliest.')),
  lastReason: z.optional(text('Why the last attempt was not the end; it may quote the downstream.')),
  run: whole('1; a redrive adds one.', 1),
  correlationId: z.optional(text('As sent.')),
  priority: z.optional(whole('As sent.', 1, 9)),
  weight: z.optional(number('As sent.')),
  coalesceKey: z.optional(text('As sent.')),
  version: z.optional(whole('As sent.')),
  callback: z.optional(text('As sent.')),
  fanOutItem: z.optional(text('As sent.')),
  startBy: z.optional(moment('When its `expiresIn` is over.')),
  sentAt: z.optional(
    moment('When its first message was sent, where `coalesceKey` or `merge` make it matter which task is newer.'),
  ),
  createdAt: moment('When it was registered.'),
  redrivenAt: z.optional(moment('When its run began, if it was redriven.')),
  finishedAt: z.optional(moment('When it ended.')),
  error: z.optional(TASK_ERROR),
  supersededBy: z.optional(text('The newer task of its `coalesceKey` that was done instead.')),
  resultOmitted: z.optional(OMITTED),
};

export const TASK = z
  .object({
    ...outline,
    waitsFor: z.optional(WAITS_FOR),
    payload: z.optional(anyObject('As it was sent, to the letter.')),
    result: z.optional(anything("The downstream's, to the letter, if it gave one.")),
  })
  .check(z.meta({ id: 'Task', description: 'A task.' }));

const TASK_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'TaskOutline', description: 'A task, without its payload, its result and what it waits for.' }));

const PAGE = z
  .object({ tasks: list(TASK_OUTLINE, 'They are read one by one.'), cursor: CURSOR })
  .check(z.meta({ id: 'TaskPage' }));
export const REGISTERED = z
  .object({ ids: list(z.string(), 'In the order in which they were sent.') })
  .check(z.meta({ id: 'Registered' }));

const redriven = {
  redriven: whole('For how many another run was asked; or would be.'),
  skipped: list(SKIPPED, 'For which none was asked.'),
  cursor: CURSOR,
};

export const REDRIVEN = z.object(redriven).check(z.meta({ id: 'Redriven' }));
const REDRIVE_DRY_RUN = z
  .object({ dryRun: onlyTrue('It was one.'), ...redriven })
  .check(z.meta({ id: 'RedriveDryRun' }));

const FAILURE_GROUP = z
  .object({
    key: text('Names the cause: a group of another page with the same key is the same one.'),
    operation: text('Of the tasks.'),
    code: text("Of the tasks' errors."),
    cause: text('Their message, with `…` in the place of what varies.'),
    message: text('One of them in full; it may quote the downstream.'),
    tasks: whole('How many there are.', 1),
    targets: whole('In how many Targets.', 1),
    ids: list(z.string(), 'They can be redriven.'),
  })
  .check(z.meta({ id: 'FailureGroup', description: 'Failed tasks with one cause.' }));

export const FAILURES = z
  .object({
    groups: list(FAILURE_GROUP, 'The largest first.'),
    looked: whole('How many failed tasks were looked at.'),
    cursor: CURSOR,
  })
  .check(z.meta({ id: 'Failures' }));

export type Task = z.infer<typeof TASK>;
export type TaskOutline = z.infer<typeof TASK_OUTLINE>;
export type TaskPage = z.infer<typeof PAGE>;
export type FailureGroup = z.infer<typeof FAILURE_GROUP>;
export type Failures = z.infer<typeof FAILURES>;

const NO_TASK = 'It was not registered yet, was refused, or has expired.';
const NO_TARGET = 'No task of the Target was ever registered.';

export const TASKS_DESCRIBED = describeCalls(TASK_CALLS, {
  sendTasks: {
    summary: 'Registers tasks',
    description:
      'Nothing is done where anything is wrong. After a 5xx some may have been registered: tasks with ids of their own can be sent again. An id that is known already is found out later, and refused if the payload differs.',
    answers: { 202: { description: 'They are on their way.', schema: REGISTERED, example: { ids: ['order-7'] } } },
  },
  listTasks: {
    summary: 'Tasks that wait, or that failed',
    answers: { 200: { description: 'A page of them. Failed ones of a Target come newest first.', schema: PAGE } },
    problems: { 404: NO_TARGET },
  },
  getTask: {
    summary: 'A task',
    answers: { 200: { description: 'The task.', schema: TASK } },
    problems: { 404: NO_TASK },
  },
  cancelTask: {
    summary: 'Cancels a task that waits',
    description: 'Twice is harmless.',
    answers: { 200: { description: 'The task as it is then: `failed`, with the code `cancelled`.', schema: TASK } },
    problems: {
      404: NO_TASK,
      409: 'A batch has it, it has ended otherwise, or it is being registered at this moment.',
    },
  },
  redriveTasks: {
    summary: 'Gives failed tasks another run',
    example: { ids: ['order-8'] },
    answers: {
      200: { description: 'A dry run: nothing happened.', schema: REDRIVE_DRY_RUN },
      202: { description: 'It was asked for.', schema: REDRIVEN, example: { redriven: 1, skipped: [] } },
    },
    problems: { 404: NO_TARGET },
  },
});

export const FAILURES_DESCRIBED = describeCalls(FAILURE_CALLS, {
  listFailures: {
    summary: 'Why tasks failed',
    description: 'Groups a page of failed tasks by operation, code and cause, the largest group first.',
    answers: { 200: { description: 'A page of them.', schema: FAILURES } },
  },
});
