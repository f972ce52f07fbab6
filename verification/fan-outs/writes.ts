/** Invariants that must hold after every write of a fan-out's rows. The first broken invariant ends the schedule. */

import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { FanOutPolicy } from '../../src/domain/config/resolved.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import { type FanOut, type Node, TOLERATED_MAX } from '../../src/domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book, Tally } from './ledger.ts';

/** The parts of a schedule that the watcher needs, apart from the writes. */
export interface Watched {
  readonly tables: Tables;
  readonly policy: FanOutPolicy;
  readonly nodeSize: NodeSize;
  readonly sentCallbacks: readonly CallbackMessage[];
  readonly bookOf: (id: FanOutId) => Book;
  readonly now: () => Millis;
  /** The most by which a clock may be fast or slow, in ms. */
  readonly skew: Millis;
  /**
   * How long a walk of the patrol may have taken, in ms. A walk misses acks in parts of the tree that it has already
   * visited.
   */
  readonly lookTime: () => Millis;
  /** The number of faults that were injected so far. */
  readonly faultCount: () => number;
  /** How long a function may count the items before it ends a fan-out, in ms. */
  readonly countTime: () => Millis;
}

/** The allowed changes of a fan-out's status. An ended fan-out keeps its status until it is deleted. */
const NEXT_STATUSES: Readonly<Record<FanOut['status'], readonly FanOut['status'][]>> = {
  open: ['open', 'sealed', 'complete', 'expired'],
  sealed: ['sealed', 'complete', 'expired'],
  complete: ['complete', 'expired'],
  expired: ['expired'],
  // Only lists are cancelled.
  cancelled: ['cancelled'],
};

export const checkHeader = (watched: Watched, before: FanOut | undefined, after: FanOut): void => {
  const subject = { before, after };
  if (!before) {
    demand(after.status === 'open' && after.total === 0, 'a fan-out begins open and empty', subject);
    return;
  }
  demand(NEXT_STATUSES[before.status].includes(after.status), 'a status only changes to a later one', subject);
  const more = after.total - before.total;
  const moreGroups = after.groups - before.groups;
  const width = watched.nodeSize.width;
  demand(moreGroups === Math.ceil(more / width) && more >= 0, 'as many groups are added as the items need', subject);
  demand(
    more === 0 || (before.status === 'open' && after.status === 'open'),
    'items are added only to an open fan-out',
    subject,
  );
  const book = watched.bookOf(after.id);
  book.reserve(more);
  if (before.status !== after.status && after.status !== 'sealed') checkEnd(watched, before, after);
  else demand(sameEnd(before, after), 'the end of a fan-out never changes', subject);
  book.walkBeganAt = after.walk && (book.walkBeganAt ?? watched.now());
  checkNotices(before, after, book.tally());
  if (after.summedAt !== before.summedAt) book.sums += 1;
  noteExcess(watched, after);
  if (before.event && !after.event)
    demand(
      watched.sentCallbacks.some(({ event }) => event === before.event?.event),
      'an event is removed only after it was sent',
      subject,
    );
};

/** T12, T13. A notice never changes, and is true when it is written. */
const checkNotices = (before: FanOut, after: FanOut, { items, done, failed }: Tally): void => {
  const subject = { before, after, items, done, failed };
  for (const name of ['firstFailure', 'allSucceededAt'] as const)
    demand(
      before[name] === undefined || JSON.stringify(before[name]) === JSON.stringify(after[name]),
      'a notice never changes',
      subject,
    );
  if (before.allSucceededAt === after.allSucceededAt) return;
  const isTrue = after.status === 'complete' && (after.ended?.failed ?? 0) > 0 && items === done && failed === 0;
  demand(isTrue, 'all items have succeeded when that is noted', subject);
};

/** T10. Notes when the failures of a sealed fan-out exceed a share of all items that is too large to note each one. */
const noteExcess = ({ bookOf, now, faultCount }: Watched, fanOut: FanOut): void => {
  const { failFast, status, id } = fanOut;
  if (!failFast || !('share' in failFast) || status !== 'sealed') return;
  const tolerated = toleratedOf(fanOut, status);
  const book = bookOf(id);
  if (tolerated <= TOLERATED_MAX || book.tally().failed <= tolerated) book.exceededAt = undefined;
  else if (book.exceededAt === undefined) {
    book.exceededAt = now();
    book.sums = 0;
    book.faultsBefore = faultCount();
  }
};

/** The longest time until a sum finds too many failures while an ack is answered each second, in ms (T10). */
const FOUND_WITHIN: Millis = 10 * SECOND;
/** The longest time until the next sum, if the function that sums dies. */
const SUMMED_AGAIN: Millis = 7 * SECOND;

