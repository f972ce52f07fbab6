/** The identifiers of fan-outs and their items. Only this file builds and parses them. */

declare const brand: unique symbol;

/**
 * Names a fan-out. Matches `FAN_OUT_ID_PATTERN`: it has no `:`, which separates the parts of item ids, and it is short,
 * because every key contains it.
 */
export type FanOutId = string & { readonly [brand]: 'FanOutId' };
/**
 * `fanOutId:groupId:index`: the id of one item, as it is stored. Users receive it with a token at its end
 * (`fan-outs/item-token.ts`), since the id alone can be guessed.
 */
export type ItemId = string & { readonly [brand]: 'ItemId' };

/** One item of a fan-out. */
export interface Item {
  readonly fanOut: FanOutId;
  /** The group's id, which is its number: 0, 1, 2, … in the order in which groups were added (T1). */
  readonly group: number;
  /** The item's place in the group, from 0. */
  readonly index: number;
}

/** An item as a caller names it. */
export interface NamedItem extends Item {
  readonly token?: string;
}

/**
 * The first character of a tracker's id. A tracker belongs to a deferred list, and its items are numbered consecutively
 * across all adds (T9). A fan-out's id cannot begin with this character, so no user can name a tracker or ack its
 * items.
 */
const NUMBERED = '~';

export const FAN_OUT_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
export const FAN_OUT_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 . _ @ - and begin with a letter or a digit';

/**
 * Numbers have no leading zeros, so that an item has only one id. No fan-out has so many groups that a group's number
 * needs more than 9 digits.
 */
export const ITEM_PATTERN =
  /^([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):(0|[1-9]\d{0,8}):(0|[1-9]\d{0,3})(?::([A-Za-z0-9_-]{22}))?$/;
export const ITEM_ID_RULE =
  'must be the id of an item, such as "01J9ZQ4:0:17" (fanOutId:groupId:index), with or without its token';

/** Returns the id when it may name a fan-out, otherwise undefined. */
export const fanOutId = (value: unknown): FanOutId | undefined =>
  typeof value === 'string' && FAN_OUT_ID_PATTERN.test(value) ? (value as FanOutId) : undefined;

/** The id of the tracker of the deferred list `name` (T9). `ownerOf` returns the list's name. */
export const numbered = (name: string): FanOutId => `${NUMBERED}${name}` as FanOutId;
export const ownerOf = (tracker: FanOutId): string => tracker.slice(NUMBERED.length);

/**
 * Whether a fan-out's items are numbered consecutively across all adds, so that all of its groups except the last are
 * full (T9).
 */
export const isNumbered = (id: FanOutId): boolean => id.startsWith(NUMBERED);

export const itemIdOf = ({ fanOut, group, index }: Item): ItemId => `${fanOut}:${group}:${index}` as ItemId;

/** The item that a stored id names, of a fan-out or of a list's tracker. */
export const parseStoredItem = (id: ItemId): Item | undefined => {
  if (!isNumbered(id as string as FanOutId)) return parseItemId(id);
  const item = parseItemId(id.slice(NUMBERED.length));
  return item && { ...item, fanOut: `${NUMBERED}${item.fanOut}` as FanOutId };
};

/**
 * The item that an id from outside names, whether the item exists or not; undefined if the value is not an item's id.
 */
export const parseItemId = (value: unknown): NamedItem | undefined => {
  const [, fanOut, group, index, token] = (typeof value === 'string' && ITEM_PATTERN.exec(value)) || [];
  if (fanOut === undefined) return undefined;
  const item = { fanOut: fanOut as FanOutId, group: Number(group), index: Number(index) };
  return token === undefined ? item : { ...item, token };
};
