/**
 * Operations on fan-outs that need several API calls. Items are added and acked in parts, and no item is added or acked
 * twice.
 */

import { type FanOutId, type ItemId, parseItemId } from '../domain/fan-out-ids.ts';
import type { ItemOutcome } from '../domain/fan-outs/fan-out.ts';
import { sentItemId } from '../domain/fan-outs/item-token.ts';
import { FULL_SIZE } from '../domain/fan-outs/tree.ts';
import { someAtOnce } from '../util/at-once.ts';
import { reasonOf } from '../util/problems.ts';
import { ApiUnavailable, type Ask } from './ask.ts';

/** Number of items that one call adds: a hundred groups, for which the API needs about a second. */
const ADDED_AT_ONCE = 45_000;

/**
 * Maximum length of a caller's token. Each call uses this token with the number of the call appended, and the API
 * accepts 64 characters.
 */
const TOKEN_MAX = 48;
export const TOKEN_OF_CALLS_RULE = `well-formed text of 1 to ${TOKEN_MAX} characters`;
export const isTokenOfCalls = (token: string): boolean =>
  token !== '' && token.length <= TOKEN_MAX && token.isWellFormed();

/** A group of items that was added. Its items have the ids `fanOut:id:0` to `fanOut:id:(count-1)`, each with its token. */
export interface AddedGroup {
  readonly id: number;
  readonly count: number;
  /** The key of the items' tokens. Absent if the fan-out has none. */
  readonly itemKey?: string | undefined;
}

/** Path of a fan-out in the API. */
export const pathOf = (fanOut: string): string => `/fan-outs/${encodeURIComponent(fanOut)}`;

/**
 * Adds items, {@link ADDED_AT_ONCE} per call. The next call is made only when the consumer reads its groups.
 *
 * @param token the tokens of the calls are derived from it
 */
export async function* addInCalls(
  ask: Ask,
  fanOut: string,
  count: number,
  token: string,
): AsyncGenerator<readonly AddedGroup[]> {
  for (let n = 0; n * ADDED_AT_ONCE < count; n += 1) {
    const part = { count: Math.min(ADDED_AT_ONCE, count - n * ADDED_AT_ONCE), token: `${token}.${n}` };
    const { groups, itemKey } = (await ask(`${pathOf(fanOut)}/items`, part)) as {
      groups: AddedGroup[];
      itemKey?: string;
    };
    yield groups.map((group) => ({ ...group, itemKey }));
  }
}

/** Generates the ids of the items, group by group. */
export async function* itemsOf(fanOut: string, added: AsyncIterable<readonly AddedGroup[]>): AsyncGenerator<string> {
  for await (const groups of added)
    for (const { id: group, count, itemKey } of groups)
      for (let index = 0; index < count; index += 1)
        yield sentItemId(itemKey, { fanOut: fanOut as FanOutId, group, index });
}

/** A finished item: its id if the item succeeded, otherwise its id and outcome. */
export type DoneItem = string | { readonly item: string; readonly outcome?: ItemOutcome };

/** The result of acks, according to the API's answers. */
export interface Acked {
  /** The fan-outs of the items. `complete` is true if a fan-out is sealed and all of its items are done. */
  readonly fanOuts: readonly { readonly id: string; readonly complete: boolean; readonly userKey?: string }[];
  /** Items of unknown or deleted fan-outs. Their acks had no effect. */
  readonly unknown: readonly string[];
}

/**
 * A value that is not the id of an item. No ack was sent for the items that were read together with this value (up to
 * 10,000).
 */
export class MalformedItem extends Error {
  override readonly name = 'MalformedItem';
  /** The value that was given as an id. */
  readonly item: unknown;
  constructor(item: unknown) {
    super(
      `${JSON.stringify(item)?.slice(0, 200)} is not the id of an item; pass the ids that add() returned, such as "01J9ZQ4:0:17"`,
    );
    this.item = item;
  }
}

/** Number of items that are held in memory, so that items of one group can be acked together. */
const HELD = 10_000;
/** Number of items per call, and number of calls at the same time. */
const [CALL, CALLS_AT_ONCE] = [1_000, 4];