/** T10. Checks, after the answer to an ack of an existing item, that too many failures are found in time. */
export const checkFoundInTime = ({ bookOf, now, skew, tables, faultCount }: Watched, id: FanOutId): void => {
  const book = bookOf(id);
  if (now() - book.answeredAt > SECOND) book.steadyFrom = now();
  book.answeredAt = now();
  const { exceededAt, steadyFrom, sums } = book;
  if (exceededAt === undefined || tables.fanOuts.get(id)?.ended) return;
  const failedSums = Math.max(0, Math.min(sums - 1, faultCount() - book.faultsBefore));
  const limit = FOUND_WITHIN + failedSums * SUMMED_AGAIN + 2 * skew;
  demand(now() - Math.max(exceededAt, steadyFrom) <= limit, 'too many failures are found in time while acks arrive', {
    id,
    exceededAt,
    steadyFrom,
    sums,
  });
};

const sameEnd = (before: FanOut, after: FanOut): boolean =>
  JSON.stringify(before.ended) === JSON.stringify(after.ended) &&
  (after.event === undefined || JSON.stringify(before.event) === JSON.stringify(after.event));

const checkEnd = (watched: Watched, before: FanOut, after: FanOut): void => {
  const book = watched.bookOf(after.id);
  const tally = book.tally();
  const subject = { before, after, tally };
  const { ended } = after;
  demand(ended !== undefined, 'an ended fan-out stores its reason', subject);
  if (!ended) return;
  demand(tally.items === after.total, 'the total counts all added items', subject);
  const status = ended.because === 'all-done' || ended.because === 'too-many-failed' ? 'complete' : 'expired';
  demand(after.status === status, 'an ended fan-out stores its reason', subject);
  demand(before.status !== 'complete' || ended.because === 'deleted', 'a fan-out ends once', subject);
  // A count may miss corrections that came after it began (T11).
  const counted = Math.min(book.walkBeganAt ?? watched.now(), watched.now()) - watched.countTime();
  const recent = book.correctedAt.filter((at) => at >= counted).length;
  // A deletion keeps the count of the end before it.
  const most = before.ended ? before.ended.failed : tally.failed + recent;
  demand(ended.failed <= most, 'the stored number of failed items is not too high', subject);
  demand(
    !after.notifyFirstFailure || ended.failed === 0 || ended.because === 'deleted' || after.firstFailure !== undefined,
    'a first failure is noted before the end',
    subject,
  );
  switch (ended.because) {
    case 'all-done':
      demand(before.status === 'sealed', 'only a sealed one completes', subject);
      demand(tally.done === tally.items, 'it completes only after all its items are done', subject);
      demand(ended.failed >= tally.failed, 'a complete one stores its number of failed items', subject);
      break;
    case 'too-many-failed':
      demand(ended.failed > toleratedOf(after, before.status), 'it fails fast only if too many items failed', subject);
      checkCounts(after, tally);
      break;
    case 'idle':
      checkIdle(watched, before, after, book);
      checkCounts(after, tally);
      break;
    case 'deleted':
    case 'cancelled':
      break;
  }
  checkEvent(after, tally);
};

/**
 * The most failed items before a fan-out fails fast. This is a number, or a share of all items (in tenths) once the
 * number of items is fixed.
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
  // The write that ends the fan-out fails if an addition or a seal came in between.
  demand(before.touchedAt + idle < at, 'a fan-out does not expire soon after an addition or a seal', subject);
  // The patrol may miss an ack that is stored during the patrol's walk.
  if (ackedAt > (walkBeganAt ?? at) - lookTime() - 2 * skew) return;
  demand(ackedAt + idle < at + 2 * skew, 'a fan-out does not expire soon after an ack', subject);
  demand(before.status === 'open' || !book.isAllDone, 'a fan-out whose items are all done does not expire', subject);
  const { items, done, failed } = book.tally();
  demand(
    ended?.pending === undefined || (ended.pending === items - done && ended.failed === failed),
    'an expired fan-out stores the right counts',
    { ...subject, ended },
  );
};

/** Counts of a walk may be older than the last acks, so fewer items may be pending than stored. */
const checkCounts = ({ ended, event, total }: FanOut, { items, done, failed }: Tally): void => {
  if (ended?.pending === undefined) return;
  const subject = { ended, event, items, done, failed };
  demand(ended.pending >= items - done, 'the stored number of pending items is not too low', subject);
  demand(
    total - ended.failed - ended.pending <= done - failed,
    'the stored number of succeeded items is not too high',
    subject,
  );
};

