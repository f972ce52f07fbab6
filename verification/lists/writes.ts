/** What must hold after every write of a list's rows. Each is a sentence; the first one that breaks stops the run. */

import type { FanOut, Node } from '../../src/domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { type ListId, listOf, type Range } from '../../src/domain/lists/ids.ts';
import { endOf, type Lease, type List } from '../../src/domain/lists/list.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book, Place } from './ledger.ts';

/** What a watcher is told besides what he sees. */
export interface Watched {
  readonly tables: Tables;
  readonly nodeSize: NodeSize;
  readonly bookOf: (id: ListId) => Book;
  readonly now: () => Millis;
  /** The most that a clock is off, either way. */
  readonly skew: Millis;
}

/** The arrows of a list's life. */
const ARROWS: Readonly<Record<FanOut['status'], readonly FanOut['status'][]>> = {
  open: ['open', 'sealed', 'cancelled', 'expired'],
  sealed: ['sealed', 'complete', 'cancelled', 'expired'],
  complete: ['complete', 'expired'],
  cancelled: ['cancelled', 'expired'],
  expired: ['expired'],
};

export const checkList = (watched: Watched, before: List | undefined, after: List): void => {
  const subject = { before, after };
  if (!before) {
    demand(after.status === 'open' && after.total === 0 && after.head === 0, 'a list begins open and empty', subject);
    return;
  }
  demand(ARROWS[before.status].includes(after.status), 'a status only moves on', subject);
  demand(
    JSON.stringify(before.ended) === JSON.stringify(after.ended) || !before.ended || after.status === 'expired',
    'how a list ended stays',
    subject,
  );
  const id = listOf(after.id);
  const book = watched.bookOf(id);
  if (after.total !== before.total) publish(watched, id, book, before, after);
  demand(
    after.head >= before.head && after.head <= after.total,
    'the head only moves on, to the last job at most',
    subject,
  );
  if (after.head !== before.head || after.leases !== before.leases) moveJobs(watched, id, book, before, after);
  if (before.status !== 'complete' && after.status === 'complete') checkComplete(book, before, after);
};

/** D1. More jobs are the list's: all of them are stored, and are as they were sent. */
const publish = ({ tables }: Watched, id: ListId, book: Book, before: List, after: List): void => {
  const segment = tables.listSegments.get(`${id}#${before.total}`);
  const subject = { before, after, segment };
  demand(before.status === 'open', 'only an open list is added to', subject);
  demand(segment !== undefined && endOf(segment) === after.total, 'what is added has its segment', subject);
  if (!segment) return;
  for (let index = 0; index < segment.count; index += 1) {
    const payload = tables.listJobs.get(`${id}#${segment.token}#${index}`);
    demand(payload !== undefined, 'what is added is stored', subject);
    demand(JSON.parse(payload ?? '{}').n === index, 'jobs keep their order', subject);
    book.jobs.push({ payload: payload ?? '', place: 'fresh' });
  }
};

const isLive = ({ until }: Lease): boolean => until !== 0;

/** D2, D3, D7. Jobs change hands. */
const moveJobs = (watched: Watched, id: ListId, book: Book, before: List, after: List): void => {
  const subject = { before, after };
  if (before.status !== 'open' && before.status !== 'sealed') {
    const had = new Set(before.leases.filter(isLive).map(({ key }) => key));
    const isOver = after.head === before.head && after.leases.every((lease) => !isLive(lease) || had.has(lease.key));
    demand(isOver, 'nothing is handed out once it is over', subject);
  }
  const places = new Map<number, Place>();
  let end = 0;
  for (const lease of after.leases) {
    demand(lease.count > 0 && lease.first >= end && endOf(lease) <= after.head, 'no job is leased twice', subject);
    end = endOf(lease);
    for (let token = lease.first; token < end; token += 1) places.set(token, isLive(lease) ? 'leased' : 'free');
  }
  for (const range of takenNow(watched, id, book))
    for (let token = range.first; token < endOf(range); token += 1) {
      demand(!places.has(token), 'what is triggered is nobody else’s', subject);
      places.set(token, 'triggered');
    }
  for (const lease of after.leases) checkLease(watched, book, before, lease, subject);
  for (let token = 0; token < after.head; token += 1) {
    const job = book.jobs[token];
    if (!job) continue;
    const place = places.get(token) ?? (job.place === 'triggered' ? 'triggered' : 'gone');
    const isTaken = job.place === 'triggered' || job.place === 'gone';
    demand(!isTaken || place === job.place, 'what has been handed out for good is not handed out again', subject);
    // Of a deleted list nobody keeps books any more.
    const isLetGo = place === 'gone' && !isTaken && after.status !== 'expired';
    demand(!isLetGo || job.done !== undefined, 'only what is done is let go of', {
      ...subject,
      token,
    });
    job.place = place;
  }
};

const countOf = (wanted: Wanted, total: number): number =>
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total) / 100);

