/** The published tables in a schedule. Each call goes through the gate of a process. */
import type { Millis } from '../../../src/domain/ids.ts';
import { type Gate, through } from '../../../src/virtual/gate.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';

/** @param now the process's clock */
export const simulatedTables = (store: Store, gate: Gate, now: () => Millis): Tables => ({
  insert: (task) => through(gate, 'tasks.put', () => store.insert(task)),
  acquire: (target, holder, expiry) =>
    through(gate, 'locks.acquire', () => store.acquire(target, holder, now(), expiry)),
  release: (target, holder) => through(gate, 'locks.release', () => store.release(target, holder)),
  waiting: (target) => through(gate, 'index.query', () => store.waiting(target)),
  poll: async (target) => store.waiting(target),
  read: (ids) => each(gate, 'tasks.get', ids, (id) => store.task(id)),
  putBatch: (batch) => through(gate, 'batches.put', () => store.putBatch(batch)),
  batch: (id) => through(gate, 'batches.get', () => store.batch(id)),
  claim: (ids, batch) =>
    gate(
      'tasks.claim',
      ids.map((id) => () => store.claim(id, batch)),
    ),
  start: async (ids, batch) => void (await each(gate, 'tasks.start', ids, (id) => store.start(id, batch))),
  finish: async (results, batch) =>
    void (await each(gate, 'tasks.finish', results, ({ id, outcome }) => store.finish(id, batch, outcome.status))),
  isOpen: (task, batch) => store.isOpen(task, batch),
});

/** Makes one request with a statement for each task, or no request if there are no tasks. */
const each = async <T, Answer>(
  gate: Gate,
  call: string,
  all: readonly T[],
  effect: (one: T) => Answer,
): Promise<Answer[]> =>
  all.length === 0
    ? []
    : gate(
        call,
        all.map((one) => () => effect(one)),
      );
