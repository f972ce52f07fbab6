import { describe, expect, it } from 'vitest';
import { type QueuedMessage, SimulatedQueue } from '../../src/memory/queue.ts';
import { Chaos } from '../../src/virtual/chaos.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { START } from '../../src/virtual/trace.ts';

/** A queue that delivers each message of its first second twice, to a function that always or never succeeds. */
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
  it('delivers a duplicate of a message that was deleted meanwhile', async () => {
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

  it('does not count a copy among its messages or dead letters', async () => {
    const { queue, received, deleted, pass } = doubling(false);
    queue.send('{}');
    await pass();
    // Three receives of the message, and two of the copy, whose count began after the message's first receive.
    expect(received.length).toBe(5);
    expect([queue.messages.size, queue.deadLetters.size, deleted]).toEqual([1, 1, []]);
  });
});
