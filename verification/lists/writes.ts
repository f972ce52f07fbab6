/** Invariants that must hold after every write of a list's rows. The first broken invariant ends the schedule. */

import type { FanOut, Node } from '../../src/domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { type ClaimKey, type ListId, listOf, type Range, trackerOf } from '../../src/domain/lists/ids.ts';
import type { Lease, List } from '../../src/domain/lists/list.ts';
import { endOf, tokensOf } from '../../src/domain/lists/ranges.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';
import { demand } from '../../src/virtual/violation.ts';
import { type Book, type BookedJob, newJob, type Place } from './ledger.ts';

/** The parts of a schedule that the watcher needs, apart from the writes. */
export interface Watched {
  readonly tables: Tables;
  readonly nodeSize: NodeSize;
  readonly bookOf: (id: ListId) => Book;
  readonly now: () => Millis;
  /** The most by which a clock may be fast or slow, in ms. */
  readonly skew: Millis;
}

/** The allowed changes of a list's status. */
const NEXT_STATUSES: Readonly<Record<FanOut['status'], readonly FanOut['status'][]>> = {
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
  demand(NEXT_STATUSES[before.status].includes(after.status), 'a status only changes to a later one', subject);
  demand(
    JSON.stringify(before.ended) === JSON.stringify(after.ended) || !before.ended || after.status === 'expired',
    'the end of a list never changes',
    subject,
  );
  const id = listOf(after.id);
  const book = watched.bookOf(id);
  if (after.total !== before.total) publish(watched, id, book, before, after);
  demand(
    after.head >= before.head && after.head <= after.total,
    'the head never decreases, and never exceeds the total',
    subject,
  );
  if (after.head !== before.head || after.leases !== before.leases || after.apart !== before.apart)
    moveJobs(watched, id, book, before, after);
  if (before.status !== 'complete' && after.status === 'complete') checkComplete(book, before, after);
};

/** D1. When the total grows, the rows of all added jobs are stored, and the jobs are as they were sent. */
const publish = ({ tables }: Watched, id: ListId, book: Book, before: List, after: List): void => {
  const segment = tables.listSegments.get(`${id}#${before.total}`);
  const subject = { before, after, segment };
  demand(before.status === 'open', 'jobs are added only to an open list', subject);
  demand(segment !== undefined && endOf(segment) === after.total, 'added jobs have a segment', subject);
  if (!segment) return;
  for (let index = 0; index < segment.count; index += 1) {
    const payload = tables.listJobs.get(`${id}#${segment.token}#${index}`);
    demand(payload !== undefined, 'added jobs are stored', subject);
    demand(JSON.parse(payload ?? '{}').n === index, 'jobs keep their order', subject);
    book.jobs.push(newJob(payload ?? ''));
  }
};

const isLive = ({ until }: Lease): boolean => until !== 0;

/** All leases of a list, those in rows of their own included. */
const leasesOf = ({ tables }: Watched, id: ListId, { leases }: List): readonly Lease[] =>
  [...leases, ...[...tables.listClaims].flatMap(([key, claim]) => (key.startsWith(`${id}#`) ? claim.leases : []))].sort(
    (a, b) => a.first - b.first,
  );

/** Checks a change of a claim that has a row of its own. */
export const checkApart = (watched: Watched, id: ListId): void => {
  const list = watched.tables.fanOuts.get(trackerOf(id)) as List | undefined;
  if (list && list.status !== 'expired') moveJobs(watched, id, watched.bookOf(id), list, list);
};

/** D2. Two requests with the same claim get the same jobs, so no two leases of a claim have the same place. */
const checkSets = (leases: readonly Lease[], subject: object): void => {
  const places = leases.flatMap(({ key, claim }) => (claim === undefined ? [] : [key.replace(/[*!]\d+$/, '')]));
  demand(new Set(places).size === places.length, 'a claim has one set of leases', subject);
};

