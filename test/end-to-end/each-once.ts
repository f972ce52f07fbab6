import { expect } from 'vitest';
import type { ReceivedCall } from '../factories/downstream.ts';

/** The invariants of any run: no task is lost, no task is in two batches, and no batch has two Targets. */
export const expectEachTaskInOneBatch = (calls: readonly ReceivedCall[], ids: readonly string[]): void => {
  const batchOf = new Map<string, string>();
  for (const { batchId, target, items } of calls)
    for (const { id, payload } of items) {
      expect(batchOf.get(id) ?? batchId).toBe(batchId);
      batchOf.set(id, batchId);
      expect(target.split('/depot=')[1]).toBe(payload.depot);
    }
  expect(new Set(batchOf.keys())).toEqual(new Set(ids));
};