/**
 * Acking failed part-way: some items were acked, and others may not have been. `cause` has the reason: ApiUnavailable,
 * ApiRefused, MalformedItem, or an error of the iterable that provided the items. When this error is thrown, no call is
 * in flight and the iterable is closed. To continue, ack the items in `left`, and all items of the iterable after the
 * first `read` items.
 *
 * ```ts
 * await fanOuts.ack([...error.left, ...items.slice(error.read)]);
 * ```
 */
export class NotAllAcked extends Error {
  override readonly name = 'NotAllAcked';
  /** The result of the acks that the API confirmed. */
  readonly acked: Acked;
  /** Items that were read but possibly not acked: at most 10,000. */
  readonly left: readonly DoneItem[];
  /** Number of items that were read from the iterable. */
  readonly read: number;
  constructor(acked: Acked, left: readonly DoneItem[], read: number, cause: unknown) {
    super(
      `${read} items were read, and ${left.length} of them are possibly not acked: ${reasonOf(cause)}. Ack the items in "left", and then all items after the first ${read}`,
      { cause },
    );
    this.acked = acked;
    this.left = left;
    this.read = read;
  }
}

/**
 * Acks items. Items of one group are acked together.
 *
 * @param onProgress is called with the number of items acked so far
 * @throws NotAllAcked; or the cause alone if no item can have been acked
 */
export const ackInCalls = async (
  ask: Ask,
  items: Iterable<DoneItem> | AsyncIterable<DoneItem>,
  onProgress: (acked: number) => void = () => {},
): Promise<Acked> => {
  const fanOuts = new Map<string, Acked['fanOuts'][number]>();
  const unknown: string[] = [];
  const soFar = (): Acked => ({ fanOuts: [...fanOuts.values()], unknown });
  const held = new Map<ItemId, ItemOutcome>();
  let [read, acked] = [0, 0];
  const flush = async (): Promise<void> => {
    await someAtOnce(callsOf([...held]), CALLS_AT_ONCE, async (call) => {
      const answer = (await ask('/fan-outs/acks', { items: call.map(written) })) as Acked;
      for (const each of answer.fanOuts) if (!fanOuts.get(each.id)?.complete) fanOuts.set(each.id, each);
      unknown.push(...answer.unknown);
      for (const [item] of call) held.delete(item);
      acked += call.length;
      onProgress(acked);
    });
  };
  try {
    for await (const each of items) {
      const { item, outcome = 'succeeded' } = typeof each === 'string' ? { item: each } : each;
      if (!parseItemId(item)) throw new MalformedItem(item);
      read += 1;
      // If an item is given twice, its first outcome counts. Send only this outcome, because two acks in flight could
      // arrive in any order.
      if (!held.has(item as ItemId)) held.set(item as ItemId, outcome);
      if (held.size >= HELD) await flush();
    }
    if (held.size > 0) await flush();
    return soFar();
  } catch (cause) {
    if (acked === 0 && !(cause instanceof ApiUnavailable)) throw cause;
    throw new NotAllAcked(soFar(), [...held].map(written), read, cause);
  }
};

/** The part of an item's id that names its group. */
const groupOf = (item: string): string => item.split(':', 2).join(':');

type Done = readonly [ItemId, ItemOutcome];

const written = ([item, outcome]: Done): DoneItem => (outcome === 'succeeded' ? item : { item, outcome });

/**
 * Distributes items to calls. Items that are written together are in the same call, because two calls would cost two
 * writes.
 */
const callsOf = (items: readonly Done[]): readonly (readonly Done[])[] => {
  const calls: Done[][] = [];
  for (const group of Map.groupBy(items, ([item]) => groupOf(item)).values())
    for (let from = 0; from < group.length; from += FULL_SIZE.acksAtOnce) {
      const part = group.slice(from, from + FULL_SIZE.acksAtOnce);
      const last = calls.at(-1);
      if (last && last.length + part.length <= CALL) last.push(...part);
      else calls.push(part);
    }
  return calls;
};