/** D2, D3, D7. Checks the jobs that were handed out, given back or triggered. */
const moveJobs = (watched: Watched, id: ListId, book: Book, before: List, after: List): void => {
  const was = book.leases;
  const leases = leasesOf(watched, id, after);
  book.leases = leases;
  const subject = { before, after, was, leases };
  if (before.status !== 'open' && before.status !== 'sealed') {
    const had = new Set(was.filter(isLive).map(({ key }) => key));
    const isOver = after.head === before.head && leases.every((lease) => !isLive(lease) || had.has(lease.key));
    demand(isOver, 'no job of an ended list is handed out', subject);
  }
  const places = new Map<number, Place>();
  let end = 0;
  for (const lease of leases) {
    demand(lease.count > 0 && lease.first >= end && endOf(lease) <= after.head, 'no job is leased twice', subject);
    end = endOf(lease);
    for (let token = lease.first; token < end; token += 1) places.set(token, isLive(lease) ? 'leased' : 'free');
  }
  for (const range of takenNow(watched, id, book))
    for (let token = range.first; token < endOf(range); token += 1) {
      demand(!places.has(token), 'a triggered job is not leased', subject);
      places.set(token, 'triggered');
    }
  checkSets(leases, subject);
  for (const lease of leases) checkLease(watched, book, was, lease, subject);
  countDeliveries(book, was, leases);
  for (let token = 0; token < after.head; token += 1) {
    const job = book.jobs[token];
    if (!job) continue;
    // A range may contain jobs that are done. They are not handed out again.
    if (job.place === 'gone' && job.done !== undefined && places.get(token) !== 'triggered') continue;
    const place = places.get(token) ?? (job.place === 'triggered' ? 'triggered' : 'gone');
    const isTaken = job.place === 'triggered' || job.place === 'gone';
    demand(!isTaken || place === job.place, 'a job that was handed out for good is not handed out again', subject);
    // The ledger does not follow the jobs of a deleted list.
    const isReleased = place === 'gone' && !isTaken && after.status !== 'expired';
    demand(!isReleased || job.done !== undefined, 'only done jobs are removed from a lease', {
      ...subject,
      token,
    });
    job.place = place;
  }
};

/** D10. Counts how often each job comes into a claim that did not have it. */
const countDeliveries = (book: Book, was: readonly Lease[], leases: readonly Lease[]): void => {
  const holderIn = (all: readonly Lease[], token: number): ClaimKey | undefined =>
    all.find((lease) => token >= lease.first && token < endOf(lease))?.claim;
  for (const [claim, all] of Map.groupBy(leases, (lease) => lease.claim)) {
    if (claim === undefined) continue;
    const open = all.flatMap(tokensOf).filter((token) => book.jobs[token]?.done === undefined);
    const isNew = open.filter((token) => holderIn(was, token) !== claim);
    if (isNew.length > 0) book.formed.set(claim, (book.formed.get(claim) ?? 0) + 1);
    for (const token of isNew) {
      const job = book.jobs[token];
      if (!job) continue;
      job.handedOut += 1;
    }
  }
  for (const [claim, all] of Map.groupBy(was, (lease) => lease.claim)) {
    if (claim === undefined) continue;
    const open = all.flatMap(tokensOf).filter((token) => book.jobs[token]?.done === undefined);
    for (const token of open) {
      const job = book.jobs[token];
      if (job && holderIn(leases, token) !== claim) job.together = open.length;
    }
  }
};

const countOf = (wanted: Wanted, total: number): number =>
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total) / 100);

/** Ranges that triggers have taken and that are not in the ledger yet. */
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
    demand(count <= most, 'a trigger takes no more jobs than requested', subject);
    const left = (book.seenBy.get(name) ?? []).map((list) => leftIn(book, list));
    const least = Math.min(...left, ...wanted.map((each) => ('count' in each ? each.count : 0)));
    demand(count >= least, 'a trigger takes as many jobs as requested, or all that are left', subject);
    return ranges;
  });

/** The number of jobs that were not handed out yet, or were given back and are not done. */
const leftIn = (book: Book, list: List): number => {
  const open = (lease: Lease): number => book.at(lease).filter(({ done }) => done === undefined).length;
  const free = list.leases.filter((lease) => !isLive(lease));
  return free.reduce((sum, lease) => sum + open(lease), list.total - list.head);
};

