/**
 * The rows of the table Fleet: the nodes and leases of a fleet share a partition, so that one query reads them. A
 * checkpoint with a row of its own is in a partition of its own.
 */

import { expiresAt } from '../domain/expiry.ts';
import type { Fleet, Lease, Node } from '../domain/fleets/fleet.ts';
import type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import { MINUTE } from '../domain/timings.ts';
import type { Opened } from '../ports/fleets.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

const LEASE = 'lease#';
const NODE = 'node#';

/** The partition with the names of all fleets. No fleet's name begins with `~`. */
export const NAMES = '~fleets';

/**
 * Marks a fleet whose checkpoints have rows of their own, which release 0.2.0 does not read. That release takes this
 * row for a node of an unknown version, so its workers refuse to work in the fleet instead of continuing from an old
 * checkpoint.
 */
const APART = `${NODE}~checkpoints-have-rows-of-their-own`;
const APART_VERSION = 2;

/**
 * How long a node's row is stored after the node's last heartbeat, by DynamoDB's clock. It is long enough for users to
 * see the row on the next day.
 */
const KEPT = 24 * 60 * MINUTE;

export const leaseKey = (fleet: FleetName, partition: PartitionId): Item => ({
  Fleet: fleet,
  Entry: `${LEASE}${partition}`,
});
export const nodeKeyOf = (fleet: FleetName, node: NodeKey): Item => ({ Fleet: fleet, Entry: `${NODE}${node}` });
/** The key of a checkpoint, in a partition of its own. No name contains `#` or begins with `~`. */
export const checkpointKey = (fleet: FleetName, partition: PartitionId): Item => ({
  Fleet: `~checkpoint#${fleet}#${partition}`,
  Entry: 'checkpoint',
});
export const apartRow = (fleet: FleetName): Item => ({ Fleet: fleet, Entry: APART, Version: APART_VERSION });
export const nameRow = (fleet: FleetName): Item => ({ Fleet: NAMES, Entry: fleet, Version: versionOf('fleet name') });

/**
 * The expiry of a node's row.
 *
 * @param beatAt time of its last heartbeat by the clock of DynamoDB, because DynamoDB deletes the row
 */
export const expiryOf = (beatAt: Millis): number => expiresAt(beatAt, KEPT);

const NODE_ROW: Attributes<Omit<Node, 'key'>> = {
  beat: 'Beat',
  ttl: 'Ttl',
  startedAt: 'StartedAt',
  beatAt: 'BeatAt',
  evicted: 'Evicted',
  leaving: 'Leaving',
  draining: 'Draining',
  readsApart: 'ReadsApart',
  restartWithin: 'RestartWithin',
  restarting: 'Restarting',
};

/** @param ahead by how much DynamoDB's clock is ahead of the node's */
export const nodeRow = (fleet: FleetName, { key, ...node }: Node, ahead: Millis): Item => ({
  ...nodeKeyOf(fleet, key),
  ...written(NODE_ROW, node),
  ExpiresAt: expiryOf(node.beatAt + ahead),
  Version: versionOf('fleet node'),
});

/** A fleet from all of its rows. @throws NewerRow */
export const fleetOf = (rows: readonly Item[]): Fleet => ({
  leases: rows.filter(({ Entry }) => (Entry as string).startsWith(LEASE)).map(leaseOf),
  nodes: rows.filter(({ Entry }) => (Entry as string).startsWith(NODE) && Entry !== APART).map(nodeOf),
  ...(rows.some(({ Entry }) => Entry === APART) ? { checkpointsApart: true } : {}),
});

const LEASE_ROW: Attributes<Omit<Lease, 'partition'>> = {
  fence: 'Fence',
  owner: 'Owner',
  next: 'Next',
  pin: 'Pin',
  since: 'Since',
  stored: 'CheckpointNo',
  checkpoint: 'Checkpoint',
  checkpointApart: 'CheckpointApart',
};

/** @throws NewerRow */
export const leaseOf = (stored: Item): Lease => {
  const row = readable('fleet lease', stored);
  return { partition: (row.Entry as string).slice(LEASE.length) as PartitionId, ...read(LEASE_ROW, row) };
};

/** @throws NewerRow */
export const openedOf = (stored: Item): Opened => {
  const { Checkpoint: checkpoint } = readable('fleet checkpoint', stored);
  return checkpoint === undefined ? {} : { checkpoint };
};

/** @throws NewerRow */
const nodeOf = (stored: Item): Node => {
  const row = readable('fleet node', stored);
  return { key: (row.Entry as string).slice(NODE.length) as NodeKey, ...read(NODE_ROW, row) };
};
