/** One or two nodes on a real table: what `runFleet` refuses, and how a node ends. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type FleetOptions, InvalidFleetOptions, PartitionDraining, runFleet } from '../../src/fleet/run-fleet.ts';
import { eventually } from '../end-to-end/flow.ts';
import { rejection, start, table, untilAborted, useTable } from './node-on-table.ts';

useTable();

describe('runFleet', () => {
  it('reports every problem of its options', async () => {
    const wrong = {
      fleet: 'no spaces',
      table: '',
      node: '',
      partitions: ['a', 'a', { id: 'b', weight: 0.5 }, { id: '~', weight: 1 }],
      onPartition: undefined as unknown as FleetOptions['onPartition'],
      drainTimeout: -1,
      cycle: 100,
      maxBlocked: 999,
      restartWithin: 500,
      signal: 'SIGTERM' as unknown as AbortSignal,
      stopOn: ['SIGKILL'] as NodeJS.Signals[],
      whenFinished: 'stop' as 'keep',
    };
    const error = (await rejection(runFleet(wrong))) as InvalidFleetOptions;
    expect(error).toBeInstanceOf(InvalidFleetOptions);
    expect(error.problems.map((problem) => problem.split(' ')[0])).toEqual([
      'fleet',
      'node',
      'partitions[1]',
      'partitions[2].weight',
      'partitions[3]',
      'onPartition',
      'signal',
      'stopOn',
      'table',
      'whenFinished',
      'drainTimeout',
      'cycle',
      'restartWithin',
      'maxBlocked',
    ]);
    for (const problem of error.problems) expect(error.message).toContain(problem);
  });

  it('refuses to keep the partitions of a node without a name', async () => {
    const options = { fleet: 'f', table, onPartition: async () => {}, partitions: 1, restartWithin: 60_000 };
    expect(await rejection(runFleet(options))).toMatchObject({
      problems: ['restartWithin needs a node name that the next process has too'],
    });
  });

  it.for([0, 4_097, 1.5, [], null, '3', [null]])('refuses %j as partitions (case %#)', async (partitions) => {
    const options = { fleet: 'f', table, onPartition: async () => {}, partitions: partitions as number };
    expect(await rejection(runFleet(options))).toBeInstanceOf(InvalidFleetOptions);
  });

  it('reports a missing table at once', async () => {
    const error = await rejection(start({ table: { ...table, table: 'Nowhere' } }).done);
    expect(error).toMatchObject({ name: 'FleetTableUnreadable', table: 'Nowhere' });
    expect(error.message).toMatch(/Nowhere.*ResourceNotFoundException/);
  });

  it("reports a table that it may not read at once, with DynamoDB's message", async () => {
    const answer = JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized to perform Query' });
    const server = createServer((_, outgoing) => void outgoing.writeHead(400).end(answer));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await rejection(start({ table: { ...table, endpoint } }).done);
    expect(error.message).toMatch(/Fleet .*AccessDeniedException: not authorized to perform Query/);
    server.close();
  });
});

describe.concurrent('a node that ends', () => {
  it('because its signal aborts has given all away and is gone', async () => {
    const reasons: unknown[] = [];
    const node = start({
      onPartition: async (partition) => {
        await untilAborted(partition.signal);
        reasons.push(partition.signal.reason, partition.lost.aborted);
        // The work may still continue, and store a checkpoint.
        partition.assertOwned();
        await partition.checkpoint(`the end of ${partition.id}`);
      },
    });
    await eventually(async () => (await node.owned()) === 2);
    node.stop();
    await node.done;
    expect(reasons).toEqual([expect.any(PartitionDraining), false, expect.any(PartitionDraining), false]);
    expect(await node.rows()).toEqual({
      nodes: [],
      leases: ['0', '1'].map((partition) => ({ partition, fence: 1, checkpointApart: true })),
      checkpointsApart: true,
    });
    for (const id of ['0', '1']) expect(await node.checkpointOf(id)).toBe(`the end of ${id}`);
    expect(node.reported('handed-over')).toHaveLength(2);
    expect(node.events.at(-1)?.event).toBe('left');
  });

  it('because its signal was aborted before it began never joins', async () => {
    const node = start({ signal: AbortSignal.abort() });
    await node.done;
    expect(await node.rows()).toEqual({ nodes: [], leases: [] });
    expect(node.events, 'the node does not even join').toEqual([]);
  });

  it('after two signals in a moment handles them as one', async () => {
    const node = start({ stopOn: ['SIGUSR2'] });
    await eventually(async () => (await node.owned()) === 2);
    process.emit('SIGUSR2');
    expect(process.listenerCount('SIGUSR2'), 'without a listener the signal would end the process').toBe(1);
    process.emit('SIGUSR2');
    await node.done;
    expect(node.reported('handed-over')).toHaveLength(2);
    expect(process.listenerCount('SIGUSR2')).toBe(0);
  });

  it.for([0, 600])('gives up work that ignores its signals, after %i ms', async (drainTimeout) => {
    const lost: unknown[] = [];
    let begun = 0;
    const stubborn = Promise.withResolvers<void>();
    const node = start({
      drainTimeout,
      // Two cycles remain for giving the partitions away, however busy the machine is.
      cycle: 3_000,
      onPartition: async (partition) => {
        partition.lost.addEventListener('abort', () => lost.push(partition.lost.reason));
        begun += 1;
        await stubborn.promise;
      },
    });
    await eventually(async () => begun === 2);
    node.stop();
    await node.done;
    expect(lost).toHaveLength(2);
    for (const reason of lost) expect(reason).toMatchObject({ name: 'PartitionLost', reason: 'drain-timeout' });
    // Other nodes need not wait until they may evict this one.
    expect(await node.rows()).toEqual({
      nodes: [],
      leases: ['0', '1'].map((partition) => ({ partition, fence: 1, checkpointApart: true })),
      checkpointsApart: true,
    });
    stubborn.resolve();
  });
});
