/**
 * Promises that must hold when all clients are done and all faults are over: every list has ended, every triggered job
 * is done, no refused request had an effect, and no rows are left.
 */
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import { type ListId, listOf } from '../../src/domain/lists/ids.ts';
import type { List } from '../../src/domain/lists/list.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

export interface ListEvidence {
  readonly tables: Tables;
  readonly books: ReadonlyMap<ListId, Book>;
  readonly sentCallbacks: readonly CallbackMessage[];
  /** The number of register messages that were sent. */
  readonly messages: number;
  /** The destination of events; null if none is configured. */
  readonly callback: string | null;
}

/** @throws Violation */
export const checkListsAtRest = ({ tables, books, sentCallbacks, callback, messages }: ListEvidence): void => {
  const all = [...books.values()];
  const asks = all.reduce((sum, { wanted }) => sum + [...wanted.values()].flat().length, 0);
  const jobs = all.reduce((sum, book) => sum + book.jobs.length, 0);
  for (const list of tables.fanOuts.values() as IterableIterator<List>) {
    const { id: tracker, status, ended, total, head } = list;
    const id = listOf(tracker);
    const book = books.get(id) as Book;
    demand(ended !== undefined, 'every list ends', { list });
    demand(book.jobs.length === total, 'the total counts all added jobs', { list });
    const leased = book.count(({ place }) => place === 'leased' || place === 'free');
    const handedOut = book.count(({ place }) => place === 'triggered' || place === 'gone');
    demand(total === total - head + leased + handedOut, 'every job is fresh, leased or handed out', {
      list,
      leased,
      handedOut,
    });
    demand(
      status !== 'complete' || book.jobs.every(({ done }) => done !== undefined),
      'all jobs of a complete list are done',
      list,
    );
    // The remaining jobs of a deleted list need not be done.
    if (status !== 'expired')
      demand(
        book.jobs.every(({ place, done }) => place !== 'triggered' || done !== undefined),
        'every triggered job is done',
        {
          list,
          open: book.jobs.flatMap(({ place, done }, token) =>
            place === 'triggered' && done === undefined ? [token] : [],
          ),
        },
      );
    for (const token of book.refused)
      demand(
        !book.appended.has(token) && !book.taken.has(token.replace('trigger ', '')),
        'a refused token has no effect',
        { list, token },
      );
    checkNotified(sentCallbacks, list, id, callback);
  }
  demand(messages <= 10 * (asks + jobs), 'messages that arrive twice do not multiply', { messages, asks, jobs });
  demand(tables.fanOutNodes.size === 0, 'an ended tracker leaves no rows', [...tables.fanOutNodes]);
  for (const name of ['listAppends', 'listSegments', 'listJobs', 'listTriggers', 'listClaims', 'listResults'] as const)
    demand(tables[name].size === 0, 'an ended list leaves no rows', { name, rows: [...tables[name]] });
};

/**
 * The event of a complete list is sent if a destination is configured. If it is sent several times, its id and content
 * are the same.
 */
const checkNotified = (
  sentCallbacks: readonly CallbackMessage[],
  list: List,
  id: ListId,
  callback: string | null,
): void => {
  const events = sentCallbacks.filter(({ event }) => JSON.parse(event).subject === id);
  const different = new Set(events.map(({ to, event }) => `${to} ${event}`));
  const subject = { list, events: [...different] };
  demand(different.size <= 1, 'all copies of the event are equal', subject);
  const isOver = list.status === 'cancelled';
  demand(!isOver || different.size === 0, 'a cancelled list sends no event', subject);
  if (list.status === 'complete')
    demand(different.size === (callback === null ? 0 : 1), 'the event is sent if a destination is configured', subject);
};
