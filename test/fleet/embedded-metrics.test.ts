/** The metrics that a node writes. */
import { describe, expect, it } from 'vitest';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';
import type { NodeId } from '../../src/domain/fleets/ids.ts';
import { FLEET_METRICS } from '../../src/domain/fleets/metrics.ts';
import { unworkedOf } from '../../src/domain/fleets/unworked.ts';
import { lineOf, NodeMetrics } from '../../src/fleet/embedded-metrics.ts';
import { aFleet, aLease, aNode, FLEET, key, partition, shares } from './records.ts';
import { begun, P0 } from './working-thread.ts';

const IDLE = { finished: 0, stuck: 0, checkpointAge: undefined };
const event = (fields: object): FleetEvent => ({ fleet: FLEET, node: key('a'), ...fields }) as FleetEvent;
const acquired = (fence: number, fields = {}) =>
  event({ event: 'acquired', partition: partition(0), fence, ...fields });

describe('the metrics of a node', () => {
  it('count moves and evictions since the last line', () => {
    const metrics = new NodeMetrics();
    metrics.seen(3);
    for (const each of [acquired(1), acquired(2), acquired(7), acquired(8, { returned: true })]) metrics.count(each);
    metrics.count(event({ event: 'evicted-another', other: key('b') }));
    expect(metrics.take(IDLE)).toEqual({ PartitionsUnworked: 3, PartitionsMoved: 2, NodesEvicted: 1 });
    expect(metrics.take({ finished: 1, stuck: 2, checkpointAge: 500 })).toEqual({
      ...{ PartitionsUnworked: 3, HandlersFinished: 1, HandlersStuck: 2, CheckpointAge: 500 },
    });
  });

  it('begin with the first read, and say that all is worked', () => {
    const metrics = new NodeMetrics();
    expect(lineOf(metrics.take(IDLE), FLEET, 'a' as NodeId, 0)).toBeUndefined();
    metrics.seen(0);
    expect(metrics.take(IDLE)).toEqual({ PartitionsUnworked: 0 });
  });

  it("are a line in CloudWatch's embedded metric format", () => {
    const line = lineOf({ PartitionsUnworked: 2, CheckpointAge: 1_500 }, FLEET, 'a' as NodeId, 1_700_000_000_000);
    expect(JSON.parse(line ?? '')).toEqual({
      _aws: {
        Timestamp: 1_700_000_000_000,
        CloudWatchMetrics: [
          {
            Namespace: 'Groupage',
            Dimensions: [['fleet']],
            Metrics: [
              { Name: 'PartitionsUnworked', Unit: 'Count' },
              { Name: 'CheckpointAge', Unit: 'Milliseconds' },
            ],
          },
        ],
      },
      ...{ fleet: 'flights', node: 'a', PartitionsUnworked: 2, CheckpointAge: 1_500 },
    });
    expect(line).not.toContain('\n');
    expect(Object.keys(FLEET_METRICS)).toHaveLength(6);
  });

  it('count partitions: free, never owned, waiting for a restart', () => {
    const nodes = ['me', aNode('gone', { evicted: true }), aNode('back', { restarting: true, restartWithin: 60_000 })];
    const leases = [
      ...[aLease(0, { owner: 'me' }), aLease(1), aLease(2, { owner: 'gone' })],
      ...[aLease(3, { owner: 'back' }), aLease(9)],
    ];
    expect(unworkedOf(aFleet(nodes, leases), shares(5))).toBe(4);
  });
});

describe('the workload of a node', () => {
  it('has the age of the oldest checkpoint, from when this owner began', async () => {
    const thread = await begun(undefined, 'so far');
    await thread.pass(5_000);
    expect(thread.workers.workload).toEqual({ finished: 0, stuck: 0, checkpointAge: 5_000 });
    await thread.last.partition.checkpoint('further');
    await thread.pass(2_000);
    expect(thread.workers.workload.checkpointAge).toBe(2_000);
  });

  it('has no age without checkpoints; counts finished and stuck', async () => {
    const done = await begun(async () => {});
    expect(done.workers.workload).toEqual({ finished: 1, stuck: 0, checkpointAge: undefined });
    const hanging = Promise.withResolvers<void>();
    const stuck = await begun(() => hanging.promise);
    stuck.workers.drop(P0, 'taken');
    await stuck.pass(11_000);
    expect(stuck.workers.workload).toEqual({ finished: 0, stuck: 1, checkpointAge: undefined });
    hanging.resolve();
    await stuck.pass(0);
    expect(stuck.workers.workload.stuck).toBe(0);
  });
});
