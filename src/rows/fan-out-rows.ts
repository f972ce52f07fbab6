/** The FanOut table's rows (design, section 6): headers, nodes, and what tokens took. */

import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import { expiresAt } from '../domain/expiry.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { Ended, FanOut, NewFanOut, Node, NodeCounts, Walk } from '../domain/fan-outs/fan-out.ts';
import { FULL_SIZE, groupSizes, type Position } from '../domain/fan-outs/tree.ts';
import { digest, type Token } from '../domain/ids.ts';
import type { Ending, Reservation, Slots } from '../ports/fan-outs.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

/** Partitions of the index ByCheckAt: one would hold all of an account's openings to a thousand a second. */
const PATROLS = 4;
export const PATROL_NAMES: readonly string[] = Array.from({ length: PATROLS }, (_, n) => `patrol-${n}`);

const patrolOf = (id: FanOutId): string => PATROL_NAMES[digest(id).charCodeAt(0) % PATROLS] as string;

export const headerKey = (id: FanOutId): Item => ({ Id: id });
/** `#` is in no fan-out's id. Each node is a partition of its own: acks of a fan-out meet no common key. */
export const nodeKey = (id: FanOutId, { level, n }: Position): Item => ({ Id: `${id}#${level}.${n}` });
export const tokenKey = (id: FanOutId, token: Token): Item => ({ Id: `${id}#token#${token}` });

/** What its opener says, and what a header has in all. */
const OPENED: Attributes<NewFanOut> = {
  id: 'Id',
  createdAt: 'CreatedAt',
  userKey: 'UserKey',
  callback: 'Callback',
  failFast: 'FailFast',
};
const HEADER: Attributes<Pick<FanOut, keyof NewFanOut | 'status' | 'total' | 'version' | 'checkAt'>> = {
  ...OPENED,
  status: 'Status',
  total: 'Total',
  version: 'V',
  checkAt: 'CheckAt',
};

export const newHeader = (fanOut: NewFanOut, checkAt: number): Item => ({
  ...written(OPENED, fanOut),
  Status: 'open',
  G: 0,
  Total: 0,
  V: 0,
  Touched: fanOut.createdAt,
  Patrol: patrolOf(fanOut.id),
  CheckAt: checkAt,
  Version: versionOf('fan-out'),
});

/** Of one that is numbered the groups follow from the items. @throws NewerRow */
export const fanOutOf = (stored: Item): FanOut => {
  const row = readable('fan-out', stored);
  return {
    ...read(HEADER, row),
    groups: (row.G as number | undefined) ?? groupSizes(row.Total as number, FULL_SIZE.width).length,
    touchedAt: (row.Touched ?? row.CreatedAt) as number,
    fails: [...((row.Fails as Set<string> | undefined) ?? [])],
    ...(row.EndedAt === undefined ? {} : { ended: read(ENDED, row) }),
    ...(row.Event === undefined ? {} : { event: read(EVENT, row.Event) }),
    ...(row.Walk === undefined ? {} : { walk: read(WALK, row.Walk) }),
  };
};

const WALK: Attributes<Walk> = { next: 'Next', groups: 'G', failed: 'Failed', seenAt: 'Seen' };
export const walkItem = (walk: Walk): Item => written(WALK, walk);

const ENDED: Attributes<Ended> = { at: 'EndedAt', because: 'Because', failed: 'Failed' };
const EVENT: Attributes<CallbackMessage> = { to: 'To', event: 'Text' };

/** What the write that ends a fan-out sets. */
export const endedFields = ({ status, event, checkAt, ...ended }: Ending): Item => ({
  Status: status,
  ...written<Ended>(ENDED, ended),
  CheckAt: checkAt,
  ...(event ? { Event: written(EVENT, event) } : {}),
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
export const countsOf = (stored: Item): NodeCounts => read(NODE_COUNTS, readable('fan-out node', stored));
const NODE_COUNTS: Attributes<NodeCounts> = { left: 'k', failed: 'f', seenAt: 'Seen' };
/** @throws NewerRow */
export const nodeOf = (row: Item): Node => ({ ...countsOf(row), slots: row.r as (boolean | null)[] });

const TAKEN: Attributes<Reservation> = { first: 'First', count: 'Count', openedAt: 'OpenedAt' };

export const tokenRow = (id: FanOutId, token: Token, take: Reservation, expires: number): Item => ({
  ...tokenKey(id, token),
  ...written(TAKEN, take),
  ExpiresAt: expiresAt(expires, 0),
  Version: versionOf('fan-out token'),
});

/** @throws NewerRow */
export const reservationOf = (stored: Item): Reservation => read(TAKEN, readable('fan-out token', stored));
