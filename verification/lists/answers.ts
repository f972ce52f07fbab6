/** Promises about the answers to clients: each answer is true when it is given, and stays true. */
import type { Millis } from '../../src/domain/ids.ts';
import { type ListId, leaseKeyOf } from '../../src/domain/lists/ids.ts';
import { endOf, type List } from '../../src/domain/lists/list.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import type { Appended } from '../../src/steps/lists/append.ts';
import type { Claimed, Completed, Held } from '../../src/steps/lists/claim.ts';
import type { Triggered } from '../../src/steps/lists/trigger.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

/** The list before a request, and when the request was answered. */
export interface Asked {
  readonly id: ListId;
  readonly book: Book;
  readonly before: List | undefined;
  readonly after: List | undefined;
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
  for (const { token, payload } of jobs) {
    const job = book.jobs[token];
    demand(job?.payload === payload, 'a claimed job is as it was sent', { ...subject, token, job });
    demand((job?.doneAt ?? Number.POSITIVE_INFINITY) >= askedAt, 'a done job is not handed out', {
      ...subject,
      token,
    });
  }
  if (until < clock || isDeleted(asked)) return;
  const lease = after?.leases.find(({ key }) => key === leaseKeyOf(claim as Held['claim']));
  const isHeld = lease !== undefined && jobs.every(({ token }) => token >= lease.first && token < endOf(lease));
  demand(isHeld, 'claimed jobs belong to the claim until it ends', subject);
};

export const checkCompleted = (asked: Asked, held: Held, results: readonly JobResult[], answer: Completed): void => {
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
