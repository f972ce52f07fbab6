/** Processes that end and start again under their names, on a real table (P13, P14). */
import { describe, expect, it } from 'vitest';
import { nodeIdOf } from '../../src/domain/fleets/ids.ts';
import { NodeNameTaken } from '../../src/fleet/run-fleet.ts';
import { eventually } from '../end-to-end/flow.ts';
import { rejection, start, useTable } from './node-on-table.ts';

useTable();

const KEPT = { partitions: 6, restartWithin: 4_000 } as const;

/** The partitions of each node, by its name. */
const owners = async (node: ReturnType<typeof start>): Promise<Record<string, string[]>> => {
  const { leases } = await node.rows();
  return Object.fromEntries(
    Object.entries(Object.groupBy(leases, ({ owner }) => (owner === undefined ? 'none' : nodeIdOf(owner)))).map(
      ([name, own = []]) => [name, own.map(({ partition }) => partition)],
    ),
  );
};

const isShared = async (node: ReturnType<typeof start>): Promise<boolean> => {
  const all = await owners(node);
  return all.one?.length === 3 && all.two?.length === 3;
};

describe.concurrent('a node whose name is kept', () => {
  it('gets exactly its partitions back, and nothing else moves', async () => {
    const one = start({ ...KEPT, node: 'one' });
    const two = start({ ...KEPT, node: 'two', fleet: one.fleet });
    await eventually(() => isShared(one));
    const before = await owners(one);
    two.stop();
    await two.done;
    expect(two.reported('restarting')).toMatchObject([{ within: 4_000 }]);
    expect(await owners(one)).toEqual(before);
    const again = start({ ...KEPT, node: 'two', fleet: one.fleet });
    await eventually(async () => again.reported('acquired').length === 3);
    expect(await owners(one)).toEqual(before);
    expect(one.reported('handed-over').length + one.reported('asked').length).toBe(0);
    const { nodes } = await one.rows();
    expect(nodes.filter(({ restarting }) => restarting).length).toBeLessThanOrEqual(1);
    one.stop();
    again.stop();
    await Promise.all([one.done, again.done]);
  });

  it('loses its partitions if it does not come back in time', async () => {
    const one = start({ ...KEPT, restartWithin: 2_400, node: 'one' });
    const two = start({ ...KEPT, restartWithin: 2_400, node: 'two', fleet: one.fleet });
    await eventually(() => isShared(one));
    two.stop();
    await two.done;
    await eventually(async () => (await owners(one)).one?.length === 6);
    one.stop();
    await one.done;
  });

  it('refuses a second process with its name, which works on nothing', async () => {
    const one = start({ ...KEPT, node: 'one' });
    await eventually(async () => (await owners(one)).one?.length === 6);
    const second = start({ ...KEPT, node: 'one', fleet: one.fleet });
    const error = await rejection(second.done);
    expect(error).toBeInstanceOf(NodeNameTaken);
    expect(error.message).toMatch(
      /^the node name one of fleet \S+ belongs to another live process \(one@\S+, started at/,
    );
    expect(second.reported('acquired')).toEqual([]);
    await eventually(async () => (await one.rows()).nodes.length === 1);
    expect((await owners(one)).one).toHaveLength(6);
    one.stop();
    await one.done;
  });
});
