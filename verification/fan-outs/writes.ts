/** What must hold after every write of a fan-out's rows. Each is a sentence; the first one that breaks stops the run. */

import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { FanOutPolicy } from '../../src/domain/config/resolved.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import type { FanOut, Node } from '../../src/domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book, Tally } from './ledger.ts';

/** What a watcher is told besides what he sees. */
export interface Watched {
  readonly tables: Tables;
  readonly policy: FanOutPolicy;
  readonly nodeSize: NodeSize;
  readonly sentCallbacks: readonly CallbackMessage[];
  readonly bookOf: (id: FanOutId) => Book;
  readonly now: () => Millis;
  /** The most that a clock is off, either way. */
  readonly skew: Millis;
  /** How long a look of the patrol may have taken: it does not see who acks behind its back. */
  readonly lookTime: () => Millis;
}

/** The arrows of a fan-out's life; one that has ended stays as it is until it is deleted. */
const ARROWS: Readonly<Record<FanOut['status'], readonly FanOut['status'][]>> = {
  open: ['open', 'sealed', 'complete', 'expired'],
  sealed: ['sealed', 'complete', 'expired'],
  complete: ['complete', 'expired'],
  expired: ['expired'],
  // Lists alone are cancelled.
  cancelled: ['cancelled'],
};

export const checkHeader = (watched: Watched, before: FanOut | undefined, after: FanOut): void => {
  const subject = { before, after };
  if (!before) {
    demand(after.status === 'open' && after.total === 0, 'a fan-out begins open and empty', subject);
    return;
  }
  demand(ARROWS[before.status].includes(after.status), 'a status only moves on', subject);
  const more = after.total - before.total;
  const moreGroups = after.groups - before.groups;
  const width = watched.nodeSize.width;
  demand(moreGroups === Math.ceil(more / width) && more >= 0, 'as many groups are added as items need', subject);
  demand(more === 0 || (before.status === 'open' && after.status === 'open'), 'only an open one is added to', subject);
  const book = watched.bookOf(after.id);
  book.reserve(more);
  if (before.status !== after.status && after.status !== 'sealed') checkEnd(watched, before, after);
  else demand(sameEnd(before, after), 'how a fan-out ended stays', subject);
  book.walkBeganAt = after.walk && (book.walkBeganAt ?? watched.now());
  if (before.event && !after.event)
    demand(
      watched.sentCallbacks.some(({ event }) => event === before.event?.event),
      'an event is forgotten only after it was sent',
      subject,
    );
};

const sameEnd = (before: FanOut, after: FanOut): boolean =>
  JSON.stringify(before.ended) === JSON.stringify(after.ended) &&
  (after.event === undefined || JSON.stringify(before.event) === JSON.stringify(after.event));

const checkEnd = (watched: Watched, before: FanOut, after: FanOut): void => {
  const book = watched.bookOf(after.id);
  const tally = book.tally();
  const subject = { before, after, tally };
  const { ended } = after;
  demand(ended !== undefined, 'what has ended says how', subject);
  if (!ended) return;
  demand(tally.items === after.total, 'all items are counted', subject);
  const status = ended.because === 'all-done' || ended.because === 'too-many-failed' ? 'complete' : 'expired';
  demand(after.status === status, 'what has ended says how', subject);
  demand(before.status !== 'complete' || ended.because === 'deleted', 'there is one end', subject);
  demand(ended.failed <= tally.failed, 'no more are said to have failed than did', subject);
  switch (ended.because) {
    case 'all-done':
      demand(before.status === 'sealed', 'what is complete was sealed', subject);
      demand(tally.done === tally.items, 'nothing is complete before all of it is done', subject);
      demand(ended.failed === tally.failed, 'what is complete is counted right', subject);
      break;
    case 'too-many-failed':
      demand(ended.failed > toleratedOf(after, before.status), 'it fails fast for too many failed items only', subject);
      break;
    case 'idle':
      checkIdle(watched, before, after, book);
      break;
    case 'deleted':
    case 'cancelled':
      break;
  }
  checkEvent(after, tally);
};

/**
 * As the issue has it: more failed items than a number, or than a share of all, once it is known how many all are.
 * Shares are tenths here.
 */
