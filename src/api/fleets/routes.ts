/** `/v1/fleets`: which there are, how one stands, drain a node, move a partition, give checkpoints rows of their own. */
import type { Hono } from 'hono';
import { type Fleet, isMember, type Lease, type Node } from '../../domain/fleets/fleet.ts';
import { type FleetName, fleetName, type NodeKey, type PartitionId } from '../../domain/fleets/ids.ts';
import { fleetView, nodeMeant, type PartitionView } from '../../domain/fleets/view.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { FLEET_CALLS } from './requests.ts';

type FleetDeps = Pick<ApiDeps, 'fleets'>;

/** As many as anybody looks through. */
const CANDIDATES_SHOWN = 20;

export const fleetRoutes = (deps: FleetDeps): Hono => {
  const { fleets } = deps;
  return serve(FLEET_CALLS, {
    listFleets: async ({ context }) => context.json({ fleets: await fleets.names() }),

    getFleet: async ({ context, part }) => {
      const { name, fleet } = await lookUp(deps, part('name'));
      return context.json(fleetView(name, fleet));
    },

    separateCheckpoints: async ({ context, part, body }) => {
      await body();
      const { name, fleet } = await lookUp(deps, part('name'));
      const older = fleet.nodes.filter(({ evicted, readsApart }) => !evicted && !readsApart).map(({ key }) => key);
      if (older.length > 0) throw tooOld(name, older);
      await fleets.separate(name);
      return context.json(fleetView(name, await fleets.read(name)));
    },

    getPartition: async ({ context, part }) => {
      const { name, fleet } = await lookUp(deps, part('name'));
      const lease = leaseOf(name, fleet, part('partition'));
      const checkpoint = lease.checkpointApart ? await fleets.checkpointOf(name, lease.partition) : lease.checkpoint;
      const view = partitionViewOf(name, fleet, lease.partition);
      return context.json({ ...view, ...(checkpoint === undefined ? {} : { checkpoint }) });
    },

    drainNode: async ({ context, part, body }) => {
      const { draining } = await body();
      const { name, fleet } = await lookUp(deps, part('name'));
      const node = livingNode(name, fleet, part('node'));
      if (!(await fleets.drain(name, node.key, draining))) throw noSuchNode(name, node.key, []);
      const after = await fleets.read(name);
      const view = fleetView(name, after).nodes.find((each) => each.node === node.key);
      if (!view) throw noSuchNode(name, node.key, []);
      const isLast = draining && !after.nodes.some(isMember);
      return context.json({ ...view, ...(isLast ? { warning: noNodeLeft(name) } : {}) });
    },

    movePartition: async ({ context, part, body }) => {
      const { to: wanted } = await body();
      const { name, fleet } = await lookUp(deps, part('name'));
      const lease = leaseOf(name, fleet, part('partition'));
      const to = wanted === null ? undefined : livingNode(name, fleet, wanted);
      if (to?.leaving) throw new HttpProblem(409, `node ${to.key} is about to leave: name another one`);
      if (!(await fleets.pin(name, lease.partition, to?.key))) throw noSuchPartition(name, lease.partition);
      const view = partitionViewOf(name, await fleets.read(name), lease.partition);
      return context.json({ ...view, ...(to?.draining ? { warning: isDraining(to.key) } : {}) });
    },
  });
};

/** @throws HttpProblem */
const leaseOf = (name: FleetName, { leases }: Fleet, text: string): Lease => {
  const lease = leases.find(({ partition }) => partition === text);
  if (!lease) throw noSuchPartition(name, text);
  return lease;
};

const partitionViewOf = (name: FleetName, fleet: Fleet, partition: PartitionId): PartitionView | undefined =>
  fleetView(name, fleet).partitions.find(({ id }) => id === partition);

const noSuchFleet = (text: string): HttpProblem =>
  new HttpProblem(
    404,
    `there is no fleet ${JSON.stringify(text.slice(0, 200))}: nobody has ever joined one of that name`,
  );

const noSuchPartition = (fleet: FleetName, text: string): HttpProblem =>
  new HttpProblem(
    404,
    `fleet ${fleet} has no partition ${JSON.stringify(text.slice(0, 200))}: one that no node has ever taken is not known here`,
  );

const noSuchNode = (fleet: FleetName, text: string, candidates: readonly NodeKey[]): HttpProblem => {
  const others = candidates.length === 0 ? 'no node is there' : `there are ${listed(candidates)}`;
  return new HttpProblem(404, `fleet ${fleet} has no node ${JSON.stringify(text.slice(0, 200))}: ${others}`);
};

const listed = (keys: readonly NodeKey[]): string => {
  const rest = keys.length - CANDIDATES_SHOWN;
  return `${keys.slice(0, CANDIDATES_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** A fleet that somebody has joined, though all may have left. @throws HttpProblem */
const lookUp = async ({ fleets }: FleetDeps, text: string): Promise<{ name: FleetName; fleet: Fleet }> => {
  const name = fleetName(text);
  if (name === undefined) throw noSuchFleet(text);
  const fleet = await fleets.read(name);
  const isEmpty = fleet.nodes.length === 0 && fleet.leases.length === 0;
  if (isEmpty && !(await fleets.names()).includes(name)) throw noSuchFleet(text);
  return { name, fleet };
};

/** The node that is meant, whose life is not over. @throws HttpProblem */
const livingNode = (name: FleetName, { nodes }: Fleet, text: string): Node => {
  const meant = nodeMeant(nodes, text);
  switch (meant.kind) {
    case 'one':
      if (meant.node.evicted)
        throw new HttpProblem(
          409,
          `node ${meant.node.key} was evicted: this life of it is over, the next has another key`,
        );
      return meant.node;
    case 'several':
      throw new HttpProblem(
        409,
        `fleet ${name} has several nodes ${text}: name one by its key, ${listed(meant.candidates)}`,
      );
    case 'none':
      throw noSuchNode(name, text, meant.candidates);
  }
};

const tooOld = (name: FleetName, older: readonly NodeKey[]): HttpProblem =>
  new HttpProblem(
    409,
    `fleet ${name} has nodes of a release that does not read checkpoints from rows of their own: replace ${listed(older)} first`,
  );

const noNodeLeft = (name: FleetName): string =>
  `no node of fleet ${name} takes partitions now: nobody works on them until another one joins, or one is no longer drained`;

const isDraining = (key: NodeKey): string => `node ${key} is draining: it gets the partition once it no longer is`;
