/**
 * The rows of the table Audit. A partition has the entries of one month in UTC: a page begins with the newest entries of
 * a month, and looks into few partitions even if years pass between two entries. The sort key begins with the time.
 */
import type { Entry, EntryKey } from '../domain/audit/entry.ts';
import { expiresAt } from '../domain/expiry.ts';
import type { Millis } from '../domain/ids.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

/** `2026-11` of a time or a day. */
export const monthOf = (time: Millis | string): string =>
  (typeof time === 'string' ? time : new Date(time).toISOString()).slice(0, 'yyyy-mm'.length);

/** The months from one to another, which is not later. */
export const monthsBack = (from: string, to: string): string[] => {
  const months: string[] = [];
  for (let [year, month] = from.split('-').map(Number) as [number, number]; ; month -= 1) {
    if (month === 0) [year, month] = [year - 1, 12];
    const name = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`;
    if (name < to) return months;
    months.push(name);
  }
};

export const entryKey = ({ at, id }: EntryKey): Item => ({
  Month: monthOf(at),
  Entry: `${new Date(at).toISOString()}#${id}`,
});

const ENTRY: Attributes<Omit<Entry, 'status'>> = {
  at: 'At',
  id: 'EntryId',
  action: 'Action',
  subject: 'Subject',
  actor: 'Actor',
  reason: 'Reason',
};

/** @param keep how long the entry is stored, in milliseconds */
export const entryItem = (entry: Entry, keep: Millis): Item => ({
  ...entryKey(entry),
  ...written(ENTRY, entry),
  ExpiresAt: expiresAt(entry.at, keep),
  Version: versionOf('audit entry'),
});

/** @throws NewerRow */
export const entryOf = (stored: Item): Entry => {
  const row = readable('audit entry', stored);
  return { ...read(ENTRY, row), ...(row.Outcome === undefined ? {} : { status: row.Outcome as number }) };
};
