/** What people are answered must be so, at that moment and later. */
import type { Millis } from '../../src/domain/ids.ts';
import { type ListId, leaseKeyOf } from '../../src/domain/lists/ids.ts';
import { endOf, type List } from '../../src/domain/lists/list.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import type { Appended } from '../../src/steps/lists/append.ts';
import type { Claimed, Completed, Held } from '../../src/steps/lists/claim.ts';
import type { Triggered } from '../../src/steps/lists/trigger.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

/** One list as somebody found it who asked: before he did, and when he was answered. */
export interface Asked {
  readonly id: ListId;
  readonly book: Book;
  readonly before: List | undefined;
  readonly after: List | undefined;
  readonly askedAt: Millis;
  /** What is stored of what came of a job. */
  readonly said: (token: number) => JobResult | undefined;
}

const isDeleted = ({ after }: Asked): boolean => after?.status === 'expired';

export const checkAppended = (asked: Asked, token: string, payloads: readonly string[], answer: Appended): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, token, answer, before, after };
  if (answer.kind === 'appended') {
    const { first, count, total } = answer;
    demand(count === payloads.length && total >= first + count, 'as many are added as are sent', subject);
    const stored = book.at({ first, count }).map(({ payload }) => payload);
    demand(stored.join() === payloads.join(), 'what is added is as it was sent', { ...subject, stored });
    demand((book.appended.get(token) ?? first) === first, 'a token stands for the same jobs each time', subject);
    for (const [other, theirs] of book.appended)
      demand(other === token || theirs !== first, 'two tokens have no job in common', subject);
    book.appended.set(token, first);
  }
  if (answer.kind === 'closed') {
    demand(after !== undefined && after.status !== 'open', 'only what is not open is closed', subject);
    demand(isDeleted(asked) || !book.appended.has(token), 'who repeats a call gets its answer again', subject);
    if (!isDeleted(asked)) book.refused.add(token);
  }
  if (answer.kind === 'unknown') demand(before === undefined, 'what is known is not unknown', subject);
};

export const checkTriggered = (asked: Asked, token: string, answer: Triggered): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, token, answer, before, after };
  if (answer.kind === 'triggered') {
    demand(book.taken.has(token) || isDeleted(asked), 'what is said to be triggered is', subject);
    demand(
      (book.triggered.get(token) ?? answer.count) === answer.count,
      'who repeats a call gets its answer again',
      subject,
    );
    book.triggered.set(token, answer.count);
  }
  if (answer.kind === 'closed') {
    demand(
      after !== undefined && after.status !== 'open' && after.status !== 'sealed',
      'only what is over is closed',
      subject,
    );
    demand(isDeleted(asked) || !book.taken.has(token), 'what is closed has triggered nothing', subject);
    if (!isDeleted(asked)) book.refused.add(`trigger ${token}`);
  }
  if (answer.kind === 'unknown') demand(before === undefined, 'what is known is not unknown', subject);
};

/** @param clock the claimer's own */
export const checkClaimed = (asked: Asked, claim: string, most: number, answer: Claimed, clock: Millis): void => {
  const { book, before, after, askedAt } = asked;
  const subject = { id: asked.id, claim, answer, before, after };
  if (answer.kind === 'unknown') demand(before === undefined, 'what is known is not unknown', subject);
  if (answer.kind === 'closed')
    demand(after?.status === 'cancelled' || after?.status === 'expired', 'only what is over is closed', subject);
  if (answer.kind === 'none' && before && after)
    demand(
      // Whatever somebody gave back meanwhile was not there yet, or is not there any more.
      before.total !== before.head ? after.head !== before.head || after.status !== before.status : true,
      'nothing is refused that was there all the time',
      subject,
    );
  if (answer.kind !== 'claimed') return;
  const { jobs, until } = answer;
  demand(jobs.length > 0 && jobs.length <= most, 'a claim gets some jobs, and no more than it wants', subject);
  for (const { token, payload } of jobs) {
    const job = book.jobs[token];
    demand(job?.payload === payload, 'a job is as it was sent', { ...subject, token, job });
    demand((job?.doneAt ?? Number.POSITIVE_INFINITY) >= askedAt, 'what is done is not handed out', {
      ...subject,
      token,
    });
  }
  if (until < clock || isDeleted(asked)) return;
  const lease = after?.leases.find(({ key }) => key === leaseKeyOf(claim as Held['claim']));
  const isHis = lease !== undefined && jobs.every(({ token }) => token >= lease.first && token < endOf(lease));
  demand(isHis, 'what is claimed is his until it ends', subject);
};

export const checkCompleted = (asked: Asked, held: Held, results: readonly JobResult[], answer: Completed): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, held, results, answer, before, after };
  if (answer.kind === 'unknown') demand(before === undefined || isOver(asked), 'what is known is not unknown', subject);
  if (answer.kind !== 'done') return;
  for (const { token } of results)
    demand(book.jobs[token]?.done !== undefined || isDeleted(asked), 'what is said to be done is done', subject);
  // A job that becomes a task after all ends as that does.
  if (before?.operation === undefined)
    for (const { token } of results) {
      const said = asked.said(token);
      const isSo = said === undefined || (said.outcome === 'succeeded') === book.jobs[token]?.done;
      demand(isSo || isDeleted(asked), 'what is said of a job is how it ended', { ...subject, said });
    }
  demand(
    !answer.complete || after?.status === 'complete' || isDeleted(asked),
    'only what is complete is said to be',
    subject,
  );
};

/** Whether its rows may be on their way out. */
const isOver = ({ after }: Asked): boolean => after?.ended !== undefined;
