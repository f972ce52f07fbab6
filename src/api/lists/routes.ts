/** `/v1/lists`: open, look up, add, seal, cancel, trigger, delete. */
import type { Hono } from 'hono';
import { operationNamed } from '../../domain/config/resolved.ts';
import type { Token } from '../../domain/ids.ts';
import { type ListId, trackerOf } from '../../domain/lists/ids.ts';
import type { List, NewList } from '../../domain/lists/list.ts';
import { seal } from '../../steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../steps/fan-outs/end.ts';
import { nextLook, visit } from '../../steps/fan-outs/patrol.ts';
import { type Appended, append } from '../../steps/lists/append.ts';
import { availableIn, jobsPage, listProgress } from '../../steps/lists/jobs.ts';
import { type Triggered, trigger } from '../../steps/lists/trigger.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { JSON_TYPE } from '../shared/input.ts';
import { HttpProblem } from '../shared/problem.ts';
import { senderIn } from '../shared/sender.ts';
import { unconfigured } from '../shared/unconfigured.ts';
import { listClaimRoutes } from './claims.ts';
import { listNamed, lookUp, unknownList } from './known-list.ts';
import { payloadProblems, payloadsOf } from './payloads.ts';
import { LIST_CALLS } from './requests.ts';
import { listView, printShownJob } from './views.ts';

/** How long one request deletes rows, in milliseconds. The sweep deletes the remaining rows. */
const CLEAR_TIME = 5_000;

export const listRoutes = (deps: ApiDeps): Hono => {
  const { config, lists, machine } = deps;
  const viewOf = async (list: List) => listView(list, await listProgress(deps, list));

  const routes = serve(deps, LIST_CALLS, {
    openList: async ({ context, body }) => {
      const { id = deps.newId() as ListId, name, ...rest } = await body((given) => unconfigured(config, given));
      const now = machine.now();
      const opening: NewList = {
        ...(rest as Pick<NewList, 'operation' | 'callback' | 'maxDeliveries'>),
        id: trackerOf(id),
        createdAt: now,
        ...(name === undefined ? {} : { userKey: name }),
      };
      const { isNew, stored } = await lists.open(opening, nextLook(now, now));
      if (!isNew) expectSame(id, stored, opening);
      return context.json(await viewOf(stored), isNew ? 201 : 200);
    },

    listLists: async ({ context, query }) => {
      const { limit, cursor } = query();
      const { items, ...next } = await lists.page(limit, cursor);
      return context.json({ lists: items.map((list) => listView(list, undefined)), ...next });
    },

    getList: async ({ context, part }) => context.json(await viewOf(await lookUp(deps, listNamed(part('id'))))),

    deleteList: async ({ context, part, body }) => {
      await body();
      return context.json(await remove(deps, listNamed(part('id'))));
    },

    sealList: async ({ context, part, body }) => {
      await body();
      const id = listNamed(part('id'));
      const { status } = await lookUp(deps, id);
      if (status === 'cancelled') throw isClosed(id, status, 'it can no longer be sealed');
      await seal(deps, trackerOf(id));
      return context.json(await viewOf(await lookUp(deps, id)));
    },

    cancelList: async ({ context, part, body }) => {
      await body();
      const id = listNamed(part('id'));
      await cancelRest(deps, await lookUp(deps, id));
      const list = await lookUp(deps, id);
      if (list.status === 'complete') throw isClosed(id, list.status, 'it can no longer be cancelled');
      return context.json(await viewOf(list));
    },

    addJobs: async ({ context, part, text, body }) => {
      const id = listNamed(part('id'));
      const { operation } = await lookUp(deps, id);
      expectOperation(deps, id, operation);
      const sent = await text();
      const { token = deps.newId() as Token } = await body((given) => payloadProblems(config, operation, given, sent));
      return context.json(await addedOf(deps, id, await append(deps, id, payloadsOf(sent), token)));
    },

    listJobs: async ({ context, part, query }) => {
      const { from, limit, status } = query();
      const wanted = { from, limit, ...(status === undefined ? {} : { status }) };
      const { jobs, next } = await jobsPage(deps, await lookUp(deps, listNamed(part('id'))), wanted);
      const rest = next === undefined ? '' : `,"next":${next}`;
      return context.body(`{"jobs":[${jobs.map(printShownJob).join(',')}]${rest}}`, 200, JSON_TYPE);
    },

    triggerJobs: async ({ context, part, body }) => {
      const { token = deps.newId() as Token, ...wanted } = await body();
      const id = listNamed(part('id'));
      expectOperation(deps, id, (await lookUp(deps, id)).operation);
      const count = await triggeredOf(deps, id, await trigger(deps, id, wanted, token, senderIn(context)));
      return context.json({
        triggered: count,
        left: await availableIn(deps, await lookUp(deps, id)),
      });
    },
  });
  routes.route('/', listClaimRoutes(deps));
  return routes;
};

const isClosed = (id: ListId, status: List['status'], rest: string): HttpProblem =>
  new HttpProblem(409, `list ${id} is ${status}: ${rest}`);

/** Refuses to open a list if its id belongs to a list with other fields, or to a deleted list. @throws HttpProblem */
const expectSame = (id: ListId, stored: List, { operation, userKey, callback, maxDeliveries }: NewList): void => {
  if (stored.status === 'expired') throw new HttpProblem(409, `list ${id} was deleted: use another id`);
  const [other] = [
    ...(stored.operation === operation ? [] : ['operation']),
    ...(stored.userKey === userKey ? [] : ['name']),
    ...(stored.callback === callback ? [] : ['callback']),
    ...(stored.maxDeliveries === maxDeliveries ? [] : ['maxDeliveries']),
  ];
  if (other)
    throw new HttpProblem(409, `list ${id} already exists with another ${other}: use another id, or the same ${other}`);
};

/** Refuses a list whose operation was removed from the configuration after the list was opened. @throws HttpProblem */
const expectOperation = ({ config }: ApiDeps, id: ListId, operation: string | undefined): void => {
  if (operation !== undefined && !operationNamed(config, operation))
    throw new HttpProblem(
      409,
      `list ${id} has the operation ${JSON.stringify(operation)}, which is no longer configured: configure it again, or let workers claim the jobs`,
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
      throw isClosed(id, appended.status, 'no more jobs can be added');
    case 'other-jobs':
      throw new HttpProblem(409, 'the token was already used with other jobs: use a new token');
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
      throw isClosed(id, triggered.status, 'its jobs can no longer be triggered');
    case 'other-amount':
      throw new HttpProblem(
        409,
        `the token was already used to trigger ${triggered.wanted} of list ${id}: use a new token, or the same amount`,
      );
    case 'no-operation':
      throw new HttpProblem(
        409,
        `list ${id} has no operation, so its jobs cannot become tasks: let workers claim them`,
      );
  }
};

/**
 * Deletes a list without sending an event. A repeated call changes nothing. @returns the list as it was at its deletion
 * @throws HttpProblem
 */
const remove = async (deps: ApiDeps, id: ListId) => {
  const { lists, machine } = deps;
  const stored = await lists.read(id);
  const list = stored?.status === 'expired' ? stored : await lookUp(deps, id);
  const progress = list.status === 'expired' ? undefined : await listProgress(deps, list);
  const ended = await discard(deps, list);
  if (ended?.event)
    throw new HttpProblem(409, `the event of the end of list ${id} is being sent: try again in a moment`);
  const until = machine.now() + CLEAR_TIME;
  await visit(deps, trackerOf(id), () => machine.now() < until);
  return listView({ ...list, status: 'expired', ...(ended?.ended ? { ended: ended.ended } : {}) }, progress);
};
