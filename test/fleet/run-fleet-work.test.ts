/** One or two nodes on a real table: how `runFleet` calls the work on a partition. */
import { describe, expect, it } from 'vitest';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { type Partition, PartitionDraining, PartitionLost } from '../../src/fleet/run-fleet.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { eventually } from '../end-to-end/flow.ts';
import { nodeOf } from '../factories/fleets.ts';
import { start, table, untilAborted, useTable } from './node-on-table.ts';

useTable();

describe.concurrent('the work on a partition', () => {
  it('is called again after an error, with pauses, from its checkpoint', async () => {
    const froms: unknown[] = [];
    const calls: Partition[] = [];
    const node = start({
      partitions: 1,
      onPartition: async (partition) => {
        froms.push(partition.from);
        calls.push(partition);
        if (calls.length === 1) await partition.checkpoint('so far');
        if (calls.length <= 2) throw new Error(`for the ${calls.length}. time`);
        await untilAborted(partition.signal);
      },
    });
    await eventually(() => calls.length === 3);
    expect(froms).toEqual([undefined, 'so far', 'so far']);
    expect(node.reported('work-failed')).toMatchObject([
      { partition: '0', fence: 1, pause: 1_000, cause: new Error('for the 1. time') },
      { partition: '0', fence: 1, pause: 2_000, cause: new Error('for the 2. time') },
    ]);
    // Work that an earlier call has left running must not continue beside the next call.
    expect(() => calls[0]?.assertOwned()).toThrow(/has ended/);
    expect(() => calls[2]?.assertOwned()).not.toThrow();
    node.stop();
    await node.done;
  });

  it('that returns keeps its partition, and is not called again', async () => {
    let calls = 0;
    const node = start({
      onPartition: async () => {
        calls += 1;
      },
    });
    await eventually(() => node.reported('finished').length === 2);
    const beats = async () => (await node.rows()).nodes[0]?.beat ?? 0;
    const before = await beats();
    await eventually(async () => (await beats()) > before + 3);
    expect(calls).toBe(2);
    expect(await node.owned()).toBe(2);
    node.stop();
    await node.done;
    expect((await node.rows()).nodes).toEqual([]);
  });

  it('whose checkpoint is too large gets an error, and goes on', async () => {
    const refused = Promise.withResolvers<unknown>();
    const node = start({
      partitions: 1,
      onPartition: async (partition) => {
        // The limit counts bytes, not characters.
        await partition.checkpoint('ö'.repeat(2_049)).catch(refused.resolve);
        await partition.checkpoint('ö'.repeat(2_048));
        await untilAborted(partition.signal);
      },
    });
    expect(await refused.promise).toMatchObject({ name: 'CheckpointTooLarge', message: expect.stringMatching(/4098/) });
    await eventually(async () => (await node.checkpointOf('0'))?.length === 2_048);
    node.stop();
    await node.done;
    expect(node.reported('work-failed')).toEqual([]);
  });

  it('goes over to a second node when it has ended, with its checkpoint', async () => {
    const reasons: unknown[] = [];
    const first = start({
      partitions: 4,
      onPartition: async (partition) => {
        await untilAborted(partition.signal);
        reasons.push(partition.signal.reason);
        await partition.checkpoint('from the first');
      },
    });
    await eventually(async () => (await first.owned()) === 4);
    const froms: unknown[] = [];
    const second = start({
      fleet: first.fleet,
      partitions: 4,
      onPartition: async ({ from, fence, signal }) => {
        froms.push([fence, from]);
        await untilAborted(signal);
      },
    });
    await eventually(() => froms.length === 2);
    expect(reasons).toEqual([expect.any(PartitionDraining), expect.any(PartitionDraining)]);
    expect(froms).toEqual([
      [2, 'from the first'],
      [2, 'from the first'],
    ]);
    second.stop();
    await second.done;
    first.stop();
    await first.done;
  });

  it('learns from a refused checkpoint that another node has it', async () => {
    const caught = Promise.withResolvers<PartitionLost>();
    let fleet = '' as FleetName;
    const node = start({
      partitions: 1,
      onPartition: async (partition) => {
        if (partition.fence > 1) return;
        const fleets = fleetsAt(table);
        const [lease] = (await fleets.read(fleet)).leases;
        if (!lease?.owner) throw new Error('the partition has no owner');
        // A node that breaks the rules.
        const intruder = { ...lease, owner: nodeOf('intruder'), fence: 2 };
        await fleets.handOver(fleet, { ...lease, owner: lease.owner }, intruder.owner, 0);
        await fleets.open(fleet, intruder);
        await partition.checkpoint('too late').catch(caught.resolve);
        expect(() => partition.assertOwned()).toThrow(PartitionLost);
        expect(partition.signal.reason).toBeInstanceOf(PartitionLost);
      },
    });
    fleet = node.fleet;
    expect(await caught.promise).toMatchObject({ name: 'PartitionLost', reason: 'taken', partition: '0' });
    // The intruder is not a node, so the partition is taken again, under another fence.
    await eventually(() => node.reported('acquired').length === 2);
    expect(await node.checkpointOf('0')).toBeUndefined();
    expect(node.reported('work-failed')).toEqual([]);
    node.stop();
    await node.done;
  });
});
