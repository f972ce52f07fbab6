/** What must hold once nobody does anything any more, and all faults are over. */
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
  /** Register messages that were sent. */
  readonly messages: number;
  /** The destination that wants to know. */
  readonly callback: string | null;
}

/** @throws Violation */
export const checkListsAtRest = ({ tables, books, sentCallbacks, callback, messages }: ListEvidence): void => {
  const all = [...books.values()];
  const asks = all.reduce((sum, { wanted }) => sum + [...wanted.values()].flat().length, 0);
  const jobs = all.reduce((sum, book) => sum + book.jobs.length, 0);
  for (const list of tables.fanOuts.values() as IterableIterator<List>) {
    const { id: tracker, status, ended, total, head, leases } = list;
    const id = listOf(tracker);
    const book = books.get(id) as Book;
    demand(ended !== undefined, 'every list ends', { list });
    demand(book.jobs.length === total, 'all jobs are counted', { list });
    const leased = leases.reduce((sum, lease) => sum + lease.count, 0);
    const handedOut = book.count(({ place }) => place === 'triggered' || place === 'gone');
    demand(total === total - head + leased + handedOut, 'every job is somewhere', { list, leased, handedOut });
    demand(
      status !== 'complete' || book.jobs.every(({ done }) => done !== undefined),
      'what is complete is done',
      list,
    );
    // Of a list that was deleted nobody waits for the rest.
    if (status !== 'expired')
      demand(
        book.jobs.every(({ place, done }) => place !== 'triggered' || done !== undefined),
        'what was triggered is done',
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
        'what is refused is not done',
        { list, token },
      );
    checkNotified(sentCallbacks, list, id, callback);
  }
  demand(messages <= 10 * (asks + jobs), 'what comes twice does not multiply', { messages, asks, jobs });
  demand(tables.fanOutNodes.size === 0, 'nothing is left of a tracker that has ended', [...tables.fanOutNodes]);
  for (const name of ['listAppends', 'listSegments', 'listJobs', 'listTriggers', 'listResults'] as const)
    demand(tables[name].size === 0, 'nothing is left of a list that has ended', { name, rows: [...tables[name]] });
};

/** Whoever wants to know is told that it is complete, under one name and in the same words each time. */
const checkNotified = (
  sentCallbacks: readonly CallbackMessage[],
  list: List,
  id: ListId,
  callback: string | null,
): void => {
  const events = sentCallbacks.filter(({ event }) => JSON.parse(event).subject === id);
  const different = new Set(events.map(({ to, event }) => `${to} ${event}`));
  const subject = { list, events: [...different] };
  demand(different.size <= 1, 'there is one event, the same each time', subject);
  const isOver = list.status === 'cancelled';
  demand(!isOver || different.size === 0, 'whoever cancels a list is not told of it', subject);
  if (list.status === 'complete')
    demand(different.size === (callback === null ? 0 : 1), 'whoever wants to know is told', subject);
};
