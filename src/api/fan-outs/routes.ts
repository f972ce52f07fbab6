/** `/v1/fan-outs`: open, look up, add, seal, ack, delete. */
import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { type FanOutId, fanOutId, type Item, itemIdOf, parseItemId } from '../../domain/fan-out-ids.ts';
import type { FanOut, ItemOutcome, NewFanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Token } from '../../domain/ids.ts';
import { ackItems, type ItemAck } from '../../steps/fan-outs/ack-items.ts';
import { type Added, addItems } from '../../steps/fan-outs/add-items.ts';
import { seal } from '../../steps/fan-outs/complete.ts';
import { discard } from '../../steps/fan-outs/end.ts';
import { type ItemStatus, itemsWith } from '../../steps/fan-outs/items.ts';
import { nextLook, visit } from '../../steps/fan-outs/patrol.ts';
import { progressOf } from '../../steps/fan-outs/progress.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { unconfigured } from '../shared/unconfigured.ts';
import { FAN_OUT_CALLS } from './requests.ts';
import { fanOutView } from './views.ts';

/** How long one request deletes rows, in milliseconds. The sweep deletes the remaining rows. */
const CLEAR_TIME = 5_000;

/** Most items of a page of failed items. */
const ITEMS_SHOWN = 10_000;

export const fanOutRoutes = (deps: ApiDeps): Hono => {
  const { config, fanOuts, machine } = deps;
  const viewOf = async (fanOut: FanOut) => fanOutView(fanOut, await progressOf(fanOuts, fanOut));

  const itemsPage = async (fanOut: FanOut, status: ItemStatus, most: number, cursor = '0') => {
    const [group = 0, index = 0] = cursor.split('.').map(Number);
    const { places, next } = await itemsWith(fanOuts, fanOut, status, { group, index }, most);
    return {
      items: places.map((place) => itemIdOf({ fanOut: fanOut.id, ...place })),
      ...(next ? { cursor: next.index === 0 ? String(next.group) : `${next.group}.${next.index}` } : {}),
    };
  };

  return serve(deps, FAN_OUT_CALLS, {
    openFanOut: async ({ context, body }) => {
      const {
        id = deps.newId() as FanOutId,
        notifyFirstFailure,
        ...rest
      } = await body(({ callback }) => unconfigured(config, { callback }));
      const now = machine.now();
      const notified = notifyFirstFailure ? { notifyFirstFailure } : {};
      const opening = { ...rest, ...notified, id, createdAt: now, itemKey: newItemKey() } as NewFanOut;
      const { isNew, stored } = await fanOuts.open(opening, nextLook(now, now));
      const [other] = isNew ? [] : differences(stored, opening);
      if (other)
        throw new HttpProblem(
          409,
          `fan-out ${id} already exists with another ${other}: use another id, or the same ${other}`,
        );
      return context.json(await viewOf(stored), isNew ? 201 : 200);
    },

    listFanOuts: async ({ context, query }) => {
      const { limit, cursor } = query();
      const { items, ...next } = await fanOuts.page(limit, cursor);
      return context.json({ fanOuts: items.map((fanOut) => fanOutView(fanOut)), ...next });
    },

    getFanOut: async ({ context, part }) => context.json(await viewOf(await lookUp(deps, part('id')))),

    listFailedItems: async ({ context, part, query }) => {
      const { cursor } = query();
      return context.json(await itemsPage(await lookUp(deps, part('id')), 'failed', ITEMS_SHOWN, cursor));
    },

    listItems: async ({ context, part, query }) => {
      const { status = 'pending', limit, cursor } = query();
      return context.json(await itemsPage(await lookUp(deps, part('id')), status, limit, cursor));
    },

    deleteFanOut: async ({ context, part, body }) => {
      await body();
      const { id } = await lookUp(deps, part('id'));
      await remove(deps, id);
      return context.json(await viewOf(await lookUp(deps, id)));
    },

    addItems: async ({ context, part, body }) => {
      const { count, token = deps.newId() as Token } = await body();
      const id = nameOf(part('id'));
      const { groups, itemKey } = addedOf(id, await addItems(deps, id, count, token));
      return context.json({
        groups: groups.map(({ n, size }) => ({ id: n, count: size })),
        ...(itemKey === undefined ? {} : { itemKey }),
      });
    },

    sealFanOut: async ({ context, part, body }) => {
      await body();
      const id = nameOf(part('id'));
      const sealed = await seal(deps, id);
      if (sealed.kind === 'unknown') throw noSuchFanOut(id);
      if (sealed.kind === 'expired') throw isExpired(id);
      return context.json({ complete: sealed.complete });
    },

    ackItems: async ({ context, body }) => {
      const { items } = await body();
      const acks = items.map(ackOf);
      const { unknown, ...answer } = await ackItems(deps, acks);
      const asSent = new Map<string, string>(acks.map(({ item }, index) => [itemIdOf(item), nameIn(items[index])]));
      return context.json({ ...answer, unknown: unknown.map((each) => asSent.get(each) ?? each) });
    },
  });
};

