/** One or two nodes on a real table: the promises of `runFleet` to its caller. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import {
  type FleetEvent,
  type FleetOptions,
  InvalidFleetOptions,
  type Partition,
  PartitionDraining,
  PartitionLost,
  runFleet,
} from '../../src/fleet/run-fleet.ts';
import type { TableAt } from '../../src/fleet/table-at.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { type DynamoDBEngine, startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { startGuardedProxy } from '../../tools/local/guarded-proxy.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';
import { eventually } from '../end-to-end/flow.ts';
import { nodeOf, partition } from '../factories/fleets.ts';

let engine: DynamoDBEngine;
let table: TableAt;
let fleets = 0;
beforeAll(async () => {
  engine = await startDynamoDB({ port: 0 });
  table = await makeFleetTable(engine.endpoint, 'Fleet');
});
afterAll(() => engine?.stop());

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', resolve, { once: true });
  });

/** A node in a fleet of its own, unless a fleet is given. Its work waits until its signal aborts. */
const start = (options: Partial<FleetOptions> = {}) => {
  const events: FleetEvent[] = [];
  const stop = new AbortController();
  fleets += 1;
  const fleet = (options.fleet ?? `fleet-${fleets}`) as FleetName;
  const done = runFleet({
    fleet,
    table,
    partitions: 2,
    node: `node-${fleets}`,
    // Six cycles allow for delays on a busy machine.
    cycle: 400,
    stopOn: [],
    signal: stop.signal,
    onPartition: async ({ signal }) => void (await untilAborted(signal)),
    onEvent: (event) => events.push(event),
    ...options,
  });
  // The test that awaits `done` handles the rejection later.
  done.catch(() => {});
  const rows = () => fleetsAt(options.table === undefined ? table : (options.table as TableAt)).read(fleet);
  const owned = async (): Promise<number> => (await rows()).leases.filter(({ owner }) => owner !== undefined).length;
  const reported = (name: FleetEvent['event']) => events.filter(({ event }) => event === name);
  const checkpointOf = (id: string) => fleetsAt(table).checkpointOf(fleet, partition(id));
  return { fleet, done, stop: () => stop.abort(), events, reported, rows, owned, checkpointOf };
};

const rejection = async (promise: Promise<unknown>): Promise<Error> => {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'fulfilled') throw new Error('the promise did not fail');
  return outcome.reason;
};

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
      signal: 'SIGTERM' as unknown as AbortSignal,
      stopOn: ['SIGKILL'] as NodeJS.Signals[],
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
      'drainTimeout',
      'cycle',
      'maxBlocked',
    ]);
    for (const problem of error.problems) expect(error.message).toContain(problem);
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
