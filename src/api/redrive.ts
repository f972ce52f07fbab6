/** `/v1/tasks/redrive`: another run for tasks that failed. */
import { Hono } from 'hono';
import { type Target, type TaskId, taskId } from '../domain/ids.ts';
import { askRedrive, askRedriveOf, type How } from '../steps/tasks/redrive.ts';
import type { Problem } from '../util/problems.ts';
import type { ApiDeps } from './deps.ts';
import {
  badRequest,
  cursorProblems,
  dryRunProblems,
  isDryRun,
  readObject,
  readTarget,
  readText,
  takesQuery,
  unknownFields,
} from './input.ts';
import { expectTarget } from './known-target.ts';

/** Tasks of one request at the most. */
export const TASKS_MAX = 1_000;

export const redriveRoutes = (deps: ApiDeps): Hono => {
  const routes = new Hono();

  routes.post('/', takesQuery(), async (context) => {
    const { dryRun, ...of } = readRedrive(await readText(context));
    const how: How = dryRun ? 'dry' : 'for real';
    const { asked, skipped, ...next } =
      'ids' in of
        ? await askRedrive(deps, of.ids, how)
        : await askRedriveOf(deps, of.target, how, { limit: TASKS_MAX, cursor: of.cursor });
    const isEmpty = asked.length + skipped.length === 0;
    if ('target' in of && of.cursor === undefined && isEmpty) await expectTarget(deps, of.target);
    const answer = { redriven: asked.length, skipped: skipped.map(({ id, reason }) => ({ id, reason })), ...next };
    return dryRun ? context.json({ dryRun, ...answer }) : context.json(answer, 202);
  });

  return routes;
};

type RedriveRequest = { readonly dryRun: boolean } & (
  | { readonly ids: readonly TaskId[] }
  | { readonly target: Target; readonly cursor: string | undefined }
);

/** @throws HttpProblem */
const readRedrive = (text: string): RedriveRequest => {
  const body = readObject(text);
  const problems = [
    ...unknownFields(body, ['ids', 'target', 'cursor', 'dryRun']),
    ...dryRunProblems(body),
    ...(Object.hasOwn(body, 'ids') ? idProblems(body.ids) : []),
    ...whichProblems(body),
  ];
  if (problems.length > 0) throw badRequest(problems);
  const dryRun = isDryRun(body);
  return Object.hasOwn(body, 'ids')
    ? { dryRun, ids: [...new Set(body.ids as TaskId[])] }
    : { dryRun, target: readTarget(body.target), cursor: body.cursor as string | undefined };
};

const whichProblems = (body: Record<string, unknown>): Problem[] => {
  const [ids, target, cursor] = ['ids', 'target', 'cursor'].map((name) => Object.hasOwn(body, name));
  if (ids === target) return [{ path: '', reason: 'the body must have either `ids` or a `target`' }];
  if (cursor && ids) return [{ path: 'cursor', reason: 'goes with a `target`' }];
  return cursorProblems(body);
};

const idProblems = (ids: unknown): Problem[] => {
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > TASKS_MAX)
    return [{ path: 'ids', reason: `must be a list of 1 to ${TASKS_MAX} ids` }];
  return ids.flatMap((id, index) =>
    typeof id === 'string' && taskId(id) !== undefined
      ? []
      : [{ path: `ids[${index}]`, reason: 'must be the id of a task' }],
  );
};
