/** `/v1/tasks`: send, look up, list, cancel, redrive. */
import type { Hono } from 'hono';
import type { Batch } from '../../domain/batches/batch.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { parseCandidate, type Target, type TaskId, taskId } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import type { Sender } from '../../domain/producers/sender.ts';
import { kindOf, withId } from '../../domain/register/register-body.ts';
import { parseRegisterMessage, type SentTask } from '../../domain/register/register-message.ts';
import { isSameTask, type Task } from '../../domain/tasks/task.ts';
import { Judge, taskProblems } from '../../steps/producers/judge.ts';
import { askRedrive, askRedriveOf, type How } from '../../steps/tasks/redrive.ts';
import { cancel } from '../../steps/tasks/settle.ts';
import { parseJson } from '../../util/json-text.ts';
import type { Parsed, Problem } from '../../util/problems.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest, JSON_TYPE, operationAsked } from '../shared/input.ts';
import { expectTarget } from '../shared/known-target.ts';
import { HttpProblem } from '../shared/problem.ts';
import { senderIn } from '../shared/sender.ts';
import { inBatchesOfOperation, inBatchesOfTarget, membersOfBatch } from './in-batches.ts';
import { readTasks, TASK_CALLS, TASKS_MAX, type TasksAsked } from './requests.ts';
import { printTask } from './views.ts';
import { waitsFor } from './waits-for.ts';

export const taskRoutes = (deps: ApiDeps): Hono =>
  serve(deps, TASK_CALLS, {
    sendTasks: async ({ context, text }) => {
      const { texts, pathOf } = readTasks(await text());
      const checked = texts.map((body) => {
        const messageId = deps.newId();
        return { body: withId(body, messageId), parsed: parseRegisterMessage(deps.config, { messageId, body }) };
      });
      const firsts = firstOfEachId(checked.map(({ parsed }) => (parsed.ok ? parsed.value : undefined)));
      const errors = checked.flatMap(({ body, parsed }, index): Problem[] =>
        (parsed.ok ? idProblems(parsed.value, firsts) : refusals(body, parsed.problems)).map(({ path, reason }) => ({
          path: pathOf(index, path),
          reason,
        })),
      );
      if (errors.length > 0) throw badRequest(errors);
      const sender = senderIn(context);
      const forbidden = await brokenRules(deps, sender, checked);
      if (forbidden.length > 0)
        throw new HttpProblem(
          403,
          'the rules for producers forbid some of the tasks; none was sent',
          forbidden.map(({ index, path, reason }) => ({ path: pathOf(index, path), reason })),
        );
      await deps.queues.register(
        checked.map(({ body }) => body),
        sender,
      );
      return context.json({ ids: checked.flatMap(({ parsed }) => (parsed.ok ? [parsed.value.id] : [])) }, 202);
    },

    listTasks: async ({ context, query }) => {
      const asked = query();
      const { items, cursor } = await taskPage(deps, asked);
      if (asked.target !== undefined && items.length === 0 && asked.cursor === undefined)
        await expectTarget(deps, asked.target);
      const texts = await Promise.all(items.map(({ id, batch }) => lookUp(deps, id, 'in brief', batch)));
      const next = cursor === undefined ? '' : `,"cursor":${JSON.stringify(cursor)}`;
      return context.body(`{"tasks":[${texts.filter((text) => text !== undefined).join(',')}]${next}}`, 200, JSON_TYPE);
    },

    getTask: async ({ context, part }) => {
      const text = await lookUp(deps, taskId(part('id')));
      if (text === undefined) throw noSuchTask(part('id'));
      return context.body(text, 200, JSON_TYPE);
    },

    cancelTask: async ({ context, part, body }) => {
      await body();
      const id = taskId(part('id'));
      const cancelled = id && (await cancel(deps, id));
      if (!cancelled) throw noSuchTask(part('id'));
      const { task, is } = cancelled;
      if (is === 'registering')
        throw new HttpProblem(
          409,
          `task ${task.id} is being registered and cannot be cancelled yet: try again in a moment`,
        );
      if (is === 'under-way') throw new HttpProblem(409, `task ${task.id} can no longer be cancelled: ${whyNot(task)}`);
      return context.body(printTask(task, undefined, { payload: await deps.tasks.payload(task.id) }), 200, JSON_TYPE);
    },

    redriveTasks: async ({ context, body }) => {
      const wanted = await body(cursorProblems);
      const sender = senderIn(context);
      const how: How = wanted.dryRun ? 'dry' : 'for real';
      const { asked, skipped, ...next } =
        'ids' in wanted
          ? await askRedrive(deps, [...new Set(wanted.ids)], how, sender)
          : await askRedriveOf(deps, wanted.target, how, { limit: TASKS_MAX, cursor: wanted.cursor, sender });
      const isEmpty = asked.length + skipped.length === 0;
      if ('target' in wanted && wanted.cursor === undefined && isEmpty) await expectTarget(deps, wanted.target);
      const answer = { redriven: asked.length, skipped: skipped.map(({ id, reason }) => ({ id, reason })), ...next };
      return how === 'dry' ? context.json({ dryRun: true, ...answer }) : context.json(answer, 202);
    },
  });

