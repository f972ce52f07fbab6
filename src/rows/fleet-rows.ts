/** The rows of fleets: keys, and what is in them. */

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

/** The partition of the fleets' names: no fleet's name begins so. */
export const NAMES = '~fleets';

/**
 * A row of a fleet whose checkpoints have rows of their own. 0.2.0, which does not read those, takes it for the row of a node in a
 * version that it does not know: its workers refuse to work in the fleet, and say so, instead of beginning from an old checkpoint.
 */
const APART = `${NODE}~checkpoints-have-rows-of-their-own`;
const APART_VERSION = 2;

/** Long enough to be seen the day after. A node that beats is never that old, by DynamoDB's clock. */
const KEPT = 24 * 60 * MINUTE;

export const leaseKey = (fleet: FleetName, partition: PartitionId): Item => ({
  Fleet: fleet,
  Entry: `${LEASE}${partition}`,
});
export const nodeKeyOf = (fleet: FleetName, node: NodeKey): Item => ({ Fleet: fleet, Entry: `${NODE}${node}` });
/** A partition of the table for each: `#` is in no name, and `~` begins none. */
export const checkpointKey = (fleet: FleetName, partition: PartitionId): Item => ({
  Fleet: `~checkpoint#${fleet}#${partition}`,
  Entry: 'checkpoint',
});
export const apartRow = (fleet: FleetName): Item => ({ Fleet: fleet, Entry: APART, Version: APART_VERSION });
export const nameRow = (fleet: FleetName): Item => ({ Fleet: NAMES, Entry: fleet, Version: versionOf('fleet name') });

/** When the row of a node goes that beat last at that moment. @param beatAt by DynamoDB's clock, which deletes it */
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
};

/** @param ahead how far DynamoDB's clock is ahead of the node's */
export const nodeRow = (fleet: FleetName, { key, ...node }: Node, ahead: Millis): Item => ({
  ...nodeKeyOf(fleet, key),
  ...written(NODE_ROW, node),
  ExpiresAt: expiryOf(node.beatAt + ahead),
  Version: versionOf('fleet node'),
});

/** All rows of a fleet. @throws NewerRow */
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
