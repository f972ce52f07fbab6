/** The rows of the table FanOut: the header and the nodes of each fan-out, and the reservations of tokens. */

import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import { expiresAt } from '../domain/expiry.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type {
  Ended,
  FanOut,
  FirstFailure,
  NewFanOut,
  Node,
  NodeCounts,
  Notice,
  Walk,
} from '../domain/fan-outs/fan-out.ts';
import { FULL_SIZE, groupSizes, type Position } from '../domain/fan-outs/tree.ts';
import { digest, type Token } from '../domain/ids.ts';
import type { Ending, Reservation, Slots } from '../ports/fan-outs.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

/**
 * The number of partitions of the index ByCheckAt. A single partition would limit an account to opening 1,000 fan-outs
 * per second.
 */
const PATROLS = 4;
export const PATROL_NAMES: readonly string[] = Array.from({ length: PATROLS }, (_, n) => `patrol-${n}`);

const patrolOf = (id: FanOutId): string => PATROL_NAMES[digest(id).charCodeAt(0) % PATROLS] as string;

export const headerKey = (id: FanOutId): Item => ({ Id: id });
/**
 * The key of a node. The id of a fan-out contains no `#`. Each node has a partition of its own, so the acks of a
 * fan-out do not share a key.
 */
export const nodeKey = (id: FanOutId, { level, n }: Position): Item => ({ Id: `${id}#${level}.${n}` });
export const tokenKey = (id: FanOutId, token: Token): Item => ({ Id: `${id}#token#${token}` });

/** The fields that are set when a fan-out is opened, and all fields of a header. */
const OPENED: Attributes<NewFanOut> = {
  id: 'Id',
  createdAt: 'CreatedAt',
  userKey: 'UserKey',
  callback: 'Callback',
  failFast: 'FailFast',
  notifyFirstFailure: 'NotifyFirst',
  itemKey: 'ItemKey',
};
const HEADER: Attributes<
  Pick<
    FanOut,
    | keyof NewFanOut
    | 'status'
    | 'total'
    | 'version'
    | 'summedAt'
    | 'checkAt'
    | 'corrected'
    | 'failedGroup'
    | 'allSucceededAt'
  >
> = {
  ...OPENED,
  status: 'Status',
  total: 'Total',
  version: 'V',
  summedAt: 'SummedAt',
  corrected: 'Corrected',
  failedGroup: 'FailedGroup',
  allSucceededAt: 'AllSucceeded',
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

/**
 * The fan-out of a header. If its items are numbered, the number of groups follows from the number of items (T9).
 * @throws NewerRow
 */
export const fanOutOf = (stored: Item): FanOut => {
  const row = readable('fan-out', stored);
  return {
    ...read(HEADER, row),
    groups: (row.G as number | undefined) ?? groupSizes(row.Total as number, FULL_SIZE.width).length,
    touchedAt: (row.Touched ?? row.CreatedAt) as number,
    fails: [...((row.Fails as Set<string> | undefined) ?? [])],
    ...(row.Unsent === undefined ? {} : { unsent: [...(row.Unsent as Set<Notice>)] }),
    ...(row.FirstFailure === undefined ? {} : { firstFailure: read(FIRST_FAILURE, row.FirstFailure) }),
    ...(row.EndedAt === undefined ? {} : { ended: read(ENDED, row) }),
    ...(row.Event === undefined ? {} : { event: read(EVENT, row.Event) }),
    ...(row.Walk === undefined ? {} : { walk: read(WALK, row.Walk) }),
  };
};

const WALK: Attributes<Walk> = { next: 'Next', groups: 'G', failed: 'Failed', left: 'Left', seenAt: 'Seen' };
export const walkItem = (walk: Walk): Item => written(WALK, walk);

const ENDED: Attributes<Ended> = { at: 'EndedAt', because: 'Because', failed: 'Failed', pending: 'Pending' };
const FIRST_FAILURE: Attributes<FirstFailure> = { item: 'Item', at: 'At' };
export const firstFailureItem = (failure: FirstFailure): Item => written(FIRST_FAILURE, failure);
const EVENT: Attributes<CallbackMessage> = { to: 'To', event: 'Text' };

/** The attributes that the write ending a fan-out sets. */
export const endedFields = ({ status, event, checkAt, ...ended }: Ending): Item => ({
  Status: status,
  ...written<Ended>(ENDED, ended),
  CheckAt: checkAt,
  ...(event ? { Event: written(EVENT, event) } : {}),
});

/**
 * A node's row. Attribute names have one letter, because every byte counts: with an id of 64 characters a full row of
 * 450 slots must stay within the 1,024 bytes of one write unit.
 *
 * An ack writes a node without reading it, and its condition is too long to check the version as well. So a new version
 * must use another name than `r` for its slots: the condition of an old release then refuses the row.
 */
export const nodeRow = (id: FanOutId, position: Position, size: number, seenAt: number, slots?: Slots): Item => ({
  ...nodeKey(id, position),
  r: Array.from({ length: size }, (_, slot) => slots?.slots.get(slot) ?? null),
  k: size - (slots?.slots.size ?? 0),
  f: slots?.failed ?? 0,
  Seen: seenAt,
  v: versionOf('fan-out node'),
});

/** The attributes that {@link itemKeyOf} reads. */
export const ITEM_KEY_ATTRIBUTES: readonly string[] = ['Id', 'ItemKey', 'Version'];
/** @throws NewerRow */
export const itemKeyOf = (stored: Item): { readonly id: FanOutId; readonly itemKey?: string } => {
  const { Id, ItemKey } = readable('fan-out', stored);
  return { id: Id as FanOutId, ...(ItemKey === undefined ? {} : { itemKey: ItemKey as string }) };
};

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
