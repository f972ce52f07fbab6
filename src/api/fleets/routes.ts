/** `/v1/fleets`: list, get, drain a node, move a partition, move checkpoints to separate rows. */
import type { Hono } from 'hono';
import { type Fleet, isMember, type Lease, type Node } from '../../domain/fleets/fleet.ts';
import { type FleetName, fleetName, type NodeKey, type PartitionId } from '../../domain/fleets/ids.ts';
import { fleetView, nodeMeant, type PartitionView } from '../../domain/fleets/view.ts';
import type { CallDeps } from '../shared/audited.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { FLEET_CALLS } from './requests.ts';

type FleetDeps = Pick<ApiDeps, 'fleets'> & CallDeps;

/** Maximum number of nodes that an error message names. */
const CANDIDATES_SHOWN = 20;

export const fleetRoutes = (deps: FleetDeps): Hono => {
  const { fleets } = deps;
  return serve(deps, FLEET_CALLS, {
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
      if (to?.leaving) throw new HttpProblem(409, `node ${to.key} is shutting down: choose another node`);
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
    `there is no fleet ${JSON.stringify(text.slice(0, 200))}: no node has ever joined a fleet of that name`,
  );

const noSuchPartition = (fleet: FleetName, text: string): HttpProblem =>
  new HttpProblem(
    404,
    `fleet ${fleet} has no partition ${JSON.stringify(text.slice(0, 200))}: it is listed once a node has taken it`,
  );

const noSuchNode = (fleet: FleetName, text: string, candidates: readonly NodeKey[]): HttpProblem => {
  const others = candidates.length === 0 ? 'it has no nodes' : `its nodes are ${listed(candidates)}`;
  return new HttpProblem(404, `fleet ${fleet} has no node ${JSON.stringify(text.slice(0, 200))}: ${others}`);
};

const listed = (keys: readonly NodeKey[]): string => {
  const rest = keys.length - CANDIDATES_SHOWN;
  return `${keys.slice(0, CANDIDATES_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** Finds a fleet. A fleet exists if a node has ever joined it, even if all nodes have left. @throws HttpProblem */
const lookUp = async ({ fleets }: FleetDeps, text: string): Promise<{ name: FleetName; fleet: Fleet }> => {
  const name = fleetName(text);
  if (name === undefined) throw noSuchFleet(text);
  const fleet = await fleets.read(name);
  const isEmpty = fleet.nodes.length === 0 && fleet.leases.length === 0;
  if (isEmpty && !(await fleets.names()).includes(name)) throw noSuchFleet(text);
  return { name, fleet };
};

/** Finds the node with this key or id, unless the node was evicted. @throws HttpProblem */
const livingNode = (name: FleetName, { nodes }: Fleet, text: string): Node => {
  const meant = nodeMeant(nodes, text);
  switch (meant.kind) {
    case 'one':
      if (meant.node.evicted)
        throw new HttpProblem(
          409,
          `node ${meant.node.key} was evicted and cannot work again: after a restart the node has another key`,
        );
      return meant.node;
    case 'several':
      throw new HttpProblem(
        409,
        `fleet ${name} has several nodes with the id ${text}: use a key, ${listed(meant.candidates)}`,
      );
    case 'none':
      throw noSuchNode(name, text, meant.candidates);
  }
};

const tooOld = (name: FleetName, older: readonly NodeKey[]): HttpProblem =>
  new HttpProblem(
    409,
    `fleet ${name} has nodes of a release that cannot read checkpoints from separate rows: replace ${listed(older)} first`,
  );

const noNodeLeft = (name: FleetName): string =>
  `no node of fleet ${name} takes partitions now: they are not worked on until a node joins, or the draining of one ends`;

const isDraining = (key: NodeKey): string => `node ${key} is draining: it gets the partition when its draining ends`;
