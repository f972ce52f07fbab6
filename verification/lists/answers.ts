/** Promises about the answers to clients: each answer is true when it is given, and stays true. */
import type { Millis } from '../../src/domain/ids.ts';
import { type ClaimId, type ClaimKey, claimKeyOf, type ListId } from '../../src/domain/lists/ids.ts';
import { CLAIMS_MAX, type Lease, type List } from '../../src/domain/lists/list.ts';
import { endOf } from '../../src/domain/lists/ranges.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import type { Appended } from '../../src/steps/lists/append.ts';
import type { Claimed } from '../../src/steps/lists/claim.ts';
import type { Completed } from '../../src/steps/lists/complete.ts';
import type { Named } from '../../src/steps/lists/held.ts';
import type { Broken } from '../../src/steps/lists/release.ts';
import type { Triggered } from '../../src/steps/lists/trigger.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

/** The list before a request, and when the request was answered. */
export interface Asked {
  readonly id: ListId;
  readonly book: Book;
  readonly before: List | undefined;
  readonly after: List | undefined;
  /** The leases of the list before the request, those in rows of their own included. */
  readonly leasesBefore: readonly Lease[];
  /** The most claims in the list's row. */
  readonly claimsMax: number;
  readonly askedAt: Millis;
  /** Returns the stored result of a job. */
  readonly said: (token: number) => JobResult | undefined;
}

const isDeleted = ({ after }: Asked): boolean => after?.status === 'expired';

export const checkAppended = (asked: Asked, token: string, payloads: readonly string[], answer: Appended): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, token, answer, before, after };
  if (answer.kind === 'appended') {
    const { first, count, total } = answer;
    demand(count === payloads.length && total >= first + count, 'as many jobs are added as were sent', subject);
    const stored = book.at({ first, count }).map(({ payload }) => payload);
    demand(stored.join() === payloads.join(), 'added jobs are stored as they were sent', { ...subject, stored });
    demand((book.appended.get(token) ?? first) === first, 'a token returns the same jobs each time', subject);
    for (const [other, theirs] of book.appended)
      demand(other === token || theirs !== first, 'two tokens have no job in common', subject);
    book.appended.set(token, first);
  }
  if (answer.kind === 'closed') {
    demand(after !== undefined && after.status !== 'open', 'the answer closed means that it is not open', subject);
    demand(isDeleted(asked) || !book.appended.has(token), 'a repeated call gets the same answer', subject);
    if (!isDeleted(asked)) book.refused.add(token);
  }
  if (answer.kind === 'unknown')
    demand(before === undefined, 'the answer unknown means that it does not exist', subject);
};

export const checkTriggered = (asked: Asked, token: string, answer: Triggered): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, token, answer, before, after };
  if (answer.kind === 'triggered') {
    demand(book.taken.has(token) || isDeleted(asked), 'the answer triggered means that jobs were taken', subject);
    demand(
      (book.triggered.get(token) ?? answer.count) === answer.count,
      'a repeated call gets the same answer',
      subject,
    );
    book.triggered.set(token, answer.count);
  }
  if (answer.kind === 'closed') {
    demand(
      after !== undefined && after.status !== 'open' && after.status !== 'sealed',
      'the answer closed means that the list is over',
      subject,
    );
    demand(isDeleted(asked) || !book.taken.has(token), 'a closed trigger has taken no jobs', subject);
    if (!isDeleted(asked)) book.refused.add(`trigger ${token}`);
  }
  if (answer.kind === 'other-amount')
    demand(
      book.taken.has(token) && new Set((book.wanted.get(token) ?? []).map((each) => JSON.stringify(each))).size > 1,
      'only a token with several amounts is refused for its amount',
      subject,
    );
  if (answer.kind === 'unknown')
    demand(before === undefined, 'the answer unknown means that it does not exist', subject);
};

