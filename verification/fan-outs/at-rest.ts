/**
 * Promises that must hold when all clients are done and all faults are over: every fan-out has ended, its items were
 * counted once, its event was sent once, and its rows are deleted.
 */
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import { parseItemId } from '../../src/domain/fan-out-ids.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

export interface FanOutEvidence {
  readonly tables: Tables;
  readonly books: ReadonlyMap<string, Book>;
  readonly sentCallbacks: readonly CallbackMessage[];
  /** The destination of events; null if none is configured. */
  readonly callback: string | null;
}

/** @throws Violation */
export const checkFanOutsAtRest = ({ tables, books, sentCallbacks, callback }: FanOutEvidence): void => {
  for (const fanOut of tables.fanOuts.values()) {
    const { id, status, ended, total } = fanOut;
    const book = books.get(id) as Book;
    const tally = book.tally();
    demand(ended !== undefined, 'every fan-out ends', { fanOut, tally });
    demand(total === tally.items, 'the total counts all added items', { fanOut, tally });
    const reserved = [...tables.reservations].filter(([key]) => key.startsWith(`${id}#`));
    demand(
      reserved.reduce((sum, [, { count }]) => sum + count, 0) === total,
      "each token's items are counted once",
      fanOut,
    );
    for (const [key] of reserved)
      demand(!book.refused.has(key.slice(id.length + 1)), 'the items of a refused token are not counted', {
        fanOut,
        key,
      });
    const ends = sentCallbacks.filter(({ event }) => /\.(completed|expired)$/.test(JSON.parse(event).type));
    checkNotified(ends, fanOut, callback, status);
    checkNotices(sentCallbacks, fanOut, callback, book);
  }
  demand(tables.fanOutNodes.size === 0, 'an ended fan-out leaves no rows', [...tables.fanOutNodes]);
};

/** The event is sent if a destination is configured. If it is sent several times, its id and content are the same. */
const checkNotified = (
  sentCallbacks: readonly CallbackMessage[],
  fanOut: FanOut,
  callback: string | null,
  status: FanOut['status'],
): void => {
  const events = sentCallbacks.filter(({ event }) => JSON.parse(event).subject === fanOut.id);
  const different = new Set(events.map(({ to, event }) => `${to} ${event}`));
  const subject = { fanOut, events: [...different] };
  const isDeleted = fanOut.ended?.because === 'deleted';
  demand(different.size <= 1, 'all copies of the event are equal', subject);
  demand(
    isDeleted || different.size === (callback === null ? 0 : 1),
    'the event is sent if a destination is configured',
    subject,
  );
  const type = `groupage.fan-out.${status === 'complete' || isDeleted ? 'completed' : 'expired'}`;
  demand(
    events.every(({ event }) => JSON.parse(event).type === type),
    "the event's type matches the end",
    subject,
  );
};

/** T12, T13. Each notice is sent if a destination is configured, and only with one content. */
const checkNotices = (
  sentCallbacks: readonly CallbackMessage[],
  fanOut: FanOut,
  callback: string | null,
  book: Book,
): void => {
  const { id, ended, firstFailure, allSucceededAt, notifyFirstFailure } = fanOut;
  const copies = (notice: string): ReadonlySet<string> =>
    new Set(
      sentCallbacks
        .filter(({ event }) => JSON.parse(event).subject === id && JSON.parse(event).type.endsWith(`.${notice}`))
        .map(({ to, event }) => `${to} ${event}`),
    );
  const isDeleted = ended?.because === 'deleted';
  for (const [notice, noted] of [
    ['first-failure', firstFailure],
    ['all-succeeded', allSucceededAt],
  ] as const) {
    const different = copies(notice);
    const subject = { fanOut, events: [...different] };
    demand(different.size <= 1, 'all copies of a notice are equal', subject);
    demand(different.size === 0 || noted !== undefined, 'only a noted event is sent', subject);
    const isDue = noted !== undefined && callback !== null && !isDeleted;
    demand(!isDue || different.size === 1, 'a noted event is sent', subject);
  }
  const item = firstFailure && parseItemId(firstFailure.item);
  const group = item && book.groups[item.group];
  const hasFailed = item && (group?.done.get(item.index) === false || group?.corrected.has(item.index));
  demand(!item || (notifyFirstFailure === true && hasFailed === true), 'the first failure is a failed item', fanOut);
  const isClean = ended?.because === 'all-done' && ended.failed > 0 && book.tally().failed === 0;
  demand(!isClean || allSucceededAt !== undefined, 'the redrive of the last failed item is noted', fanOut);
};
