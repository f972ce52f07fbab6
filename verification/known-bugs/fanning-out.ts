/** Bugs of those who ack the items that tasks are. */

import type { Batches } from '../../src/ports/batches.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { Queues } from '../../src/ports/queues.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Bug } from './bug.ts';

/** Who crashes after the callbacks leaves initiators who know more than the fan-out does. */
export const callbacksGoFirst: Bug = {
  handleBatch: (deps, message, delivery) => {
    let held: (() => Promise<unknown>)[] = [];
    const ack: FanOuts['ack'] = async (id, position, slots) => {
      held.push(() => deps.fanOuts.ack(id, position, slots));
      return { isWritten: true, node: { left: 1, failed: 0, seenAt: slots.at } };
    };
    const release = async (): Promise<void> => {
      const acks = held;
      held = [];
      for (const each of acks) await each();
    };
    const callbacks: Queues['callbacks'] = async (messages) => {
      await deps.queues.callbacks(messages);
      await release();
    };
    const finish: Batches['finish'] = async (id, attempt, end) => {
      await release();
      return deps.batches.finish(id, attempt, end);
    };
    const changed = {
      fanOuts: { ...deps.fanOuts, ack },
      queues: { ...deps.queues, callbacks },
      batches: { ...deps.batches, finish },
    };
    return handleBatch({ ...deps, ...changed }, message, delivery);
  },
};

/** Whoever takes a batch over believes that the items of those that have ended were acked. */
export const repeatedBatchesAckNothing: Bug = {
  handleBatch: (deps, message, delivery) => {
    const members: Tasks['members'] = async (ids, batch) => {
      const found = await deps.tasks.members(ids, batch);
      return { ...found, ended: found.ended.map(({ fanOutItem: _, ...member }) => member) };
    };
    return handleBatch({ ...deps, tasks: { ...deps.tasks, members } }, message, delivery);
  },
};
