/** For the tests of the port of tasks: large payloads, and the fields of a batch that ends. */
import type { BatchId, Target } from '../../src/domain/ids.ts';
import { type NewTask, PAYLOAD_MAX_BYTES } from '../../src/domain/tasks/task.ts';
import type { FinishingBatch } from '../../src/ports/tasks.ts';
import { NOW } from '../factories/factories.ts';
import type { Stores } from './stores.ts';

export const finishing = (batch: BatchId, target: Target, fields: Partial<FinishingBatch> = {}): FinishingBatch => ({
  id: batch,
  target,
  attempts: 1,
  at: NOW,
  keep: 3_600_000,
  ...fields,
});

/** Too large for the row of a task. */
export const LARGE = `{"s":"${'ü'.repeat(PAYLOAD_MAX_BYTES / 2 - 10)}"}`;
/** Registers as the register function does: a payload that the stored row does not hold gets a row of its own. */
export const storing =
  (stores: () => Stores) =>
  async (...tasks: NewTask[]): Promise<void> => {
    const inserted = await stores().tasks.insert(tasks);
    await stores().tasks.storePayloads(
      tasks.filter((_, index) => inserted[index]?.stored.payloadApart).map((task) => ({ ...task, run: 1 })),
    );
  };
