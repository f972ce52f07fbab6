/**
 * Tokens of items. The id of an item can be guessed, and the task that names an item acknowledges it. So a producer must
 * prove that a coordinator gave it the item: `fanOutId:groupId:index:TOKEN`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Item, itemIdOf } from '../fan-out-ids.ts';

/** Characters of base64url: 132 bits. */
const LENGTH = 22;

/**
 * The token of an item: HMAC-SHA256 of its id, as base64url, cut to 22 characters.
 *
 * @param itemKey the fan-out's key, used as UTF-8 text
 */
const itemToken = (itemKey: string, item: Item): string =>
  createHmac('sha256', itemKey).update(itemIdOf(item)).digest('base64url').slice(0, LENGTH);

export const isTokenOf = (itemKey: string, item: Item, token: string): boolean =>
  token.length === LENGTH && timingSafeEqual(Buffer.from(itemToken(itemKey, item)), Buffer.from(token));

/** The id of an item with its token. Without a key, which fan-outs of earlier releases lack, the id alone. */
export const sentItemId = (itemKey: string | undefined, item: Item): string =>
  itemKey === undefined ? itemIdOf(item) : `${itemIdOf(item)}:${itemToken(itemKey, item)}`;
