/**
 * Fleets through the stack's API, which shows the nodes in the stack's table, drains them and moves their partitions.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { nodeId } from '../../src/domain/fleets/ids.ts';
import type { FleetView, NodeView, PartitionView } from '../../src/domain/fleets/view.ts';
import { Belonging } from '../../src/fleet/belonging.ts';
import { fleet, partition } from '../factories/fleets.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { ask } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('burst');
});
afterAll(() => flow.stop());

/** Part of the fleet's name, so that every run uses a new fleet: a fleet's name is never removed. */
const run = Date.now().toString(36);
const NAME = fleet(`fleet-${run}`);
const IDS = Array.from({ length: 6 }, (_, n) => partition(`p-${n}`));
const SETTING = {
  fleet: NAME,
  shares: IDS.map((id) => ({ partition: id, weight: 1 })),
  // Long enough that a busy machine does not make a node look dead.
  cycle: 2_000,
  maxBlocked: 600_000,
  restartWithin: 0,
  notice: 4_000,
  leaveWithin: 60_000,
};

/** Starts a node whose work on a partition ends as soon as the node asks for it. */
const start = (name: string) => {
  const { clients, settings } = flow.backend;
  const id = nodeId(name);
  if (id === undefined) throw new Error(`${name} is no id`);
  const node = new Belonging(
    {
      fleets: dynamoDBFleets(clients.dynamodb, setting(settings, 'fleetTable')),
      clock: { now: () => performance.now(), wall: Date.now, sleep: (span) => setTimeout(span), random: Math.random },
      work: {
        begin: () => {},
        drain: (held) => void node.drained(held),
        drop: () => {},
        mayUntil: () => {},
        silentFor: () => 0,
      },
      report: () => {},
      id,
      epoch: () => `${run}${performance.now().toString(36).replace(/\W/g, '').slice(-6)}`,
      onLife: () => {},
    },
    SETTING,
  );
  return { node, done: node.run() };
};

const look = async (): Promise<FleetView> => (await ask(flow, 'GET', `/fleets/${NAME}`)) as unknown as FleetView;
const counts = ({ nodes }: FleetView): Record<string, number> =>
  Object.fromEntries(nodes.map(({ id, partitions }) => [id, partitions]));
/** Waits until every partition is owned and each node has the expected number of them. */
const settled = (expected: Record<string, number>): Promise<FleetView> =>
  eventually(async () => {
    const view = await look();
    // Before the first node has joined, the API answers 404 without partitions.
    const isDone = view.partitions?.length === IDS.length && view.partitions.every(({ status }) => status === 'owned');
    return isDone && JSON.stringify(counts(view)) === JSON.stringify(expected) ? view : undefined;
  });
const drain = (node: string, draining: boolean) =>
  ask(flow, 'POST', `/fleets/${NAME}/nodes/${encodeURIComponent(node)}/drain`, { draining });
const move = (id: string, to: string | null) => ask(flow, 'POST', `/fleets/${NAME}/partitions/${id}/move`, { to });

it('fleet nodes share partitions, are drained, get moved partitions, and leave', async () => {
  expect(await ask(flow, 'GET', `/fleets/${NAME}`)).toMatchObject({ code: 404 });
  const nodes = [start('a'), start('b')];
  const shared = await settled({ a: 3, b: 3 }).catch(async (cause) => {
    throw new Error(`${cause}: ${JSON.stringify(await look())}`);
  });
  expect((await ask(flow, 'GET', '/fleets')).fleets).toContain(NAME);
  expect(shared.nodes.map(({ status }) => status)).toEqual(['working', 'working']);

  const [a] = shared.nodes as [NodeView, NodeView];
  expect(await drain('a', true)).toMatchObject({ code: 200, node: a.node, status: 'draining' });
  const drained = await settled({ a: 0, b: 6 });
  expect(drained.nodes[0]).toMatchObject({ node: a.node, status: 'draining' });
  expect(await drain(a.node, false)).toMatchObject({ code: 200, status: 'working' });
  const again = await settled({ a: 3, b: 3 });

  const { id: theirs } = again.partitions.find(({ owner }) => owner !== a.node) as PartitionView;
  expect(await move(theirs, 'a')).toMatchObject({ code: 200, id: theirs, pin: a.node });
  const moved = await eventually(async () => {
    const view = await settled({ a: 3, b: 3 });
    return view.partitions.find(({ id }) => id === theirs)?.owner === a.node ? view : undefined;
  });
  expect(moved.partitions.find(({ id }) => id === theirs)).toMatchObject({ status: 'owned', pin: a.node });
  expect(await move(theirs, null)).not.toHaveProperty('pin');
  expect(await move(theirs, 'nobody')).toMatchObject({ code: 404, detail: expect.stringContaining(a.node) });

  for (const { node } of nodes) node.leave();
  await Promise.all(nodes.map(({ done }) => done));
  const left = await look();
  expect(left.nodes).toEqual([]);
  expect(left.partitions.map(({ id, status, owner }) => [id, status, owner])).toEqual(
    IDS.map((id) => [id, 'free', undefined]),
  );
});