const checkEvent = ({ id, status, ended, event }: FanOut, { items, done, failed }: Tally): void => {
  if (!event) return;
  const { id: name, type, subject, data } = JSON.parse(event.event) as Record<string, unknown>;
  const isRight =
    subject === id && type === `groupage.fan-out.${status === 'complete' ? 'completed' : status}` && `${name}` !== '';
  demand(isRight, 'an event reports the stored end', { event });
  const { total, succeeded, failed: said, pending, countsAreAtLeast, because } = data as Record<string, unknown>;
  demand(total === items && because === ended?.because, 'an event reports the stored end', { event });
  const isCounted = because === 'all-done' || ended?.pending !== undefined;
  demand(
    said === ended?.failed && pending === (isCounted ? (ended?.pending ?? 0) : undefined),
    'an event reports the stored counts',
    { event, ended },
  );
  demand((countsAreAtLeast === true) === !isCounted, 'an event says whether its counts are lower bounds', { event });
  if (because === 'all-done')
    demand(succeeded === done - Number(said), 'an event reports the right counts', {
      event,
      done,
      failed,
    });
};

export const checkNode = (
  watched: Watched,
  id: FanOutId,
  { level, n }: Position,
  before: Node | undefined,
  after: Node,
): void => {
  const {
    bookOf,
    nodeSize: { width },
    now,
    tables,
  } = watched;
  const book = bookOf(id);
  const subject = { id, level, n, before, after };
  const isCorrected = (index: number): boolean =>
    level === 0 && before?.slots[index] === false && after.slots[index] === true && book.redriven.has(`${n}:${index}`);
  demand(
    (before?.slots ?? []).every((slot, index) => slot === null || slot === after.slots[index] || isCorrected(index)),
    'a set slot never changes',
    subject,
  );
  demand(after.left === after.slots.filter((slot) => slot === null).length, 'a node counts its empty slots', subject);
  if (level > 0) {
    const isOpen = tables.fanOuts.get(id)?.status === 'open';
    checkParent(book, width, isOpen, { level, n }, after, subject);
    return;
  }
  const group = book.groups[n];
  demand(after.slots.length === group?.size, 'a group has as many slots as items were added', subject);
  for (const [index, slot] of after.slots.entries()) {
    if (slot === null || before?.slots[index] === slot) continue;
    if (isCorrected(index)) {
      group?.done.set(index, slot);
      group?.corrected.add(index);
      book.correctedAt.push(now());
      book.ackedAt = Math.max(book.ackedAt, now());
      continue;
    }
    // A producer that was paused may write a group again that was deleted after the fan-out's end. A late ack may then
    // be stored in that group.
    const isPutAgain = before !== undefined && tables.fanOuts.get(id)?.ended !== undefined;
    demand(isPutAgain || !group?.done.has(index), 'the first outcome of an item stands', subject);
    group?.done.set(index, slot);
    book.ackedAt = Math.max(book.ackedAt, now());
  }
  const fanOut = tables.fanOuts.get(id);
  if (fanOut) noteExcess(watched, fanOut);
  // The count is not compared with the record, because a paused producer may write a deleted group again. Such a group
  // is deleted once more.
  demand(
    after.failed === after.slots.filter((slot) => slot === false).length,
    'a group counts its failed items',
    subject,
  );
};

/** A child's slot is set only when all items below the child are done and no more items can be added below it. */
const checkParent = (
  book: Book,
  width: number,
  isOpen: boolean,
  { level, n }: Position,
  { slots, failed }: Node,
  subject: object,
): void => {
  const span = width ** (level - 1);
  let [sum, corrected] = [0, 0];
  for (const [slot, isDone] of slots.entries()) {
    if (isDone === null) continue;
    const from = (n * width + slot) * span;
    const to = from + span;
    const tally = book.tally(from, to);
    sum += tally.failed;
    corrected += tally.corrected;
    demand(
      tally.items > 0 && tally.done === tally.items,
      'a slot is set only after all items below it are done',
      subject,
    );
    demand(!isOpen || to <= book.groups.length, 'a slot is set only when no more items can be added below it', subject);
  }
  // Corrections leave the counts of nodes above the groups as they are (T11).
  demand(failed >= sum && failed <= sum + corrected, 'a node counts the failed items below it', subject);
};

/**
 * The longest time of one walk over a fan-out by a patrol that is not paused, in ms. The walk may take several sweeps.
 */
export const LOOK_TIME: Millis = 2 * MINUTE;