/** What triggers have taken that was not booked yet. */
const takenNow = ({ tables }: Watched, id: ListId, book: Book): readonly Range[] =>
  [...tables.listTriggers].flatMap(([key, { ranges }]) => {
    if (!key.startsWith(`${id}#`)) return [];
    const name = key.slice(id.length + 1);
    if (book.taken.has(name)) return [];
    book.taken.add(name);
    const wanted = book.wanted.get(name) ?? [];
    const count = ranges.reduce((sum, range) => sum + range.count, 0);
    const most = Math.max(0, ...wanted.map((each) => countOf(each, book.jobs.length)));
    const subject = { id, name, ranges, wanted };
    demand(count <= most, 'a trigger takes no more than it wants', subject);
    const left = (book.seenBy.get(name) ?? []).map((list) => leftIn(book, list));
    const least = Math.min(...left, ...wanted.map((each) => ('count' in each ? each.count : 0)));
    demand(count >= least, 'a trigger takes all that is left, if that is less', subject);
    return ranges;
  });

/** What was fresh in a list, or given back and not done. */
const leftIn = (book: Book, list: List): number => {
  const open = (lease: Lease): number => book.at(lease).filter(({ done }) => done === undefined).length;
  const free = list.leases.filter((lease) => !isLive(lease));
  return free.reduce((sum, lease) => sum + open(lease), list.total - list.head);
};

/** Whoever had it is over, by any clock; or it is still he. */
const checkLease = ({ now, skew }: Watched, book: Book, before: List, lease: Lease, subject: object): void => {
  if (!isLive(lease)) return;
  for (const other of before.leases) {
    const overlaps = other.first < endOf(lease) && lease.first < endOf(other);
    if (!overlaps || !isLive(other) || other.key === lease.key) continue;
    demand(other.until + 2 * CLOCK_SKEW < now() + skew, 'no job is in two live leases', { ...subject, lease, other });
  }
  demand(
    book.at(lease).every(({ place }) => place === 'fresh' || place === 'free' || place === 'leased'),
    'what has been handed out for good is not leased',
    subject,
  );
};

const checkComplete = (book: Book, before: List, after: List): void => {
  const done = book.count((job) => job.done !== undefined);
  const failed = book.count((job) => job.done === false);
  const subject = { before, after, done, failed };
  demand(before.status === 'sealed', 'what is complete was sealed', subject);
  demand(
    done === after.total && book.jobs.length === after.total,
    'nothing is complete before all of it is done',
    subject,
  );
  demand(
    after.ended?.because === 'all-done' && after.ended.failed === failed,
    'what is complete is counted right',
    subject,
  );
  if (!after.event) return;
  const { type, subject: of, data } = JSON.parse(after.event.event);
  const isRight = type === 'groupage.list.completed' && of === listOf(after.id) && data.total === after.total;
  demand(isRight && data.failed === failed && data.succeeded === done - failed, 'an event counts right', subject);
};

/** The tracker's rows. */
export const checkTracker = (
  { bookOf, nodeSize: { width }, now, tables }: Watched,
  tracker: FanOut['id'],
  { level, n }: Position,
  before: Node | undefined,
  after: Node,
): void => {
  const book = bookOf(listOf(tracker));
  const subject = { tracker, level, n, before, after };
  const { slots } = after;
  demand(slots.length === width, 'a node has a slot for whatever may come', subject);
  demand(after.left === slots.filter((slot) => slot === null).length, 'a node counts its slots', subject);
  demand(
    (before?.slots ?? []).every((slot, index) => slot === null || slot === slots[index]),
    'what is written into a slot stays',
    subject,
  );
  const status = tables.fanOuts.get(tracker)?.status;
  // Whoever saw it before it was deleted may put a row once more that was cleared away. It goes again.
  if (status === 'expired') return;
  if (level > 0) {
    checkParent(book, width, status === 'open', { level, n }, slots, subject);
    return;
  }
  for (const [index, slot] of slots.entries()) {
    if (slot === null || before?.slots[index] === slot) continue;
    const job = book.jobs[n * width + index];
    demand(job !== undefined, 'what is done is a job', subject);
    demand(job?.done === undefined || job.done === slot, 'the first outcome of a job stands', subject);
    demand(job?.place !== 'fresh', 'only what was handed out is done', subject);
    if (!job || job.done !== undefined) continue;
    job.done = slot;
    job.doneAt = now();
  }
};

/** A child's slot says that all below it is done, for good. */
const checkParent = (
  book: Book,
  width: number,
  isOpen: boolean,
  { level, n }: Position,
  slots: Node['slots'],
  subject: object,
): void => {
  const span = width ** level;
  for (const [slot, isDone] of slots.entries()) {
    if (isDone === null) continue;
    const first = (n * width + slot) * span;
    const below = book.at({ first, count: span });
    demand(
      below.length > 0 && below.every((job) => job.done !== undefined),
      'a slot is set once all below it is done',
      subject,
    );
    demand(!isOpen || below.length === span, 'a slot is set once nothing comes below it any more', subject);
  }
};

/** A job becomes one task, of what was triggered. */
export const checkTask = (bookOf: Watched['bookOf'], before: Task | undefined, after: Task): void => {
  const [id, token] = after.id.split(':') as [ListId, string];
  const job = bookOf(id).jobs[Number(token)];
  const subject = { before, after, job };
  demand(job?.place === 'triggered', 'only what was triggered becomes a task', subject);
  demand(after.fanOutItem !== undefined, 'a task of a job is an item', subject);
};
