/** Sums the failed items of a fan-out (T10). */
import pLimit from 'p-limit';
import type { FanOutId } from '../../domain/fan-out-ids.ts';
import { type FanOut, isSumDue } from '../../domain/fan-outs/fan-out.ts';
import { childrenOf, nodesAt, type Position } from '../../domain/fan-outs/tree.ts';
import type { Millis } from '../../domain/ids.ts';
import { MINUTE, SECOND } from '../../domain/timings.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import type { FanOutDeps } from '../deps.ts';

/** Number of parent nodes that are read at once. */
const CONCURRENCY = 8;

/**
 * The number of failed items. Reads each parent node, and each group that is not done. After corrections (T11) it reads
 * all groups. It may miss items that fail during the sum, and never counts too many.
 */
export const failedIn = async (
  fanOuts: Pick<FanOuts, 'node' | 'counts' | 'width'>,
  { id, groups, corrected }: FanOut,
): Promise<number> => {
  const { width } = fanOuts;
  const parents = Array.from({ length: nodesAt(groups, 1, width) }, (_, n): Position => ({ level: 1, n }));
  const sums = await pLimit(CONCURRENCY).map(parents, async (parent) => {
    // The parent is read first: a group that climbs between the two reads is then counted once.
    const node = await fanOuts.node(id, parent);
    const open = childrenOf(parent, groups, width).filter((_, slot) => corrected || !node?.slots[slot]);
    const counts = await fanOuts.counts(id, open);
    return counts.reduce((sum, group) => sum + (group?.failed ?? 0), corrected ? 0 : (node?.failed ?? 0));
  });
  return sums.reduce((sum, each) => sum + each, 0);
};

/** How long a process does not read the header again for acks that succeed, in ms. */
const LOOK_EVERY: Millis = 2 * SECOND;
/** The same for fan-outs whose failures are never summed. */
const LOOK_RARELY: Millis = MINUTE;
/** Number of fan-outs that a process remembers. */
const REMEMBERED = 10_000;

/** What a process remembers of a fan-out. */
interface Look {
  /** When it reads the header again. */
  readonly next: Millis;
  /** When it read the header last, when the last sum then began by the header, and `after` as in `isSumDue`. */
  readonly seen?: { readonly at: Millis; readonly summedAt: Millis | undefined; readonly after: Millis | undefined };
}

/** The fan-outs that a process remembers, for each store. A warm function keeps its store. */
const looks = new WeakMap<object, Map<FanOutId, Look>>();

const looksOf = (store: object): Map<FanOutId, Look> => {
  const known = looks.get(store) ?? new Map<FanOutId, Look>();
  looks.set(store, known);
  return known;
};

/** Remembers a fan-out, and forgets those that were not read for the longest time. */
const remember = (known: Map<FanOutId, Look>, id: FanOutId, look: Look): void => {
  known.delete(id);
  known.set(id, look);
  for (const [oldest] of known) {
    if (known.size <= REMEMBERED) break;
    known.delete(oldest);
  }
};

/**
 * T10. The header of a fan-out whose failed items may be due to be summed, at most once per `LOOK_EVERY` in a process.
 * An ack of succeeded items asks too, because the function that acked the last failed item may have died.
 */
export const lookForSum = async ({ fanOuts, machine }: FanOutDeps, id: FanOutId): Promise<FanOut | undefined> => {
  const known = looksOf(fanOuts);
  const now = machine.now();
  const last = known.get(id);
  if (now < (last?.next ?? 0)) return undefined;
  remember(known, id, { ...last, next: now + LOOK_EVERY });
  const fanOut = await fanOuts.read(id);
  const isShared = fanOut?.failFast !== undefined && 'share' in fanOut.failFast && !fanOut.ended;
  if (!isShared) known.set(id, { next: now + LOOK_RARELY });
  return fanOut;
};

/** T10. The number of failed items, if no function has summed them for a while; otherwise undefined. */
export const sumIfDue = async ({ fanOuts, machine }: FanOutDeps, fanOut: FanOut): Promise<number | undefined> => {
  const { id, summedAt } = fanOut;
  const known = looksOf(fanOuts);
  const now = machine.now();
  const { next = now + LOOK_EVERY, seen } = known.get(id) ?? {};
  // A sum that the last look did not show began after it, whatever the clock of its function says.
  const after = seen?.summedAt === summedAt ? seen?.after : seen?.at;
  remember(known, id, { next, seen: { at: now, summedAt, after } });
  if (!isSumDue(fanOut, now, after) || !(await fanOuts.beginSum(id, summedAt, now))) return undefined;
  remember(known, id, { next, seen: { at: now, summedAt: now, after: now } });
  return failedIn(fanOuts, fanOut);
};
