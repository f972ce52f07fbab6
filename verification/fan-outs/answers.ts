/** What producers and consumers are answered must be so, at that moment and later. */

import { type FanOutId, itemIdOf } from '../../src/domain/fan-out-ids.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { AckAnswer } from '../../src/steps/fan-outs/ack-items.ts';
import type { Added } from '../../src/steps/fan-outs/add-items.ts';
import type { Sealed } from '../../src/steps/fan-outs/complete.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';
import type { Delivery } from './scenario.ts';

/** One fan-out as somebody found it who asked: before he did, and when he was answered. */
export interface Asked {
  readonly id: FanOutId;
  readonly book: Book;
  readonly before: FanOut | undefined;
  readonly after: FanOut | undefined;
  /** Groups that had been given out before. */
  readonly given: ReadonlySet<string>;
  /** Whether the same call had been answered with `complete` before. */
  readonly wasSaid: boolean;
  /** Whether its rows may be on their way out. */
  readonly mayGo: boolean;
}

/** Whether one that is complete has been kept for so long that its rows go, by the clock that is fastest. */
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
      'items that are given out are counted',
      subject,
    );
    demand(
      groups.reduce((sum, { size }) => sum + size, 0) === count,
      'as many are given out as are asked for',
      subject,
    );
    const names = groups.map(({ n }) => n).join();
    demand((book.added.get(token) ?? names) === names, 'a token stands for the same items each time', subject);
    for (const [other, theirs] of book.added)
      demand(other === token || theirs !== names, 'two tokens have no item in common', subject);
    book.added.set(token, names);
  }
  if (answer.kind === 'closed') {
    demand(after !== undefined && after.status !== 'open', 'only what is not open is closed', subject);
    if (answer.status !== 'expired') book.refused.add(token);
  }
  if (answer.kind === 'unknown')
    demand(asked.before === undefined || isDeleted(asked), 'what is known is not unknown', subject);
};

export const checkSealed = (asked: Asked, answer: Sealed): void => {
  const { book, before, after } = asked;
  const subject = { id: asked.id, answer, before, after };
  demand((answer.kind === 'unknown') <= (before === undefined), 'what is known is not unknown', subject);
  demand(answer.kind !== 'expired' || after?.status === 'expired', 'what is expired is so', subject);
  if (answer.kind !== 'sealed') {
    demand(before?.status !== 'complete' || isDeleted(asked), 'what is complete stays so', subject);
    return;
  }
  demand(after !== undefined && after.status !== 'open', 'what is sealed is not open', subject);
  const isComplete = after?.status === 'complete' || isDeleted(asked);
  demand(!answer.complete || isComplete, 'only what is complete is said to be', subject);
  const isDue = asked.wasSaid || before?.status === 'complete';
  demand(answer.complete || !isDue || isDeleted(asked), 'who repeats a call gets its answer again', subject);
  if (answer.complete) book.saidTo.add('seal');
};

export const checkAcked = (asked: Asked, delivery: Delivery, answer: AckAnswer): void => {
  const { id, book, before, after, given } = asked;
  const subject = { id, items: delivery.items, answer, before, after };
  const unknown = new Set<string>(answer.unknown);
  for (const item of delivery.items) {
    const isUnknown = unknown.has(itemIdOf({ fanOut: id, ...item }));
    if (!book.has(item)) demand(isUnknown, 'what is no item is unknown', subject);
    const isKnown = book.groups[item.group]?.done.has(item.index);
    if (book.has(item) && !isUnknown) demand(isKnown === true, 'what is acked is done', subject);
    if (book.has(item) && given.has(`${item.group}`))
      demand(!isUnknown || asked.mayGo, 'what was given out is known', subject);
  }
  const said = answer.fanOuts.find((each) => each.id === id)?.complete === true;
  demand(!said || after?.status === 'complete' || isDeleted(asked), 'only what is complete is said to be', subject);
  demand(unknown.size < delivery.items.length || !said, 'nothing is said of what is unknown', subject);
  const isAllDone = before?.status === 'complete' && before.ended?.because === 'all-done';
  const isHere = delivery.items.some((item) => book.has(item));
  const isDue = (isAllDone && isHere) || asked.wasSaid;
  demand(said || !isDue || asked.mayGo, 'who repeats a call gets its answer again', subject);
  if (said) book.saidTo.add(delivery);
};
