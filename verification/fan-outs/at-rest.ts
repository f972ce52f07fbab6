/** What must hold once nobody does anything any more, and all faults are over. */
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Book } from './ledger.ts';

export interface FanOutEvidence {
  readonly tables: Tables;
  readonly books: ReadonlyMap<string, Book>;
  readonly sentCallbacks: readonly CallbackMessage[];
  /** The destination that wants to know. */
  readonly callback: string | null;
}

/** @throws Violation */
export const checkFanOutsAtRest = ({ tables, books, sentCallbacks, callback }: FanOutEvidence): void => {
  for (const fanOut of tables.fanOuts.values()) {
    const { id, status, ended, total } = fanOut;
    const book = books.get(id) as Book;
    const tally = book.tally();
    demand(ended !== undefined, 'every fan-out ends', { fanOut, tally });
    demand(total === tally.items, 'all items are counted', { fanOut, tally });
    const reserved = [...tables.reservations].filter(([key]) => key.startsWith(`${id}#`));
    demand(reserved.reduce((sum, [, { count }]) => sum + count, 0) === total, 'each token is counted once', fanOut);
    for (const [key] of reserved)
      demand(!book.refused.has(key.slice(id.length + 1)), 'what is refused is not counted', { fanOut, key });
    checkNotified(sentCallbacks, fanOut, callback, status);
  }
  demand(tables.fanOutNodes.size === 0, 'nothing is left of what has ended', [...tables.fanOutNodes]);
};

/** Whoever wants to know is told how it ended, under one name and in the same words each time. */
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
  demand(different.size <= 1, 'there is one event, the same each time', subject);
  demand(isDeleted || different.size === (callback === null ? 0 : 1), 'whoever wants to know is told', subject);
  const type = `groupage.fan-out.${status === 'complete' || isDeleted ? 'completed' : 'expired'}`;
  demand(
    events.every(({ event }) => JSON.parse(event).type === type),
    'whoever is told is told what happened',
    subject,
  );
};
