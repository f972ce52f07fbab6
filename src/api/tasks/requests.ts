/** Requests of `/tasks` and `/failures`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { BATCH_ID_MAX_BYTES, TASK_ID_PATTERN, type TaskId, taskId } from '../../domain/ids.ts';
import { registerFields } from '../../domain/register/register-fields.ts';
import { rawElements, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import type { Calls } from '../shared/calls.ts';
import {
  configured,
  cursor,
  dryRun,
  list,
  NO_BODY,
  nameOf,
  oneOf,
  paging,
  target,
  text,
  word,
} from '../shared/fields.ts';
import { badRequest, readObject } from '../shared/input.ts';

/** Maximum number of tasks in one request to send or redrive. */
export const TASKS_MAX = 1_000;

/**
 * The published schema of the body. {@link readTasks} does not use it, because it reads each task separately, as raw
 * text.
 */
const SEND = z
  .union([
    registerFields,
    z
      .strictObject({
        tasks: list<z.core.$ZodType>(
          registerFields,
          '1 to 1,000 tasks. Two with the same id must be identical.',
          '',
          1,
          TASKS_MAX,
        ),
      })
      .check(z.meta({ id: 'RegisterMessages', description: 'Several tasks, up to 6 MB.' })),
  ])
  .check(z.describe('One task, or a list of them.'));

const ids = list(
  nameOf<TaskId>('A task id.', 'must be the id of a task', (text) => taskId(text) !== undefined, {
    pattern: TASK_ID_PATTERN,
  }),
  'Ids of 1 to 1,000 tasks.',
  `must be a list of 1 to ${TASKS_MAX} ids`,
  1,
  TASKS_MAX,
);
const isDry = dryRun('If true, the call only reports what it would do.');

const REDRIVE = oneOf(
  {
    ids: { ids, dryRun: isDry },
    target: { target: target(), cursor: cursor('The `cursor` of the previous answer.'), dryRun: isDry },
  },
  'the body must have either `ids` or a `target`',
  {
    id: 'RedriveRequest',
    description: 'Tasks by id, or the failed tasks of a Target: up to 1,000 for each request, newest first.',
  },
);

const STATUS = word('The status to list', 'must be one of created, batched, in-progress, failed', {
  created: 'waiting tasks; requires a `target`',
  batched: 'tasks in a batch whose first attempt has not started; requires a `target` or an `operation`',
  'in-progress':
    'tasks without a result in a batch whose first attempt has started; requires a `target` or an `operation`',
  failed: 'failed tasks, without a `target` those of all Targets',
});

export const TASK_CALLS = {
  sendTasks: { on: 'POST /tasks', right: 'work', body: SEND },
  listTasks: {
    on: 'GET /tasks',
    right: 'read',
    query: z.object({
      target: z.optional(target()),
      operation: configured(
        'operation',
        'With `batched` or `in-progress`: tasks of this operation in batches that have had an attempt, or have been held for over 15 minutes.',
      ),
      batch: z.optional(
        text('All tasks of this batch, whatever their status.', 'must be the id of a batch', {
          minLength: 1,
          maxLength: BATCH_ID_MAX_BYTES,
        }),
      ),
      status: z.optional(STATUS),
      ...paging(20),
    }),
  },
  getTask: { on: 'GET /tasks/:id', right: 'read' },
  cancelTask: { on: 'DELETE /tasks/:id', right: 'operate', audit: 'cancel', body: NO_BODY },
  redriveTasks: { on: 'POST /tasks/redrive', right: 'operate', audit: 'redrive', body: REDRIVE },
} satisfies Calls;

export type TasksAsked = z.output<typeof TASK_CALLS.listTasks.query>;

export const FAILURE_CALLS = {
  listFailures: {
    on: 'GET /failures',
    right: 'read',
    query: z.object({
      operation: configured('operation', 'Only this operation.'),
      cursor: cursor('The `cursor` of the previous page.'),
    }),
  },
} satisfies Calls;

/** The raw texts of the tasks in a request, and the paths that error messages name. */
export interface SentTasks {
  readonly texts: readonly string[];
  /**
   * Turns a path in a task into a path in the body. The path is unchanged if the body is one task. In a list of tasks,
   * it becomes `tasks[3].payload`, for example.
   */
  pathOf(index: number, path: string): string;
}

/** One task, or a list of them under `tasks`. @throws HttpProblem */
export const readTasks = (text: string): SentTasks => {
  const body = readObject(text);
  if (!Object.hasOwn(body, 'tasks')) return { texts: [text], pathOf: (_, path) => path };
  const others = Object.keys(body).filter((key) => key !== 'tasks');
  const errors = others.map((path): Problem => ({ path, reason: 'is not allowed beside `tasks`' }));
  const { tasks } = body;
  if (!Array.isArray(tasks)) errors.push({ path: 'tasks', reason: 'must be a list' });
  else if (tasks.length === 0 || tasks.length > TASKS_MAX)
    errors.push({ path: 'tasks', reason: `must have 1 to ${TASKS_MAX} elements, not ${tasks.length}` });
  if (errors.length > 0) throw badRequest(errors);
  return {
    texts: rawElements(rawMembers(text).get('tasks') ?? '[]'),
    pathOf: (index, path) => `tasks[${index}]${path && `.${path}`}`,
  };
};
