/** The identifiers of fan-outs and their items: built and parsed here and nowhere else. */

declare const brand: unique symbol;

/**
 * Names a fan-out. Matches `FAN_OUT_ID_PATTERN`: no `:`, which parts item ids, and short, since it is in every
 * key.
 */
export type FanOutId = string & { readonly [brand]: 'FanOutId' };
/** `fanOutId:groupId:index`: one item, as consumers are given it. */
export type ItemId = string & { readonly [brand]: 'ItemId' };

/** One item of a fan-out. */
export interface Item {
  readonly fanOut: FanOutId;
  /** T1. A group's id is its number: 0, 1, 2, … in the order in which they were added. */
  readonly group: number;
  /** Its place in the group, from 0. */
  readonly index: number;
}

/**
 * T9. What the tracker of something else begins with (a deferred list's): its items are numbered through all adds. No
 * fan-out's id does, so that nobody from outside can name it, or ack its items.
 */
const NUMBERED = '~';

export const FAN_OUT_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
export const FAN_OUT_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 . _ @ - and begin with a letter or a digit';

/**
 * A number without leading zeros: an item has one way to be written. Groups of 9 digits are more than DynamoDB would
 * like.
 */
export const ITEM_PATTERN = /^([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):(0|[1-9]\d{0,8}):(0|[1-9]\d{0,3})$/;
export const ITEM_ID_RULE = 'must be the id of an item, such as "01J9ZQ4:0:17" (fanOutId:groupId:index)';

/** Returns the id when it may name a fan-out, otherwise undefined. */
export const fanOutId = (value: unknown): FanOutId | undefined =>
  typeof value === 'string' && FAN_OUT_ID_PATTERN.test(value) ? (value as FanOutId) : undefined;

/** T9. The tracker of a deferred list, by the list's name, and that name again. */
export const numbered = (name: string): FanOutId => `${NUMBERED}${name}` as FanOutId;
export const ownerOf = (tracker: FanOutId): string => tracker.slice(NUMBERED.length);

/** T9. Whether a fan-out's items are numbered through all adds: all of its groups are full but the last. */
export const isNumbered = (id: FanOutId): boolean => id.startsWith(NUMBERED);

export const itemIdOf = ({ fanOut, group, index }: Item): ItemId => `${fanOut}:${group}:${index}` as ItemId;

/** The item that a stored id names, whoever numbered it. */
export const parseStoredItem = (id: ItemId): Item | undefined => {
  if (!isNumbered(id as string as FanOutId)) return parseItemId(id);
  const item = parseItemId(id.slice(NUMBERED.length));
  return item && { ...item, fanOut: `${NUMBERED}${item.fanOut}` as FanOutId };
};

/** The item that somebody's id names, there or not; undefined for what is no item's id. */
export const parseItemId = (value: unknown): Item | undefined => {
  const [, fanOut, group, index] = (typeof value === 'string' && ITEM_PATTERN.exec(value)) || [];
  return fanOut === undefined ? undefined : { fanOut: fanOut as FanOutId, group: Number(group), index: Number(index) };
};
