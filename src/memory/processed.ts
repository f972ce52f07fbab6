/** Processed keys in memory. */
import type { ProcessedKeys } from '../ports/processed.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { limited } from './limits.ts';
import type { Tables } from './tables.ts';

export const memoryProcessed = (tables: Tables, gate: Gate): ProcessedKeys => ({
  known: (target, keys, now) =>
    through(gate, 'processed.known', () => {
      const rows = tables.processed.get(target);
      return new Map(
        keys.flatMap((key) => {
          const { until = 0, ...known } = rows?.get(key) ?? { marks: [] };
          return until > now ? [[key, known] as const] : [];
        }),
      );
    }),
  remember: async (target, processed, at, keep) => {
    // The adapter stores a long key as a hash, so keys have no limit here.
    const rows = tables.processed.get(target) ?? limited(new Map(), Number.POSITIVE_INFINITY);
    tables.processed.set(target, rows);
    await rowByRow(
      gate,
      'processed.remember',
      processed,
      ({ key }) => key,
      ({ key, ...known }) => rows.set(key, { ...known, until: at + keep }),
    );
  },
});
