/** `/tasks` and `/failures`. */
import * as z from 'zod';
import { TASKS_MAX } from '../../../src/api/input.ts';
import { TASKS_MAX as REDRIVEN_MAX } from '../../../src/api/redrive.ts';
import type { WaitsFor } from '../../../src/api/waits-for.ts';
import { TASK_ID_PATTERN } from '../../../src/domain/ids.ts';
import { OMITTED, TASK_ERROR } from '../events.ts';
import { registerMessage } from '../examples.ts';
import { anyObject, anything, flag, list, moment, number, onlyTrue, text, whole, word } from '../fields.ts';
import { REGISTER_MESSAGE } from '../register-message.ts';
import { CURSOR, paging, type Route, SKIPPED, TARGET_ASKED } from './route.ts';

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
  .meta({ id: 'WaitsFor', description: 'What an unfinished task waits for.' });

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
  batchId: text('Its batch, if it has or had one.').optional(),
  attempts: whole('Attempts at its batch.'),
  nextAttemptAfter: moment('Between two attempts: when the next one is, at the earliest.').optional(),
  lastReason: text('Why the last attempt was not the end; it may quote the downstream.').optional(),
  run: whole('1; a redrive adds one.', 1),
  correlationId: text('As sent.').optional(),
  priority: whole('As sent.', 1, 9).optional(),
  weight: number('As sent.').optional(),
  coalesceKey: text('As sent.').optional(),
  version: whole('As sent.').optional(),
  callback: text('As sent.').optional(),
  fanOutItem: text('As sent.').optional(),
  startBy: moment('When its `expiresIn` is over.').optional(),
  sentAt: moment(
    'When its first message was sent, where `coalesceKey` or `merge` make it matter which task is newer.',
  ).optional(),
  createdAt: moment('When it was registered.'),
  redrivenAt: moment('When its run began, if it was redriven.').optional(),
  finishedAt: moment('When it ended.').optional(),
  error: TASK_ERROR.optional(),
  supersededBy: text('The newer task of its `coalesceKey` that was done instead.').optional(),
  resultOmitted: OMITTED.optional(),
};

const TASK = z
  .object({
    ...outline,
    waitsFor: WAITS_FOR.optional(),
    payload: anyObject('As it was sent, to the letter.').optional(),
    result: anything("The downstream's, to the letter, if it gave one.").optional(),
  })
  .meta({ id: 'Task', description: 'A task.' });

const TASK_OUTLINE = z
  .object(outline)
  .meta({ id: 'TaskOutline', description: 'A task, without its payload, its result and what it waits for.' });

const SEND = z
  .union([
    REGISTER_MESSAGE,
    z
      .strictObject({
        tasks: list(
          REGISTER_MESSAGE as unknown as z.ZodType,
          'Two with one id have to be the same task.',
          1,
          TASKS_MAX,
        ),
      })
      .meta({ id: 'RegisterMessages', description: 'Several tasks, up to 6 MB.' }),
  ])
  .describe('One task, or a list of them.');

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
  .meta({ id: 'FailureGroup', description: 'Failed tasks with one cause.' });

const dryRun = flag('Look, and do nothing.').optional();
const REDRIVE = z
  .union([
    z.strictObject({
      ids: list(text('The id of a task.', { pattern: TASK_ID_PATTERN }), 'Some tasks.', 1, REDRIVEN_MAX),
      dryRun,
    }),
    z.strictObject({
      target: TARGET_ASKED,
      cursor: text('The `cursor` of the answer before, for the rest.').optional(),
      dryRun,
    }),
  ])
  .meta({
    id: 'RedriveRequest',
    description: 'Some tasks, or those that failed of a Target: up to 1,000 at once, newest first.',
  });

const redriven = {
  redriven: whole('For how many another run was asked; or would be.'),
  skipped: list(SKIPPED, 'For which none was asked.'),
  cursor: CURSOR,
};

const NO_TASK = 'It was not registered yet, was refused, or has expired.';
const NO_TARGET = 'No task of the Target was ever registered.';

export const TASK_ROUTES: readonly Route[] = [
  {
    method: 'post',
    path: '/tasks',
    id: 'sendTasks',
    summary: 'Registers tasks',
    description:
      'Nothing is done where anything is wrong. After a 5xx some may have been registered: tasks with ids of their own can be sent again. An id that is known already is found out later, and refused if the payload differs.',
    body: { schema: SEND, example: registerMessage },
    answers: {
      202: {
        description: 'They are on their way.',
        schema: z.object({ ids: list(z.string(), 'In the order in which they were sent.') }).meta({ id: 'Registered' }),
        example: { ids: ['order-7'] },
      },
    },
  },
  {
    method: 'get',
    path: '/tasks',
    id: 'listTasks',
    summary: 'Tasks that wait, or that failed',
    query: {
      target: { schema: TARGET_ASKED },
      status: {
        schema: z
          .enum(['created', 'failed'])
          .meta({ default: 'created', description: 'Without a `target`: failed ones alone, of all Targets.' }),
      },
      ...paging(20),
    },
    answers: {
      200: {
        description: 'A page of them. Failed ones of a Target come newest first.',
        schema: z
          .object({ tasks: list(TASK_OUTLINE, 'They are read one by one.'), cursor: CURSOR })
          .meta({ id: 'TaskPage' }),
      },
    },
    problems: { 404: NO_TARGET },
  },
  {
    method: 'get',
    path: '/tasks/{id}',
    id: 'getTask',
    summary: 'A task',
    answers: { 200: { description: 'The task.', schema: TASK } },
    problems: { 404: NO_TASK },
  },
  {
    method: 'delete',
    path: '/tasks/{id}',
    id: 'cancelTask',
    summary: 'Cancels a task that waits',
    description: 'Twice is harmless.',
    answers: { 200: { description: 'The task as it is then: `failed`, with the code `cancelled`.', schema: TASK } },
    problems: {
      404: NO_TASK,
      409: 'A batch has it, it has ended otherwise, or it is being registered at this moment.',
    },
  },
  {
    method: 'post',
    path: '/tasks/redrive',
    id: 'redriveTasks',
    summary: 'Gives failed tasks another run',
    body: { schema: REDRIVE, example: { ids: ['order-8'] } },
    answers: {
      200: {
        description: 'A dry run: nothing happened.',
        schema: z.object({ dryRun: onlyTrue('It was one.'), ...redriven }).meta({ id: 'RedriveDryRun' }),
      },
      202: {
        description: 'It was asked for.',
        schema: z.object(redriven).meta({ id: 'Redriven' }),
        example: { redriven: 1, skipped: [] },
      },
    },
    problems: { 404: NO_TARGET },
  },
  {
    method: 'get',
    path: '/failures',
    id: 'listFailures',
    summary: 'Why tasks failed',
    description: 'Groups a page of failed tasks by operation, code and cause, the largest group first.',
    query: {
      operation: { schema: text('Of one operation alone.') },
      cursor: { schema: text('The `cursor` of the page before.') },
    },
    answers: {
      200: {
        description: 'A page of them.',
        schema: z
          .object({
            groups: list(FAILURE_GROUP, 'The largest first.'),
            looked: whole('How many failed tasks were looked at.'),
            cursor: CURSOR,
          })
          .meta({ id: 'Failures' }),
      },
    },
  },
];
