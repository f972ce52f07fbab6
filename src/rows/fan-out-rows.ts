/** The FanOut table's rows (design, section 6): headers, nodes, and what tokens took. */

import { expiresAt } from '../domain/expiry.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { EndReason, FailFast, FanOut, NewFanOut, Node, NodeCounts, Walk } from '../domain/fan-outs/fan-out.ts';
import { FULL_SIZE, groupSizes, type Position } from '../domain/fan-outs/tree.ts';
import { digest, type Token } from '../domain/ids.ts';
import type { Ending, Reservation, Slots } from '../ports/fan-outs.ts';
import type { Item } from './item.ts';
import { readable, versionOf } from './row-version.ts';

/** Partitions of the index ByCheckAt: one would hold all of an account's openings to a thousand a second. */
const PATROLS = 4;
export const PATROL_NAMES: readonly string[] = Array.from({ length: PATROLS }, (_, n) => `patrol-${n}`);

const patrolOf = (id: FanOutId): string => PATROL_NAMES[digest(id).charCodeAt(0) % PATROLS] as string;

export const headerKey = (id: FanOutId): Item => ({ Id: id });
/** `#` is in no fan-out's id. Each node is a partition of its own: acks of a fan-out meet no common key. */
export const nodeKey = (id: FanOutId, { level, n }: Position): Item => ({ Id: `${id}#${level}.${n}` });
export const tokenKey = (id: FanOutId, token: Token): Item => ({ Id: `${id}#token#${token}` });

export const newHeader = (fanOut: NewFanOut, checkAt: number): Item => ({
  ...headerKey(fanOut.id),
  Status: 'open',
  G: 0,
  Total: 0,
  V: 0,
  CreatedAt: fanOut.createdAt,
  Touched: fanOut.createdAt,
  Patrol: patrolOf(fanOut.id),
  CheckAt: checkAt,
  Version: versionOf('fan-out'),
  ...(fanOut.userKey === undefined ? {} : { UserKey: fanOut.userKey }),
  ...(fanOut.callback === undefined ? {} : { Callback: fanOut.callback }),
  ...(fanOut.failFast === undefined ? {} : { FailFast: fanOut.failFast }),
});

/** Of one that is numbered the groups follow from the items. @throws NewerRow */
export const fanOutOf = (stored: Item): FanOut => {
  const row = readable('fan-out', stored);
  return {
    id: row.Id as FanOutId,
    status: row.Status as FanOut['status'],
    groups: (row.G as number | undefined) ?? groupSizes(row.Total as number, FULL_SIZE.width).length,
    total: row.Total as number,
    version: row.V as number,
    createdAt: row.CreatedAt as number,
    touchedAt: (row.Touched ?? row.CreatedAt) as number,
    fails: [...((row.Fails as Set<string> | undefined) ?? [])],
    ...(row.UserKey === undefined ? {} : { userKey: row.UserKey as string }),
    ...(row.Callback === undefined ? {} : { callback: row.Callback as string }),
    ...(row.FailFast === undefined ? {} : { failFast: row.FailFast as FailFast }),
    ...(row.EndedAt === undefined
      ? {}
      : { ended: { at: row.EndedAt as number, because: row.Because as EndReason, failed: row.Failed as number } }),
    ...(row.Event === undefined ? {} : { event: { to: (row.Event as Item).To, event: (row.Event as Item).Text } }),
    ...(row.CheckAt === undefined ? {} : { checkAt: row.CheckAt as number }),
    ...(row.Walk === undefined ? {} : { walk: walkOf(row.Walk as Item) }),
  };
};

const walkOf = ({ Next, G, Failed, Seen }: Item): Walk => ({ next: Next, groups: G, failed: Failed, seenAt: Seen });
export const walkItem = ({ next, groups, failed, seenAt }: Walk): Item => ({
  Next: next,
  G: groups,
  Failed: failed,
  Seen: seenAt,
});

/** What the write that ends a fan-out sets. */
export const endedFields = ({ status, at, because, failed, event, checkAt }: Ending): Item => ({
  Status: status,
  EndedAt: at,
  Because: because,
  Failed: failed,
  CheckAt: checkAt,
  ...(event ? { Event: { To: event.to, Text: event.event } } : {}),
});

/**
 * One-letter names, as every byte of them counts: with an id of 64 characters a full row of 450 slots has to stay within
 * the 1,024 bytes of one write unit.
 *
 * Acks write a node that nobody has read, and their condition has no room for its version: slots of another version need
 * another name than `r`, which refuses them.
 */
export const nodeRow = (id: FanOutId, position: Position, size: number, seenAt: number, slots?: Slots): Item => ({
  ...nodeKey(id, position),
  r: Array.from({ length: size }, (_, slot) => slots?.slots.get(slot) ?? null),
  k: size - (slots?.slots.size ?? 0),
  f: slots?.failed ?? 0,
  Seen: seenAt,
  v: versionOf('fan-out node'),
});

/** @throws NewerRow */
export const countsOf = (stored: Item): NodeCounts => {
  const { k, f, Seen } = readable('fan-out node', stored);
  return { left: k, failed: f, seenAt: Seen };
};
/** @throws NewerRow */
export const nodeOf = (row: Item): Node => ({ ...countsOf(row), slots: row.r as (boolean | null)[] });

export const tokenRow = (id: FanOutId, token: Token, take: Reservation, expires: number): Item => ({
  ...tokenKey(id, token),
  First: take.first,
  Count: take.count,
  OpenedAt: take.openedAt,
  ExpiresAt: expiresAt(expires, 0),
  Version: versionOf('fan-out token'),
});

/** @throws NewerRow */
export const reservationOf = (stored: Item): Reservation => {
  const { First: first, Count: count, OpenedAt: openedAt } = readable('fan-out token', stored);
  return { first, count, openedAt };
};
