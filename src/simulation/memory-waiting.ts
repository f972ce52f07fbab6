/** Waiting rows in memory. */
import type { Target } from '../batching/ids.ts';
import { type Waiting, waitingRow } from '../batching/policy.ts';
import type { WaitingTasks } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import { pageOf, type Tables } from './tables.ts';

export const memoryWaiting = (tables: Tables, gate: Gate): WaitingTasks => ({
  put: async (tasks) => {
    await gate(
      'waiting.put',
      tasks.map((task) => () => {
        const row = waitingRow(task);
        if (!tables.waiting.has(task.target)) tables.waiting.set(task.target, new Map());
        tables.waiting.get(task.target)?.set(row.entry, row);
      }),
    );
  },
  first: (target, limit) => through(gate, 'waiting.first', () => firstRows(tables, target, limit)),
  page: (target, limit, cursor) =>
    through(gate, 'waiting.page', () => pageOf(firstRows(tables, target, Number.POSITIVE_INFINITY), limit, cursor)),
  remove: async (target, entries) => {
    await gate(
      'waiting.remove',
      entries.map((entry) => () => {
        const row = tables.waiting.get(target)?.get(entry);
        if (!row) return;
        tables.waiting.get(target)?.delete(entry);
        tables.watcher.rowDeleted?.(target, row);
      }),
    );
  },
  count: (target, limit) =>
    through(gate, 'waiting.count', () => Math.min(limit, tables.waiting.get(target)?.size ?? 0)),
});

/** The rows of a Target by turn. */
export const firstRows = (tables: Tables, target: Target, limit: number): Waiting[] =>
  [...(tables.waiting.get(target)?.values() ?? [])]
    .sort((a, b) => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : 0))
    .slice(0, limit);
