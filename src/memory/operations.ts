/** Operation rows in memory. */
import type { OperationName } from '../domain/ids.ts';
import { PAGE_SIZE } from '../domain/operations/slot-pages.ts';
import {
  LAST_FAILURE_MAX_BYTES,
  NEW_OPERATION,
  type OperationState,
  type Slot,
  turnOf,
  type WaitingTarget,
} from '../domain/operations/slots.ts';
import type { Operations } from '../ports/operations.ts';
import { cutToBytes } from '../util/utf8.ts';
import { type Gate, through } from '../virtual/gate.ts';
import { DYNAMODB, limited } from './limits.ts';
import { type Lag, upToDate } from './remembered.ts';
import { memorySlots, withoutSlot, withSlot } from './slots.ts';
import type { Tables } from './tables.ts';

/**
 * An operation's row with one more slot on its first page. Undefined if the operation is paused or the page is full.
 */
const withFirst = (state: OperationState, slot: Slot, most: number): OperationState | undefined => {
  const inFlight = state.paused ? undefined : withSlot(state.inFlight, slot, most);
  return inFlight && { ...state, inFlight };
};

export const memoryOperations = (tables: Tables, gate: Gate, lag: Lag = upToDate, pageSize = PAGE_SIZE): Operations => {
  const stored = (operation: OperationName): OperationState => tables.operations.get(operation) ?? NEW_OPERATION;
  const queueOf = (operation: OperationName): Map<string, WaitingTarget> => {
    const queue = tables.waitingTargets.get(operation) ?? limited(new Map<string, WaitingTarget>(), DYNAMODB.sortKey);
    tables.waitingTargets.set(operation, queue);
    return queue;
  };
  /** A conditional write. `next` returns the row to write, or undefined if the condition fails. */
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
  const slots = memorySlots<OperationName>('operation', tables, gate, lag, pageSize);
  return {
    ...slots,
    read: (operation) => through(gate, 'operations.read', () => stored(operation)),
    takeSlot: (operation, slot, most, page = 0) =>
      page > 0
        ? slots.takeSlot(operation, slot, most, page)
        : write('operations.takeSlot', operation, (state) => withFirst(state, slot, most)),
    takeOnlyPage: (operation, slot, most) =>
      write('operations.takeOnlyPage', operation, (state) =>
        state.largestCap === undefined ? withFirst(state, slot, most) : undefined,
      ),
    noteCap: async (operation, cap) => {
      await write('operations.noteCap', operation, (state) =>
        (state.largestCap ?? 0) < cap ? { ...state, largestCap: cap } : undefined,
      );
    },
    freeSlot: async (operation, slot, page = 0) => {
      if (page > 0) return slots.freeSlot(operation, slot, page);
      let before: readonly Slot[] = [];
      const isFreed = await write('operations.freeSlot', operation, (state) => {
        before = state.inFlight;
        const inFlight = withoutSlot(before, slot);
        return inFlight && { ...state, inFlight };
      });
      return isFreed ? before : undefined;
    },
    enqueue: (operation, waiting) =>
      through(gate, 'operations.enqueue', () => {
        queueOf(operation).set(turnOf(waiting), waiting);
        tables.watcher.waitingTarget?.(operation);
      }),
    waiting: (operation, limit, end = 'first') =>
      through(gate, 'operations.waiting', () =>
        [...queueOf(operation)]
          .sort(([a], [b]) => (a < b === (end === 'first') ? -1 : 1))
          .slice(0, limit)
          .map(([, waiting]) => waiting),
      ),
    isWaiting: (operation, waiting) =>
      through(gate, 'operations.isWaiting', () => queueOf(operation).has(turnOf(waiting))),
    dequeue: (operation, waiting, which = 'this') =>
      through(gate, 'operations.dequeue', () => {
        const stored = queueOf(operation).get(turnOf(waiting));
        if (which === 'this' && stored?.by !== waiting.by) return false;
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
    resume: (operation, id, at) =>
      write('operations.resume', operation, ({ paused, ...state }) =>
        paused?.id === id ? { ...state, resumedAt: at, resumedId: id } : undefined,
      ),
    addFailure: (operation, by = 1, reason) =>
      through(gate, 'operations.addFailure', () => {
        const before = stored(operation);
        const failures = before.failures + by;
        const last = reason === undefined ? {} : { lastFailure: cutToBytes(reason, LAST_FAILURE_MAX_BYTES) };
        tables.operations.set(operation, { ...before, failures, ...last });
        return { failures, recoveries: before.recoveries };
      }),
    markThrottled: async (operation, at) => {
      await write('operations.markThrottled', operation, (state) => ({ throttledSince: at, ...state }));
    },
    resetFailures: async (operation) => {
      await write('operations.resetFailures', operation, ({ throttledSince: _, lastFailure: __, ...state }) => ({
        ...state,
        failures: 0,
        recoveries: state.recoveries + 1,
      }));
    },
    noteAnswers: (operation, form) =>
      write('operations.noteAnswers', operation, (state) =>
        state.answers === form || state.answers === 'with-results' ? undefined : { ...state, answers: form },
      ),
    markWaking: (operation, seen, next) =>
      write('operations.markWaking', operation, ({ waking, ...state }) =>
        waking?.id === seen ? { ...state, ...(next ? { waking: next } : {}) } : undefined,
      ),
  };
};
