/** What fan-outs take in several calls of the API: items are added and acked a part at a time, none twice. */

import { type FanOutId, type ItemId, itemIdOf, parseItemId } from '../domain/fan-out-ids.ts';
import type { ItemOutcome } from '../domain/fan-outs/fan-out.ts';
import { FULL_SIZE } from '../domain/fan-outs/tree.ts';
import { someAtOnce } from '../util/at-once.ts';
import { groupBy } from '../util/group-by.ts';
import { reasonOf } from '../util/problems.ts';
import { ApiUnavailable, type Ask } from './ask.ts';

/** Items that are added by one call: a hundred groups, which take it a second or so. */
const ADDED_AT_ONCE = 45_000;

/** Each call's token is made from it, with the call's number after it; the API takes 64 characters. */
const TOKEN_MAX = 48;
export const TOKEN_OF_CALLS_RULE = `well-formed text of 1 to ${TOKEN_MAX} characters`;
export const isTokenOfCalls = (token: string): boolean =>
  token !== '' && token.length <= TOKEN_MAX && token.isWellFormed();

/** A group that was added: its items are `fanOut:id:0` to `fanOut:id:(count-1)`. */
export interface AddedGroup {
  readonly id: number;
  readonly count: number;
}

/** Where a fan-out is in the API. */
export const pathOf = (fanOut: string): string => `/fan-outs/${encodeURIComponent(fanOut)}`;

/**
 * Adds items, a call for each {@link ADDED_AT_ONCE} of them, and each only when somebody wants its groups. @param token
 * the calls' tokens are made from it
 */
export async function* addInCalls(
  ask: Ask,
  fanOut: string,
  count: number,
  token: string,
): AsyncGenerator<readonly AddedGroup[]> {
  for (let n = 0; n * ADDED_AT_ONCE < count; n += 1) {
    const part = { count: Math.min(ADDED_AT_ONCE, count - n * ADDED_AT_ONCE), token: `${token}.${n}` };
    const { groups } = (await ask(`${pathOf(fanOut)}/items`, part)) as { groups: AddedGroup[] };
    yield groups;
  }
}

/** The ids of items, group by group. */
export async function* itemsOf(fanOut: string, added: AsyncIterable<readonly AddedGroup[]>): AsyncGenerator<string> {
  for await (const groups of added)
    for (const { id: group, count } of groups)
      for (let index = 0; index < count; index += 1) yield itemIdOf({ fanOut: fanOut as FanOutId, group, index });
}

/** An item that is done: its id, if it succeeded. */
export type DoneItem = string | { readonly item: string; readonly outcome?: ItemOutcome };

/** What acks came to, as far as they showed it. */
export interface Acked {
  /** The fan-outs of the items; `complete` is true once all of a fan-out's items are done and it is sealed. */
  readonly fanOuts: readonly { readonly id: string; readonly complete: boolean; readonly userKey?: string }[];
  /** Items of no fan-out that is known, or still known: nothing was done for them. */
  readonly unknown: readonly string[];
}

/** What is no item's id: nothing of its part (some thousands of items) was sent. */
export class MalformedItem extends Error {
  override readonly name = 'MalformedItem';
  /** What was given as its id. */
  readonly item: unknown;
  constructor(item: unknown) {
    super(
      `${JSON.stringify(item)?.slice(0, 200)} is not the id of an item: those that add() gave are like "01J9ZQ4:0:17"`,
    );
    this.item = item;
  }
}

/** Items that are held, to find those of one group among them. */
const HELD = 10_000;
/** Items that one call takes, and calls that are made at once. */
const [CALL, CALLS_AT_ONCE] = [1_000, 4];

/**
 * Some items were acked, or may have been, and others were not. The error's `cause` says why: ApiUnavailable, ApiRefused,
 * MalformedItem, or an error of the iterable that gave the items. No call is under way any more, and the iterable is
 * closed. To go on, ack `left`, and what comes after the first `read` items.
 *
 * ```ts
 * await fanOuts.ack([...error.left, ...items.slice(error.read)]);
 * ```
 */
export class NotAllAcked extends Error {
  override readonly name = 'NotAllAcked';
  /** What the acks that were answered came to. */
  readonly acked: Acked;
  /** Items that were read and may not be acked: 10,000 at the most. */
  readonly left: readonly DoneItem[];
  /** How many items were read of those given. */
  readonly read: number;
  constructor(acked: Acked, left: readonly DoneItem[], read: number, cause: unknown) {
    super(
      `of the ${read} items that were read ${left.length} may not be acked: ${reasonOf(cause)}; ack those in "left", and the others after the first ${read}`,
      { cause },
    );
    this.acked = acked;
    this.left = left;
    this.read = read;
  }
}

/**
 * Acks items, those of a group together.
 *
 * @param onProgress is told how many are acked so far
 * @throws NotAllAcked; what failed where no item was acked, and none can have been
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
      // Of two outcomes the first stands, also where both are under way at once.
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

type Done = readonly [ItemId, ItemOutcome];

const written = ([item, outcome]: Done): DoneItem => (outcome === 'succeeded' ? item : { item, outcome });

/** Calls that are filled with what is written together: a part of a group that came into two calls would be two writes. */
const callsOf = (items: readonly Done[]): readonly (readonly Done[])[] => {
  const calls: Done[][] = [];
  for (const group of groupBy(items, ([item]) => item.slice(0, item.lastIndexOf(':'))).values())
    for (let from = 0; from < group.length; from += FULL_SIZE.acksAtOnce) {
      const part = group.slice(from, from + FULL_SIZE.acksAtOnce);
      const last = calls.at(-1);
      if (last && last.length + part.length <= CALL) last.push(...part);
      else calls.push(part);
    }
  return calls;
};
