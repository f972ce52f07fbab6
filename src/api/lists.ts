/** `/v1/lists`: open, look up, add, seal, cancel, trigger, delete. */
import { Hono } from 'hono';
import { operationNamed } from '../domain/config/resolved.ts';
import type { Token } from '../domain/ids.ts';
import { type ListId, trackerOf } from '../domain/lists/ids.ts';
import type { List, NewList } from '../domain/lists/list.ts';
import { seal } from '../steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../steps/fan-outs/end.ts';
import { nextLook, visit } from '../steps/fan-outs/patrol.ts';
import { type Appended, append } from '../steps/lists/append.ts';
import { availableIn, jobsPage, listProgress } from '../steps/lists/jobs.ts';
import { type Triggered, trigger } from '../steps/lists/trigger.ts';
import type { ApiDeps } from './deps.ts';
import { JSON_TYPE, readPaging, readPlace, readText, refuseBody, takesQuery } from './input.ts';
import { listNamed, lookUp, unknownList } from './known-list.ts';
import { listClaimRoutes } from './list-claims.ts';
import { readJobs, readOpening, readTrigger } from './list-input.ts';
import { listView, printShownJob } from './list-views.ts';
import { HttpProblem } from './problem.ts';

/** How long a request clears rows away (ms); the sweep does the rest. */
const CLEAR_TIME = 5_000;
/** Jobs of a page. */
const [PAGE_MOST, PAGE_USUAL] = [500, 100];

export const listRoutes = (deps: ApiDeps): Hono => {
  const { config, fanOuts, lists, machine } = deps;
  const routes = new Hono();
  const viewOf = async (list: List) => listView(list, await listProgress(fanOuts, list, machine.now()));

  routes.post('/', takesQuery(), async (context) => {
    const { id = deps.newId() as ListId, name, ...fields } = readOpening(config, await readText(context));
    const now = machine.now();
    const opening: NewList = {
      ...fields,
      id: trackerOf(id),
      createdAt: now,
      ...(name === undefined ? {} : { userKey: name }),
    };
    const { isNew, stored } = await lists.open(opening, nextLook(now, now));
    if (!isNew) expectSame(id, stored, opening);
    return context.json(await viewOf(stored), isNew ? 201 : 200);
  });

  routes.get('/', takesQuery('limit', 'cursor'), async (context) => {
    const { limit, cursor } = readPaging(context, 100, 20);
    const { items, ...next } = await lists.page(limit, cursor);
    return context.json({ lists: items.map((list) => listView(list, undefined)), ...next });
  });

  routes.get('/:id', takesQuery(), async (context) =>
    context.json(await viewOf(await lookUp(deps, listNamed(context.req.param('id'))))),
  );

  routes.delete('/:id', takesQuery(), async (context) => {
    await refuseBody(context);
    return context.json(await remove(deps, listNamed(context.req.param('id'))));
  });

  routes.get('/:id/jobs', takesQuery('from', 'limit'), async (context) => {
    const place = readPlace(context, PAGE_MOST, PAGE_USUAL);
    const { jobs, next } = await jobsPage(deps, await lookUp(deps, listNamed(context.req.param('id'))), place);
    const rest = next === undefined ? '' : `,"next":${next}`;
    return context.body(`{"jobs":[${jobs.map(printShownJob).join(',')}]${rest}}`, 200, JSON_TYPE);
  });

  routes.post('/:id/jobs', takesQuery(), async (context) => {
    const id = listNamed(context.req.param('id'));
    const { operation } = await lookUp(deps, id);
    expectOperation(deps, id, operation);
    const { payloads, token } = readJobs(config, operation, await readText(context));
    const appended = await append(deps, id, payloads, token ?? (deps.newId() as Token));
    return context.json(await addedOf(deps, id, appended));
  });

  routes.post('/:id/seal', takesQuery(), async (context) => {
    await refuseBody(context);
    const id = listNamed(context.req.param('id'));
    const { status } = await lookUp(deps, id);
    if (status === 'cancelled') throw isClosed(id, status, 'there is nothing to seal any more');
    await seal(deps, trackerOf(id));
    return context.json(await viewOf(await lookUp(deps, id)));
  });

  routes.post('/:id/cancel', takesQuery(), async (context) => {
    await refuseBody(context);
    const id = listNamed(context.req.param('id'));
    await cancelRest(deps, await lookUp(deps, id));
    const list = await lookUp(deps, id);
    if (list.status === 'complete') throw isClosed(id, list.status, 'there is nothing to cancel any more');
    return context.json(await viewOf(list));
  });

  routes.post('/:id/triggers', takesQuery(), async (context) => {
    const { wanted, token } = readTrigger(await readText(context));
    const id = listNamed(context.req.param('id'));
    expectOperation(deps, id, (await lookUp(deps, id)).operation);
    const triggered = await trigger(deps, id, wanted, token ?? (deps.newId() as Token));
    const count = await triggeredOf(deps, id, triggered);
    return context.json({ triggered: count, left: await availableIn(fanOuts, await lookUp(deps, id), machine.now()) });
  });

  routes.route('/', listClaimRoutes(deps));
  return routes;
};