/** The existing lease has ended by any clock, or the new lease is the same lease. */
const checkLease = ({ now, skew }: Watched, book: Book, was: readonly Lease[], lease: Lease, subject: object): void => {
  if (!isLive(lease)) return;
  for (const other of was) {
    const overlaps = other.first < endOf(lease) && lease.first < endOf(other);
    if (!overlaps || !isLive(other) || other.claim === lease.claim) continue;
    demand(other.until + 2 * CLOCK_SKEW < now() + skew, 'no job is in two live leases', { ...subject, lease, other });
  }
  demand(
    book.at(lease).every(({ place, done }) => place !== 'triggered' && (place !== 'gone' || done !== undefined)),
    'a job that was handed out for good is not leased',
    subject,
  );
};

const checkComplete = (book: Book, before: List, after: List): void => {
  const done = book.count((job) => job.done !== undefined);
  const failed = book.count((job) => job.done === false);
  const subject = { before, after, done, failed };
  demand(before.status === 'sealed', 'only a sealed one completes', subject);
  demand(
    done === after.total && book.jobs.length === after.total,
    'it completes only after all its items are done',
    subject,
  );
  demand(
    after.ended?.because === 'all-done' && after.ended.failed === failed,
    'a complete one stores its number of failed items',
    subject,
  );
  if (!after.event) return;
  const { type, subject: of, data } = JSON.parse(after.event.event);
  const isRight = type === 'groupage.list.completed' && of === listOf(after.id) && data.total === after.total;
  demand(
    isRight && data.failed === failed && data.succeeded === done - failed,
    'an event reports the right counts',
    subject,
  );
};

/** Checks the rows of the tracker. */
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
  demand(slots.length === width, 'every node has its full number of slots', subject);
  demand(after.left === slots.filter((slot) => slot === null).length, 'a node counts its empty slots', subject);
  demand(
    (before?.slots ?? []).every((slot, index) => slot === null || slot === slots[index]),
    'a set slot never changes',
    subject,
  );
  const status = tables.fanOuts.get(tracker)?.status;
  // A process that read the list before the list's deletion may write a deleted row again. The row is deleted once
  // more.
  if (status === 'expired') return;
  if (level > 0) {
    checkParent(book, width, status === 'open', { level, n }, slots, subject);
    return;
  }
  for (const [index, slot] of slots.entries()) {
    if (slot === null || before?.slots[index] === slot) continue;
    const job = book.jobs[n * width + index];
    demand(job !== undefined, 'only existing jobs are done', subject);
    demand(job?.done === undefined || job.done === slot, 'the first outcome of a job stands', subject);
    demand(job?.place !== 'fresh', 'only jobs that were handed out are done', subject);
    if (!job || job.done !== undefined) continue;
    if (!slot && !job.isReportedFailed && job.place !== 'triggered') checkSpent(job, book.maxDeliveries, subject);
    job.done = slot;
    job.doneAt = now();
  }
};

/** D10. A job fails without a worker's report only after its last delivery, and then takes no other job with it. */
const checkSpent = (job: BookedJob, maxDeliveries: number, subject: object): void => {
  demand(job.handedOut >= maxDeliveries, 'a job fails by its deliveries only after all of them', { ...subject, job });
  demand(
    maxDeliveries === 1 || job.together === 1 || job.begunIn === job.handedOut,
    'a job fails by its deliveries only if it was begun, or was alone in the last one',
    { ...subject, job },
  );
};

/** A child's slot is set when all jobs below the child are done. After that it does not change. */
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
      'a slot is set only after all items below it are done',
      subject,
    );
    demand(!isOpen || below.length === span, 'a slot is set only when no more items can be added below it', subject);
  }
};

/** A triggered job becomes one task, which is an item of the tracker. */
export const checkTask = (bookOf: Watched['bookOf'], before: Task | undefined, after: Task): void => {
  const [id, token] = after.id.split(':') as [ListId, string];
  const job = bookOf(id).jobs[Number(token)];
  const subject = { before, after, job };
  demand(job?.place === 'triggered', 'only triggered jobs become tasks', subject);
  demand(after.fanOutItem !== undefined, 'the task of a job is an item', subject);
};