/**
 * What the rules of their operations have against tasks of this sender. Empty unless the stage enforces the rules: then
 * the register function would refuse these tasks after the answer.
 */
const brokenRules = async (
  { config, powers }: ApiDeps,
  sender: Sender,
  checked: readonly { readonly parsed: Parsed<SentTask> }[],
): Promise<readonly (Problem & { readonly index: number })[]> => {
  if ((await powers.mode()) !== 'enforce') return [];
  const judge = new Judge('enforce', powers.producers);
  return checked.flatMap(({ parsed }, index) =>
    parsed.ok
      ? taskProblems(judge, operationFor(config, parsed.value.operation), { sender }, parsed.value).map((problem) => ({
          ...problem,
          index,
        }))
      : [],
  );
};

const TARGET_OR_OPERATION = 'is required, or an `operation`, because tasks in batches are listed for one of them';
const TARGET_REQUIRED =
  'is required, because waiting tasks are listed for one Target: add it, or list the failed tasks (status=failed)';

const cursorProblems = (body: object): readonly Problem[] =>
  Object.hasOwn(body, 'cursor') && Object.hasOwn(body, 'ids')
    ? [{ path: 'cursor', reason: 'is allowed only with `target`' }]
    : [];

const noSuchTask = (id: string): HttpProblem =>
  new HttpProblem(
    404,
    `there is no task ${JSON.stringify(id)}: it is not registered yet, was rejected (see the rejected queue), or was deleted after keepTasks`,
  );

/** Why a task can no longer be cancelled. */
const whyNot = ({ state }: Task): string => {
  switch (state.status) {
    case 'created':
      return 'it was redriven just now: try again';
    case 'batched':
      return `it is in batch ${state.batchId}`;
    case 'succeeded':
      return state.supersededBy === undefined ? 'it has succeeded' : `the newer task ${state.supersededBy} replaced it`;
    case 'failed':
      return `it has already failed (${state.error.code})`;
  }
};

type Firsts = ReadonlyMap<TaskId, { readonly index: number; readonly task: SentTask }>;

const firstOfEachId = (tasks: readonly (SentTask | undefined)[]): Firsts =>
  new Map(tasks.flatMap((task, index) => (task ? [[task.id, { index, task }] as const] : [])).toReversed());

/**
 * Refuses two different tasks with the same id, because the register function would reject one of them after this
 * answer.
 */
const idProblems = (task: SentTask, firsts: Firsts): Problem[] => {
  const first = firsts.get(task.id);
  return !first || isSameTask(first.task, task)
    ? []
    : [
        {
          path: 'id',
          reason: `is also the id of tasks[${first.index}], which has a different operation, payload or fanOutItem`,
        },
      ];
};

