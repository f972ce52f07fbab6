import { describe, expect, it } from 'vitest';
import { type QueuedMessage, SimulatedQueue } from '../../src/memory/queue.ts';
import { Chaos } from '../../src/virtual/chaos.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { START } from '../../src/virtual/trace.ts';

/** A queue that delivers everything twice in its first second, to a function that is done with it at once, or never. */
const doubling = (isDone: boolean) => {
  const scheduler = new Scheduler(START);
  const rates = { ...NO_FAULTS, duplicate: 1 };
  const chaos = new Chaos(scheduler, { seed: 1, rates, faultsEnd: START + 1_000 }, () => {});
  const received: QueuedMessage[] = [];
  const deleted: string[] = [];
  const queue = new SimulatedQueue(chaos, {
    name: 'group',
    visibility: 60_000,
    maxReceives: 3,
    batchSize: 1,
    consume: async (messages) => {
      received.push(...messages);
      return isDone ? messages : [];
    },
  });
  queue.onDelete = ({ id }) => deleted.push(id);
  const pass = () => scheduler.run(() => false, START + 3_600_000);
  return { queue, chaos, received, deleted, pass };
};

describe('a simulated queue', () => {
  it('delivers a message once more that was deleted meanwhile', async () => {
    const { queue, chaos, received, deleted, pass } = doubling(true);
    queue.send('{}');
    await pass();
    expect(received.map(({ id, receives }) => [id, receives])).toEqual([
      ['group-1', 1],
      ['group-1', 2],
    ]);
    expect(chaos.counts.duplicate).toBe(1);
    expect(deleted).toEqual(['group-1']);
    expect(queue.isEmpty).toBe(true);
  });

  it('counts no copy among its messages, nor among its dead letters', async () => {
    const { queue, received, deleted, pass } = doubling(false);
    queue.send('{}');
    await pass();
    // Three times the message, and twice the copy, which began with the message's first receipt.
    expect(received.length).toBe(5);
    expect([queue.messages.size, queue.deadLetters.size, deleted]).toEqual([1, 1, []]);
  });
});
