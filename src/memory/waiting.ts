/** Waiting rows in memory. */

import { type Waiting, waitingRow } from '../domain/batches/policy.ts';
import type { Millis, Target } from '../domain/ids.ts';
import type { WaitingTasks } from '../ports/waiting.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { SortedRows } from './ordered.ts';
import { behind, type Lag, upToDate } from './remembered.ts';
import { pageOf, type Tables } from './tables.ts';

export const memoryWaiting = (tables: Tables, gate: Gate, lag: Lag = upToDate): WaitingTasks => ({
  put: async (tasks) => {
    const rows = tasks.map((task) => ({ target: task.target, row: waitingRow(task) }));
    await rowByRow(
      gate,
      'waiting.put',
      rows,
      ({ target, row }) => `${target} ${row.entry}`,
      ({ target, row }) => {
        if (!tables.waiting.has(target)) tables.waiting.set(target, tables.newRows());
        tables.waiting.get(target)?.set(row.entry, row);
      },
    );
  },
  first: (target, limit) => through(gate, 'waiting.first', () => firstRows(rowsOf(tables, target), limit)),
  has: (target, entry) => through(gate, 'waiting.has', () => rowsOf(tables, target).has(entry)),
  page: (target, limit, cursor) =>
    through(gate, 'waiting.page', () =>
      pageOf(
        // For the first page, one row beyond the limit shows that another page follows.
        firstRows(rowsOf(tables, target, lag()), cursor === undefined ? limit + 1 : Number.POSITIVE_INFINITY),
        limit,
        cursor,
      ),
    ),
  remove: async (target, entries) => {
    await rowByRow(gate, 'waiting.remove', entries, String, (entry) => {
      const row = tables.waiting.get(target)?.get(entry);
      if (!row) return;
      tables.waiting.get(target)?.delete(entry);
      tables.watcher.rowDeleted?.(target, row);
    });
  },
  count: (target, limit) => through(gate, 'waiting.count', () => Math.min(limit, rowsOf(tables, target, lag()).size)),
});

/** The waiting rows of a Target, as they were `lag` ms ago. */
export const rowsOf = (tables: Tables, target: Target, lag: Millis = 0): ReadonlyMap<string, Waiting> =>
  behind(tables.waiting.get(target) ?? new Map<string, Waiting>(), lag);

/** The first waiting rows, ordered by `entry`. */
export const firstRows = (rows: ReadonlyMap<string, Waiting>, limit: number): Waiting[] =>
  rows instanceof SortedRows
    ? rows.first(limit)
    : [...rows.values()].sort((a, b) => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : 0)).slice(0, limit);
