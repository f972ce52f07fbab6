/** The audit trail in memory. */
import type { Entry } from '../domain/audit/entry.ts';
import type { Millis } from '../domain/ids.ts';
import type { Audit } from '../ports/audit.ts';
import { InvalidCursor } from '../ports/rows.ts';
import { type Gate, openGate, through } from '../virtual/gate.ts';

/** @param keep how long entries are stored, in milliseconds */
export const memoryAudit = (keep: Millis, gate: Gate = openGate): Audit => {
  const entries = new Map<string, Entry>();
  const keyOf = ({ at, id }: Pick<Entry, 'at' | 'id'>): string => `${new Date(at).toISOString()}#${id}`;
  return {
    begin: (entry) =>
      through(gate, 'audit.begin', () => {
        entries.set(keyOf(entry), entry);
      }),
    end: (key, status) =>
      through(gate, 'audit.end', () => {
        const entry = entries.get(keyOf(key));
        if (entry) entries.set(keyOf(key), { ...entry, status });
      }),
    page: ({ day = '', limit, cursor, now }) =>
      through(gate, 'audit.page', () => {
        if (cursor !== undefined && !(PLACE.test(cursor) && cursor.startsWith(day))) throw new InvalidCursor();
        const listed = [...entries]
          .filter(([key, { at }]) => key.startsWith(day) && at > now - keep && (cursor === undefined || key < cursor))
          .sort(([one], [other]) => (one < other ? 1 : -1));
        const shown = listed.slice(0, limit);
        const last = listed.length > limit ? shown.at(-1)?.[0] : undefined;
        return { items: shown.map(([, entry]) => entry), ...(last === undefined ? {} : { cursor: last }) };
      }),
  };
};

const PLACE = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z#./;
