/** One or two nodes on a real table: failures that end `runFleet` or stop its work. */
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { type Partition, PartitionLost } from '../../src/fleet/run-fleet.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { startGuardedProxy } from '../../tools/local/guarded-proxy.ts';
import { eventually } from '../end-to-end/flow.ts';
import { engine, rejection, start, table, untilAborted, useTable } from './node-on-table.ts';

useTable();

describe('a failure', () => {
  it('of a listener ends all work, also on partitions that just arrive', async () => {
    const lost: AbortSignal[] = [];
    const node = start({
      partitions: 20,
      cycle: 200,
      onPartition: async (partition) => void lost.push(partition.lost),
      onEvent: ({ event }) => {
        // Blocked, so that all messages of the other thread arrive at once.
        if (event === 'joined') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
        if (event === 'finished') throw new Error('of the listener');
      },
    });
    expect((await rejection(node.done)).message).toBe('of the listener');
    expect(lost.map(({ aborted }) => aborted)).toEqual(lost.map(() => true));
  });

  it.for(['joined', 'finished', 'work-failed'] as const)(
    "of a listener at `%s` ends runFleet with the listener's error",
    async (at) => {
      const lost: AbortSignal[] = [];
      const node = start({
        onPartition: async (partition) => {
          lost.push(partition.lost);
          if (at === 'work-failed') throw new Error('of the work');
        },
        onEvent: ({ event }) => {
          if (event === at) throw new Error('of the listener');
        },
      });
      expect((await rejection(node.done)).message).toBe('of the listener');
      for (const { aborted } of lost) expect(aborted).toBe(true);
    },
  );

  it('of the heartbeat thread ends all work on partitions', async () => {
    const threads: Worker[] = [];
    const seen = (thread: Worker): number => threads.push(thread);
    process.on('worker', seen);
    const partitions: Partition[] = [];
    const node = start({
      onPartition: async (partition) => {
        partitions.push(partition);
        await untilAborted(partition.signal);
      },
    });
    await eventually(() => partitions.length === 2);
    process.off('worker', seen);
    expect(threads).toHaveLength(1);
    await threads[0]?.terminate();
    expect((await rejection(node.done)).name).toBe('HeartbeatsStopped');
    for (const { signal, assertOwned } of partitions) {
      expect(signal.reason).toMatchObject({ name: 'PartitionLost', reason: 'deadline' });
      expect(assertOwned).toThrow(PartitionLost);
    }
  });

  it('of the table beyond the deadline stops the work, which resumes afterwards', async () => {
    let door = await startGuardedProxy(0, engine.endpoint);
    try {
      const calls: Partition[] = [];
      const node = start({
        table: { ...table, endpoint: door.endpoint },
        onPartition: async (partition) => {
          calls.push(partition);
          while (!partition.signal.aborted) {
            partition.assertOwned();
            await setTimeout(5);
          }
        },
      });
      await eventually(() => calls.length === 2);
      const [before] = (await fleetsAt(table).read(node.fleet)).nodes;
      await door.stop();
      await eventually(() => calls.every(({ lost }) => lost.aborted));
      for (const { lost, assertOwned } of calls) {
        expect(lost.reason).toMatchObject({ reason: 'deadline' });
        expect(assertOwned).toThrow(PartitionLost);
      }
      expect(calls).toHaveLength(2);
      door = await startGuardedProxy(Number(new URL(door.endpoint).port), engine.endpoint);
      await eventually(() => calls.length === 4);
      expect(calls.map(({ id, fence }) => `${id}/${fence}`).sort()).toEqual(['0/1', '0/1', '1/1', '1/1']);
      expect(node.reported('acquired')).toHaveLength(2);
      expect(node.reported('store-failed').length).toBeGreaterThan(0);
      expect(node.reported('work-failed')).toEqual([]);
      expect((await fleetsAt(table).read(node.fleet)).nodes.map(({ key }) => key)).toEqual([before?.key]);
      node.stop();
      await node.done;
    } finally {
      await door.stop();
    }
  });
});
