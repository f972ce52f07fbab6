/** Responses of `/fleets`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { NodeView, PartitionView } from '../../domain/fleets/view.ts';
import { describeCalls, list, moment, number, onlyTrue, text, whole, word } from '../shared/answer-schemas.ts';
import { FLEET_CALLS } from './requests.ts';

const node = {
  node: text('The key of the node, `id@epoch`, which identifies one life of the node.'),
  id: text('The id of the node.'),
  status: word<NodeView['status']>('Status of the node', {
    working: 'takes partitions',
    draining: 'gives its partitions away at the request of a user',
    leaving: 'is shutting down',
    restarting: 'has stopped; its partitions wait for the next process with its name (`restartWithin`)',
    evicted: 'missed its heartbeats, so other nodes took its partitions; this key cannot work again',
  }),
  beat: whole('Number of heartbeats that the node has sent.'),
  ttlSeconds: number('Number of seconds without a heartbeat after which other nodes evict the node.'),
  startedAt: moment('When the node started, by its own clock.'),
  lastBeatAt: moment('When the node sent its last heartbeat, by its own clock.'),
  partitions: whole('Number of partitions that the node owns.'),
};
const partition = {
  id: text('The id of the partition.'),
  status: word<PartitionView['status']>('Status of the partition', {
    owned: 'its owner works on it',
    asked: 'its owner works on it until it hands it over to `next`',
    free: 'no node works on it',
  }),
  owner: z.optional(text('The node that works on the partition.')),
  lastOwner: z.optional(text('The previous owner, if the partition is free because that node was evicted or left.')),
  next: z.optional(text('The node that gets the partition next.')),
  pin: z.optional(text('The node to which a user moved the partition.')),
  since: z.optional(moment('When the owner took the partition, by the clock of the owner.')),
  fence: whole('The fence number of the partition, which grows with each owner.'),
};
const warning = z.optional(text('Why the request has no effect yet.'));

const NODE = z.object(node).check(z.meta({ id: 'FleetNode', description: 'A node of a fleet.' }));
const PARTITION = z
  .object(partition)
  .check(z.meta({ id: 'FleetPartition', description: 'A share of the work of a fleet.' }));

export const FLEETS = z
  .object({ fleets: list(z.string(), 'The names of the fleets.') })
  .check(z.meta({ id: 'FleetList' }));
const FLEET = z
  .object({
    id: text('The name of the fleet.'),
    nodes: list(NODE, 'The nodes of the fleet.'),
    partitions: list(PARTITION, 'The partitions that a node has ever taken.'),
    checkpointsApart: z.optional(
      onlyTrue('Checkpoints are in separate rows, or move there when their partition changes its owner.'),
    ),
  })
  .check(z.meta({ id: 'Fleet', description: 'Workers that share partitions.' }));
export const PARTITION_IN_FULL = z
  .object({ ...partition, checkpoint: z.optional(text('The checkpoint, as its owner wrote it.')) })
  .check(z.meta({ id: 'PartitionWithCheckpoint' }));
export const NODE_DRAINED = z.object({ ...node, warning }).check(z.meta({ id: 'NodeDrained' }));
export const PARTITION_MOVED = z.object({ ...partition, warning }).check(z.meta({ id: 'PartitionMoved' }));

export type Fleet = z.infer<typeof FLEET>;
export type FleetNode = z.infer<typeof NODE>;
export type FleetPartition = z.infer<typeof PARTITION>;
export type NodeDrained = z.infer<typeof NODE_DRAINED>;
export type PartitionInFull = z.infer<typeof PARTITION_IN_FULL>;
export type PartitionMoved = z.infer<typeof PARTITION_MOVED>;

const NONE = 'No node has ever joined a fleet of that name';

export const FLEETS_DESCRIBED = describeCalls(FLEET_CALLS, {
  listFleets: {
    summary: 'Lists fleets',
    answers: {
      200: { description: 'All fleets that a node has ever joined.', schema: FLEETS, example: { fleets: ['flights'] } },
    },
  },
  getFleet: {
    summary: 'Gets a fleet',
    answers: { 200: { description: 'The nodes and partitions of the fleet.', schema: FLEET } },
    problems: { 404: `${NONE}.` },
  },
  separateCheckpoints: {
    summary: 'Moves checkpoints to separate rows',
    description:
      'Each checkpoint moves when its partition changes its owner. Call this for a fleet that workers of 0.2.0 started, after the last of them has stopped: such workers refuse to join afterwards. A repeat changes nothing.',
    answers: { 200: { description: 'The fleet.', schema: FLEET } },
    problems: { 404: `${NONE}.`, 409: 'The fleet has nodes that cannot read checkpoints from separate rows.' },
  },
  getPartition: {
    summary: 'Gets a partition and its checkpoint',
    answers: { 200: { description: 'The partition.', schema: PARTITION_IN_FULL } },
    problems: { 404: `${NONE}, or it has no such partition.` },
  },
  drainNode: {
    summary: 'Drains a node, or ends its draining',
    description: 'It lasts until the node ends; a restarted node works again. A repeat changes nothing.',
    example: { draining: true },
    answers: { 200: { description: 'The node.', schema: NODE_DRAINED } },
    problems: { 404: `${NONE}, or it has no such node.`, 409: 'Several nodes have this id, or the node was evicted.' },
  },
  movePartition: {
    summary: 'Moves a partition to a node, or balances it again',
    description: 'A repeat changes nothing.',
    example: { to: 'worker-1' },
    answers: { 200: { description: 'The partition.', schema: PARTITION_MOVED } },
    problems: {
      404: `${NONE}, or it has no such partition or node.`,
      409: 'Several nodes have this id, or the node was evicted or is shutting down.',
    },
  },
});