const toleratedOf = ({ failFast, total }: FanOut, before: FanOut['status']): number => {
  if (!failFast) return Number.POSITIVE_INFINITY;
  if ('count' in failFast) return failFast.count;
  return before === 'open' ? Number.POSITIVE_INFINITY : Math.floor((Math.round(failFast.share * 10) * total) / 10);
};

const checkIdle = ({ policy, skew, lookTime }: Watched, before: FanOut, { ended }: FanOut, book: Book): void => {
  const idle = before.status === 'open' ? policy.idleOpen : policy.idleSealed;
  const at = ended?.at ?? 0;
  const { ackedAt, walkBeganAt } = book;
  const subject = { before, at, ackedAt, tally: book.tally() };
  // Whoever adds or seals meanwhile is noticed.
  demand(before.touchedAt + idle < at, 'what was added to, or sealed, of late does not expire', subject);
  // Whoever acks while the patrol looks may not be.
  if (ackedAt > (walkBeganAt ?? at) - lookTime() - 2 * skew) return;
  demand(ackedAt + idle < at + 2 * skew, 'what is acked does not expire', subject);
  demand(before.status === 'open' || !book.isAllDone, 'what is all done completes', subject);
};

const checkEvent = ({ id, status, ended, event }: FanOut, { items, done, failed }: Tally): void => {
  if (!event) return;
  const { id: name, type, subject, data } = JSON.parse(event.event) as Record<string, unknown>;
  const isRight =
    subject === id && type === `groupage.fan-out.${status === 'complete' ? 'completed' : status}` && `${name}` !== '';
  demand(isRight, 'an event says what happened', { event });
  const { total, succeeded, failed: said, because } = data as Record<string, unknown>;
  demand(total === items && because === ended?.because, 'an event says what happened', { event });
  if (because === 'all-done')
    demand(succeeded === done - failed && said === failed, 'an event counts right', { event, done, failed });
};

export const checkNode = (
  { bookOf, nodeSize: { width }, now, tables }: Watched,
  id: FanOutId,
  { level, n }: Position,
  before: Node | undefined,
  after: Node,
): void => {
  const book = bookOf(id);
  const subject = { id, level, n, before, after };
  demand(
    (before?.slots ?? []).every((slot, index) => slot === null || slot === after.slots[index]),
    'what is written into a slot stays',
    subject,
  );
  demand(after.left === after.slots.filter((slot) => slot === null).length, 'a node counts its slots', subject);
  if (level > 0) {
    const isOpen = tables.fanOuts.get(id)?.status === 'open';
    checkParent(book, width, isOpen, { level, n }, after, subject);
    return;
  }
  const group = book.groups[n];
  demand(after.slots.length === group?.size, 'a group is as large as it was added', subject);
  for (const [index, slot] of after.slots.entries()) {
    if (slot === null || before?.slots[index] === slot) continue;
    // A producer that was asleep may put a group again that was cleared away after the end, and a late acknowledgement may meet it.
    const isPutAgain = before !== undefined && tables.fanOuts.get(id)?.ended !== undefined;
    demand(isPutAgain || !group?.done.has(index), 'the first outcome of an item stands', subject);
    group?.done.set(index, slot);
    book.ackedAt = Math.max(book.ackedAt, now());
  }
  // Not by the book: whoever adds and was asleep may put a group once more that was cleared away. It goes again.
  demand(after.failed === after.slots.filter((slot) => slot === false).length, 'a group counts what failed', subject);
};

/** A child's slot says that all below it is done, for good: nothing will come below it any more. */
const checkParent = (
  book: Book,
  width: number,
  isOpen: boolean,
  { level, n }: Position,
  { slots, failed }: Node,
  subject: object,
): void => {
  const span = width ** (level - 1);
  let sum = 0;
  for (const [slot, isDone] of slots.entries()) {
    if (isDone === null) continue;
    const from = (n * width + slot) * span;
    const to = from + span;
    const tally = book.tally(from, to);
    sum += tally.failed;
    demand(tally.items > 0 && tally.done === tally.items, 'a slot is set once all below it is done', subject);
    demand(!isOpen || to <= book.groups.length, 'a slot is set once nothing comes below it any more', subject);
  }
  demand(failed === sum, 'a node counts what failed below it', subject);
};

/** The longest that a patrol without a pause looks at one fan-out, over some of its runs. */
export const LOOK_TIME: Millis = 2 * MINUTE;