/**
 * Replaces the errors of a redrive message, which is valid only on the register queue. Checked as a task, it has three
 * errors that hide the real one.
 */
const refusals = (body: string, problems: readonly Problem[]): readonly Problem[] => {
  const json = parseJson(body);
  const isRedrive = json.ok && kindOf(json.value) === 'redrive';
  return isRedrive
    ? [
        {
          path: 'run',
          reason: 'belongs to a redrive: to run a task again, send {"ids": [its id]} to POST /v1/tasks/redrive',
        },
      ]
    : problems;
};

/**
 * @param how lists use `in brief`, which leaves out payload and result. Each may have 256 KB, and Lambda limits an
 * answer to 6 MB.
 * @param known the batch that the task is thought to be in, if it was read already.
 */
const lookUp = async (
  deps: ApiDeps,
  id: TaskId | undefined,
  how: 'in full' | 'in brief' = 'in full',
  known?: Batch,
): Promise<string | undefined> => {
  const { tasks, batches } = deps;
  const task = id && (await tasks.get(id));
  if (!task) return undefined;
  const isIn = task.state.status === 'batched' ? task.state.batchId : undefined;
  const batch = isIn === known?.id ? known : isIn && (await batches.get(isIn));
  if (how === 'in brief') return printTask(task, batch, undefined);
  return printTask(task, batch, { payload: await tasks.payload(task.id), waitsFor: await waitsFor(deps, task, batch) });
};

/** The tasks that a request selects, with their batches if those were read. @throws HttpProblem */
const taskPage = async (
  deps: ApiDeps,
  { target, operation, batch, status: asked, limit, cursor }: TasksAsked,
): Promise<Page<{ readonly id: TaskId; readonly batch?: Batch }>> => {
  if (batch !== undefined) {
    const others = Object.entries({ target, operation, status: asked }).filter(([, value]) => value !== undefined);
    if (others.length > 0)
      throw badRequest(others.map(([path]) => ({ path, reason: 'is not allowed beside `batch`' })));
    return membersOfBatch(deps, batch, limit, cursor);
  }
  const status = asked ?? 'created';
  if (status === 'batched' || status === 'in-progress') {
    if (target !== undefined) return inBatchesOfTarget(deps, target, status, limit, cursor);
    if (operation === undefined) throw badRequest([{ path: 'target', reason: TARGET_OR_OPERATION }]);
    return inBatchesOfOperation(deps, operationAsked(deps.config, operation), status, limit, cursor);
  }
  if (operation !== undefined)
    throw badRequest([{ path: 'operation', reason: 'is only allowed with status=batched or status=in-progress' }]);
  if (target === undefined && status === 'created') throw badRequest([{ path: 'target', reason: TARGET_REQUIRED }]);
  const page = await idPage(deps, status, target, limit, cursor);
  return { ...page, items: page.items.map((id) => ({ id })) };
};

/** @param target the Target. Undefined selects the failed tasks of all Targets. */
const idPage = (
  deps: ApiDeps,
  status: 'created' | 'failed',
  target: Target | undefined,
  limit: number,
  cursor: string | undefined,
): Promise<Page<TaskId>> => {
  if (target === undefined) return deps.tasks.failedAnywhere(limit, cursor);
  return status === 'failed' ? deps.tasks.failed(target, limit, cursor) : waitingPage(deps, target, limit, cursor);
};

/** A page of the ids of waiting tasks. The task that is batched next comes first. */
const waitingPage = async (
  { waiting }: ApiDeps,
  target: Target,
  limit: number,
  cursor: string | undefined,
): Promise<Page<TaskId>> => {
  const page = await waiting.page(target, limit, cursor);
  return { ...page, items: page.items.map(({ candidate }) => parseCandidate(candidate).id) };
};