/** A key for the tokens of a fan-out's items: 256 random bits. */
const newItemKey = (): string => randomBytes(32).toString('base64url');

type SentAck = string | { readonly item: string; readonly outcome?: ItemOutcome | undefined };

const nameIn = (ack: SentAck = ''): string => (typeof ack === 'string' ? ack : ack.item);

/** A caller of the API may ack any item, so tokens are not checked. */
const ackOf = (ack: SentAck): ItemAck => {
  const { item, outcome = 'succeeded' } = typeof ack === 'string' ? { item: ack } : ack;
  return { item: parseItemId(item) as Item, outcome };
};

const noSuchFanOut = (id: string): HttpProblem =>
  new HttpProblem(
    404,
    `there is no fan-out ${JSON.stringify(id.slice(0, 200))}: it was never opened, or ended long ago`,
  );

const isExpired = (id: FanOutId): HttpProblem =>
  new HttpProblem(
    409,
    `fan-out ${id} has expired: it was idle for too long, or was deleted. Open a new one with another id`,
  );

/** @throws HttpProblem */
const nameOf = (text: string): FanOutId => {
  const id = fanOutId(text);
  if (id === undefined) throw noSuchFanOut(text);
  return id;
};

/** @throws HttpProblem */
const lookUp = async ({ fanOuts }: ApiDeps, text: string): Promise<FanOut> => {
  const fanOut = await fanOuts.read(nameOf(text));
  if (!fanOut) throw noSuchFanOut(text);
  return fanOut;
};

/** The names of the fields in which the stored fan-out differs from the requested one. */
const differences = (
  stored: FanOut,
  { userKey, callback, failFast, notifyFirstFailure }: NewFanOut,
): readonly string[] => [
  ...(stored.userKey === userKey ? [] : ['userKey']),
  ...(stored.callback === callback ? [] : ['callback']),
  ...(stored.notifyFirstFailure === notifyFirstFailure ? [] : ['notifyFirstFailure']),
  ...(JSON.stringify(stored.failFast) === JSON.stringify(failFast) ? [] : ['failFast']),
];

/** @throws HttpProblem */
const addedOf = (id: FanOutId, added: Added) => {
  switch (added.kind) {
    case 'added':
      return added;
    case 'unknown':
      throw noSuchFanOut(id);
    case 'closed':
      throw added.status === 'expired'
        ? isExpired(id)
        : new HttpProblem(409, `fan-out ${id} is ${added.status}: no more items can be added`);
    case 'other-count':
      throw new HttpProblem(
        409,
        `the token was already used to add ${added.count} items: use a new token for other items`,
      );
  }
};

/** Ends a fan-out without sending an event, and deletes its rows. @throws HttpProblem */
const remove = async (deps: ApiDeps, id: FanOutId): Promise<void> => {
  const { machine } = deps;
  const ended = await discard(deps, await lookUp(deps, id));
  if (ended?.event)
    throw new HttpProblem(409, `the event of the end of fan-out ${id} is being sent: try again in a moment`);
  const until = machine.now() + CLEAR_TIME;
  await visit(deps, id, () => machine.now() < until);
};