const isClosed = (id: ListId, status: List['status'], rest: string): HttpProblem =>
  new HttpProblem(409, `list ${id} is ${status}: ${rest}`);

/** Its id may be taken by one that is otherwise. @throws HttpProblem */
const expectSame = (id: ListId, stored: List, { operation, userKey, callback }: NewList): void => {
  if (stored.status === 'expired') throw new HttpProblem(409, `list ${id} was there, and was deleted: take another id`);
  const [other] = [
    ...(stored.operation === operation ? [] : ['operation']),
    ...(stored.userKey === userKey ? [] : ['name']),
    ...(stored.callback === callback ? [] : ['callback']),
  ];
  if (other)
    throw new HttpProblem(
      409,
      `list ${id} is there already, with another ${other}: take another id, or give the same ${other}`,
    );
};

/** It may have been taken out of the configuration since the list was opened. @throws HttpProblem */
const expectOperation = ({ config }: ApiDeps, id: ListId, operation: string | undefined): void => {
  if (operation !== undefined && !operationNamed(config, operation))
    throw new HttpProblem(
      409,
      `list ${id} is of operation ${JSON.stringify(operation)}, which is not configured any more: put it back, or let workers claim the jobs`,
    );
};

/** @throws HttpProblem */
const addedOf = async (deps: ApiDeps, id: ListId, appended: Appended) => {
  switch (appended.kind) {
    case 'appended': {
      const { first, count, total } = appended;
      return { first, count, total };
    }
    case 'unknown':
      throw await unknownList(deps, id);
    case 'closed':
      if (appended.status === 'expired') throw await unknownList(deps, id);
      throw isClosed(id, appended.status, 'nothing is added to it any more');
    case 'other-jobs':
      throw new HttpProblem(409, 'the token stands for other jobs already: another addition takes another one');
  }
};

/** @throws HttpProblem */
const triggeredOf = async (deps: ApiDeps, id: ListId, triggered: Triggered): Promise<number> => {
  switch (triggered.kind) {
    case 'triggered':
      return triggered.count;
    case 'unknown':
      throw await unknownList(deps, id);
    case 'closed':
      if (triggered.status === 'expired') throw await unknownList(deps, id);
      throw isClosed(id, triggered.status, 'nothing of it is handed out any more');
    case 'no-operation':
      throw new HttpProblem(
        409,
        `list ${id} has no operation: its jobs cannot become tasks, and are for workers that claim them`,
      );
  }
};

/** Ends it without an event, and clears away what it has. Again is harmless. @returns how it was @throws HttpProblem */
const remove = async (deps: ApiDeps, id: ListId) => {
  const { fanOuts, lists, machine } = deps;
  const stored = await lists.read(id);
  const list = stored?.status === 'expired' ? stored : await lookUp(deps, id);
  const progress = list.status === 'expired' ? undefined : await listProgress(fanOuts, list, machine.now());
  const ended = await discard(deps, list);
  if (ended?.event) throw new HttpProblem(409, `the event of list ${id}'s end is on its way: try again in a moment`);
  const until = machine.now() + CLEAR_TIME;
  await visit(deps, trackerOf(id), () => machine.now() < until);
  return listView({ ...list, status: 'expired', ...(ended?.ended ? { ended: ended.ended } : {}) }, progress);
};
