/** Processed keys in memory. */
import type { ProcessedKeys } from '../ports.ts';
import { type Gate, rowByRow, through } from './gate.ts';
import { limited } from './limits.ts';
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
    // A long key is stored as its digest.
    const rows = tables.processed.get(target) ?? limited(new Map(), Number.POSITIVE_INFINITY);
    tables.processed.set(target, rows);
    await rowByRow(
      gate,
      'processed.remember',
      processed,
      ({ key }) => key,
      ({ key, marks }) => rows.set(key, { marks, until: at + keep }),
    );
  },
});
