/** Processed keys in memory. */
import type { ProcessedKeys } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import type { Tables } from './tables.ts';

export const memoryProcessed = (tables: Tables, gate: Gate): ProcessedKeys => ({
  known: (target, keys, now) =>
    through(gate, 'processed.known', () => {
      const rows = tables.processed.get(target);
      return new Map(
        keys.flatMap((key) => {
          const row = rows?.get(key);
          return row && row.until > now ? [[key, row.marks] as const] : [];
        }),
      );
    }),
  remember: async (target, processed, at, keep) => {
    const rows = tables.processed.get(target) ?? new Map();
    tables.processed.set(target, rows);
    await gate(
      'processed.remember',
      processed.map(
        ({ key, marks }) =>
          () =>
            rows.set(key, { marks, until: at + keep }),
      ),
    );
  },
});
