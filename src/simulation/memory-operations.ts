/** Operation rows in memory. */
import type { OperationName } from '../batching/ids.ts';
import { NEW_OPERATION, type OperationState, turnOf, type WaitingTarget } from '../batching/slots.ts';
import type { Operations } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import type { Tables } from './tables.ts';

export const memoryOperations = (tables: Tables, gate: Gate): Operations => {
  const stored = (operation: OperationName): OperationState => tables.operations.get(operation) ?? NEW_OPERATION;
  const queueOf = (operation: OperationName): Map<string, WaitingTarget> => {
    const queue = tables.waitingTargets.get(operation) ?? new Map<string, WaitingTarget>();
    tables.waitingTargets.set(operation, queue);
    return queue;
  };
  /** A conditional write: `next` gives the row to write, or undefined where the condition fails. */
  const write = (
    call: string,
    operation: OperationName,
    next: (state: OperationState) => OperationState | undefined,
  ): Promise<boolean> =>
    through(gate, call, () => {
      const before = stored(operation);
      const after = next(before);
      if (after) tables.operations.set(operation, after);
      if (after) tables.watcher.operation?.(operation, before, after);
      return after !== undefined;
    });
  return {
    read: (operation) => through(gate, 'operations.read', () => stored(operation)),
    takeSlot: (operation, slot, total) =>
      write('operations.takeSlot', operation, (state) =>
        !state.paused && (state.inFlight.includes(slot) || state.inFlight.length < total)
          ? { ...state, inFlight: [...new Set([...state.inFlight, slot])] }
          : undefined,
      ),
    freeSlot: async (operation, slot) => {
      await write('operations.freeSlot', operation, (state) => ({
        ...state,
        inFlight: state.inFlight.filter((each) => each !== slot),
      }));
    },
    enqueue: (operation, waiting) =>
      through(gate, 'operations.enqueue', () => {
        queueOf(operation).set(turnOf(waiting), waiting);
        tables.watcher.waitingTarget?.(operation);
      }),
    waiting: (operation, limit) =>
      through(gate, 'operations.waiting', () =>
        [...queueOf(operation)]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, limit)
          .map(([, waiting]) => waiting),
      ),
    dequeue: (operation, waiting) =>
      through(gate, 'operations.dequeue', () => {
        const waited = queueOf(operation).delete(turnOf(waiting));
        tables.watcher.waitingTarget?.(operation);
        return waited;
      }),
    pause: (operation, pause) =>
      write('operations.pause', operation, (state) =>
        state.paused === undefined || (pause.by === 'person' && state.paused.id !== pause.id)
          ? { ...state, paused: pause }
          : undefined,
      ),
    resume: (operation, id) =>
      write('operations.resume', operation, ({ paused, ...state }) => (paused?.id === id ? state : undefined)),
    addFailure: (operation, by = 1) =>
      through(gate, 'operations.addFailure', () => {
        const before = stored(operation);
        const failures = before.failures + by;
        tables.operations.set(operation, { ...before, failures });
        return failures;
      }),
    markThrottled: async (operation, at) => {
      await write('operations.markThrottled', operation, (state) => ({ throttledSince: at, ...state }));
    },
    resetFailures: async (operation) => {
      await write('operations.resetFailures', operation, ({ throttledSince: _, ...state }) => ({
        ...state,
        failures: 0,
      }));
    },
    reserveCall: (operation, seen, next) =>
      write('operations.reserveCall', operation, (state) =>
        state.nextCallAt === seen ? { ...state, nextCallAt: next } : undefined,
      ),
  };
};
