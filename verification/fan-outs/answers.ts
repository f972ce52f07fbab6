/** Promises about the answers to producers and consumers: each answer is true when it is given, and stays true. */

import { type FanOutId, itemIdOf } from '../../src/domain/fan-out-ids.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { AckAnswer } from '../../src/steps/fan-outs/ack-items.ts';
import type { Added } from '../../src/steps/fan-outs/add-items.ts';
import type { Sealed } from '../../src/steps/fan-outs/complete.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';
import type { Delivery } from './scenario.ts';

/** The fan-out before a request, and when the request was answered. */
export interface Asked {
  readonly id: FanOutId;
  readonly book: Book;
  readonly before: FanOut | undefined;
  readonly after: FanOut | undefined;
  /** The groups that earlier answers returned to producers. */
  readonly given: ReadonlySet<string>;
  /** Whether an earlier answer to the same call was `complete`. */
  readonly wasSaid: boolean;
  /** Whether the rows of the fan-out may already be deleted. */
  readonly mayGo: boolean;
}

/**
 * Whether the time has passed for which an ended fan-out is kept, by the fastest clock. Its rows may then be deleted.
 */
export const mayGo = (fanOut: FanOut | undefined, keep: Millis, latest: Millis): boolean =>
  fanOut?.ended !== undefined && (fanOut.status === 'expired' || fanOut.ended.at + keep < latest);

const isDeleted = ({ after }: Asked): boolean => after?.status === 'expired';

export const checkAdded = (asked: Asked, count: number, token: string, answer: Added): void => {
  const { book, after } = asked;
  const subject = { id: asked.id, token, count, answer, before: asked.before, after };
  if (answer.kind === 'added') {
    const { groups } = answer;
    demand(
      groups.every(({ n, size }) => book.groups[n]?.size === size),
      'returned items are counted',
      subject,
    );
    demand(
      groups.reduce((sum, { size }) => sum + size, 0) === count,
      'as many items are returned as were requested',
      subject,
    );
    const names = groups.map(({ n }) => n).join();
    demand((book.added.get(token) ?? names) === names, 'a token returns the same items each time', subject);
    for (const [other, theirs] of book.added)
      demand(other === token || theirs !== names, 'two tokens have no item in common', subject);
    book.added.set(token, names);
  }
  if (answer.kind === 'closed') {
    demand(after !== undefined && after.status !== 'open', 'the answer closed means that it is not open', subject);
    if (answer.status !== 'expired') book.refused.add(token);
  }
  if (answer.kind === 'unknown')
    demand(asked.before === undefined || isDeleted(asked), 'the answer unknown means that it does not exist', subject);
};

export const checkSealed = (asked: Asked, answer: Sealed): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, answer, before, after };
  demand(
    (answer.kind === 'unknown') <= (before === undefined),
    'the answer unknown means that it does not exist',
    subject,
  );
  demand(
    answer.kind !== 'expired' || after?.status === 'expired',
    'the answer expired means that it is expired',
    subject,
  );
  if (answer.kind !== 'sealed') {
    demand(before?.status !== 'complete' || isDeleted(asked), 'the seal of a complete fan-out is not refused', subject);
    return;
  }
  demand(after !== undefined && after.status !== 'open', 'a sealed fan-out is not open', subject);
  const isComplete = after?.status === 'complete' || isDeleted(asked);
  demand(!answer.complete || isComplete, 'the answer complete means that it is complete', subject);
  const isDue = asked.wasSaid || before?.status === 'complete';
  demand(answer.complete || !isDue || isDeleted(asked), 'a repeated call gets the same answer', subject);
  if (answer.complete) book.saidTo.add('seal');
};

export const checkAcked = (asked: Asked, delivery: Delivery, answer: AckAnswer): void => {
  const { id, book, before, after, given } = asked;
  const subject = { id, items: delivery.items, answer, before, after };
  const unknown = new Set<string>(answer.unknown);
  for (const item of delivery.items) {
    const isUnknown = unknown.has(itemIdOf({ fanOut: id, ...item }));
    if (!book.has(item)) demand(isUnknown, 'an item that does not exist is answered as unknown', subject);
    const isKnown = book.groups[item.group]?.done.has(item.index);
    if (book.has(item) && !isUnknown) demand(isKnown === true, 'an acked item is stored', subject);
    if (book.has(item) && given.has(`${item.group}`))
      demand(!isUnknown || asked.mayGo, 'a returned item is not answered as unknown', subject);
  }
  const said = answer.fanOuts.find((each) => each.id === id)?.complete === true;
  demand(
    !said || after?.status === 'complete' || isDeleted(asked),
    'the answer complete means that it is complete',
    subject,
  );
  demand(
    unknown.size < delivery.items.length || !said,
    'a call with only unknown items is not answered as complete',
    subject,
  );
  const isAllDone = before?.status === 'complete' && before.ended?.because === 'all-done';
  const isHere = delivery.items.some((item) => book.has(item));
  const isDue = (isAllDone && isHere) || asked.wasSaid;
  // An ack of a failed item reads the header, but not if the item was corrected since.
  const isCorrected = delivery.items.some(({ group, index }) => book.groups[group]?.corrected.has(index));
  demand(said || !isDue || asked.mayGo || isCorrected, 'a repeated call gets the same answer', subject);
  if (said) book.saidTo.add(delivery);
};