/** @param clock the time by the claimer's clock */
export const checkClaimed = (asked: Asked, claim: string, most: number, answer: Claimed, clock: Millis): void => {
  const { book, before, after, askedAt } = asked;
  const subject = { id: asked.id, claim, answer, before, after };
  if (answer.kind === 'unknown')
    demand(before === undefined, 'the answer unknown means that it does not exist', subject);
  if (answer.kind === 'closed')
    demand(
      after?.status === 'cancelled' || after?.status === 'expired',
      'the answer closed means that the list is over',
      subject,
    );
  if (answer.kind === 'none' && before && after)
    demand(
      // Jobs that were given back in the meantime do not count, because they were either not free before the request or
      // not free after it.
      before.total !== before.head ? after.head !== before.head || after.status !== before.status : true,
      'a claim is not refused jobs that were free all the time',
      subject,
    );
  if (answer.kind !== 'claimed') return;
  const { jobs, until } = answer;
  demand(
    jobs.length > 0 && jobs.length <= most,
    'a claim gets at least one job, and no more than it asks for',
    subject,
  );
  const isRepeated = asked.leasesBefore.some((lease) => lease.claim === claimKeyOf(claim as ClaimId));
  if (before && after && !isRepeated) checkOrder(asked, before, after, most, answer);
  for (const { token, payload, deliveries } of jobs) {
    const job = book.jobs[token];
    demand(job?.payload === payload, 'a claimed job is as it was sent', { ...subject, token, job });
    demand((job?.doneAt ?? Number.POSITIVE_INFINITY) >= askedAt, 'a done job is not handed out', {
      ...subject,
      token,
    });
    demand(
      deliveries >= 1 && deliveries <= (job?.handedOut ?? 0),
      'a job is told how often it was handed out, or less if workers gave it back unbegun',
      { ...subject, token, job },
    );
    demand((job?.reported ?? 0) < book.maxDeliveries, 'a job is not handed out again after its last delivery', {
      ...subject,
      token,
      job,
    });
  }
  if (until < clock || isDeleted(asked)) return;
  const mine = book.leases.filter((lease) => lease.claim === claimKeyOf(claim as ClaimId));
  const isMine = (token: number): boolean => mine.some((lease) => token >= lease.first && token < endOf(lease));
  // A person may have broken the claim in the meantime.
  const isHeld = book.broken.has(claimKeyOf(claim as ClaimId)) || jobs.every(({ token }) => isMine(token));
  demand(isHeld, 'claimed jobs belong to the claim until it ends', subject);
};

/** D11. Jobs that were given back come after the fresh ones, unless there are many free ranges. */
const checkOrder = (
  { leasesBefore, claimsMax }: Asked,
  before: List,
  after: List,
  most: number,
  { jobs }: Claimed & { readonly kind: 'claimed' },
): void => {
  const fresh = Math.min(before.total, after.total) - after.head;
  const isFew = claimsMax === CLAIMS_MAX && Math.max(leasesBefore.length, after.leases.length) < 8;
  demand(
    !isFew || fresh < most || jobs.every(({ token }) => token >= before.head),
    'jobs that were given back come after the fresh ones',
    { before, after, jobs },
  );
};

/** D12. @param formed how often the claim had got jobs before the request */
export const checkBroken = ({ book }: Asked, formed: (key: ClaimKey) => number, answer: Broken): void => {
  if (answer.kind !== 'broken') return;
  const { key } = answer;
  book.broken.add(key);
  // A repeated request of the claim's worker may have got jobs in the meantime.
  const isSame = formed(key) === (book.formed.get(key) ?? 0);
  demand(!isSame || !book.leases.some(({ claim }) => claim === key), 'a broken claim has no jobs', {
    answer,
    leases: book.leases,
  });
};

export const checkCompleted = (asked: Asked, held: Named, results: readonly JobResult[], answer: Completed): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, held, results, answer, before, after };
  if (answer.kind === 'unknown')
    demand(before === undefined || isOver(asked), 'the answer unknown means that it does not exist', subject);
  if (answer.kind !== 'done') return;
  for (const { token } of results)
    demand(
      book.jobs[token]?.done !== undefined || isDeleted(asked),
      'the answer done means that the jobs are done',
      subject,
    );
  // The outcome of a job that became a task is the outcome of the task.
  if (before?.operation === undefined)
    for (const { token } of results) {
      const said = asked.said(token);
      const isSo = said === undefined || (said.outcome === 'succeeded') === book.jobs[token]?.done;
      demand(isSo || isDeleted(asked), 'the stored result of a job matches its outcome', { ...subject, said });
    }
  demand(
    !answer.complete || after?.status === 'complete' || isDeleted(asked),
    'the answer complete means that it is complete',
    subject,
  );
};

/** Whether the rows of the list may already be deleted. */
const isOver = ({ after }: Asked): boolean => after?.ended !== undefined;
