/** Requests of `/tasks` and `/failures`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { TASK_ID_PATTERN, type TaskId, taskId } from '../../domain/ids.ts';
import { registerFields } from '../../domain/register/register-fields.ts';
import { rawElements, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import type { Calls } from '../shared/calls.ts';
import { configured, cursor, dryRun, list, NO_BODY, nameOf, oneOf, paging, target } from '../shared/fields.ts';
import { badRequest, readObject } from '../shared/input.ts';

/** Tasks that one request sends, or redrives, at the most. */
export const TASKS_MAX = 1_000;

/** Each task is read by itself, as its raw text: see {@link readTasks}. */
const SEND = z
  .union([
    registerFields,
    z
      .strictObject({
        tasks: list<z.core.$ZodType>(registerFields, 'Two with one id have to be the same task.', '', 1, TASKS_MAX),
      })
      .check(z.meta({ id: 'RegisterMessages', description: 'Several tasks, up to 6 MB.' })),
  ])
  .check(z.describe('One task, or a list of them.'));

const ids = list(
  nameOf<TaskId>('The id of a task.', 'must be the id of a task', (text) => taskId(text) !== undefined, {
    pattern: TASK_ID_PATTERN,
  }),
  'Some tasks.',
  `must be a list of 1 to ${TASKS_MAX} ids`,
  1,
  TASKS_MAX,
);
const isDry = dryRun('Look, and do nothing.');

const REDRIVE = oneOf(
  {
    ids: { ids, dryRun: isDry },
    target: { target: target(), cursor: cursor('The `cursor` of the answer before, for the rest.'), dryRun: isDry },
  },
  'the body must have either `ids` or a `target`',
  {
    id: 'RedriveRequest',
    description: 'Some tasks, or those that failed of a Target: up to 1,000 at once, newest first.',
  },
);

const STATUS = z
  .enum(['created', 'failed'], { error: 'must be one of created, failed' })
  .check(z.describe('Without a `target`: failed ones alone, of all Targets.'));

export const TASK_CALLS = {
  sendTasks: { on: 'POST /tasks', body: SEND },
  listTasks: {
    on: 'GET /tasks',
    query: z.object({ target: z.optional(target()), status: z._default(STATUS, 'created'), ...paging(20) }),
  },
  getTask: { on: 'GET /tasks/:id' },
  cancelTask: { on: 'DELETE /tasks/:id', body: NO_BODY },
  redriveTasks: { on: 'POST /tasks/redrive', body: REDRIVE },
} satisfies Calls;

export const FAILURE_CALLS = {
  listFailures: {
    on: 'GET /failures',
    query: z.object({
      operation: configured('operation', 'Of one operation alone.'),
      cursor: cursor('The `cursor` of the page before.'),
    }),
  },
} satisfies Calls;

/** The raw texts of a request's tasks, and how to name each in an error. */
export interface SentTasks {
  readonly texts: readonly string[];
  /** Where in the body a path into a task is: there when the body is the one task, otherwise `tasks[3].payload`. */
  pathOf(index: number, path: string): string;
}

/** One task, or a list of them under `tasks`. @throws HttpProblem */
export const readTasks = (text: string): SentTasks => {
  const body = readObject(text);
  if (!Object.hasOwn(body, 'tasks')) return { texts: [text], pathOf: (_, path) => path };
  const others = Object.keys(body).filter((key) => key !== 'tasks');
  const errors = others.map((path): Problem => ({ path, reason: 'is not a field beside `tasks`' }));
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
