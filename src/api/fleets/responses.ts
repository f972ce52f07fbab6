/** Responses of `/fleets`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { NodeView, PartitionView } from '../../domain/fleets/view.ts';
import { describeCalls, list, moment, number, onlyTrue, text, whole, word } from '../shared/answer-schemas.ts';
import { FLEET_CALLS } from './requests.ts';

const node = {
  node: text('Its key, `id@epoch`: one life of it.'),
  id: text('Its id.'),
  status: word<NodeView['status']>('How it stands', {
    working: 'it takes partitions',
    draining: 'somebody wants it to have none',
    leaving: 'it is about to go',
    evicted: 'others took it for dead: this life of it is over',
  }),
  beat: whole('Counts its heartbeats.'),
  ttlSeconds: number('Without a beat for so long it is taken for dead.'),
  startedAt: moment('By its own clock.'),
  lastBeatAt: moment('By its own clock.'),
  partitions: whole('How many are its own.'),
};
const partition = {
  id: text('Its id.'),
  status: word<PartitionView['status']>('How it stands', {
    owned: 'its owner works on it',
    asked: 'likewise, until it has given it to `next`',
    free: 'nobody works on it',
  }),
  owner: z.optional(text('Who works on it.')),
  lastOwner: z.optional(text('Who did, while it is free because that one is gone.')),
  next: z.optional(text('Who gets it.')),
  pin: z.optional(text('Where people want it.')),
  since: z.optional(moment("It became its owner's then, by that one's clock.")),
  fence: whole('Numbers its owners.'),
};
const warning = z.optional(text('What stands in the way of what was wanted.'));

const NODE = z.object(node).check(z.meta({ id: 'FleetNode', description: 'A node of a fleet.' }));
const PARTITION = z
  .object(partition)
  .check(z.meta({ id: 'FleetPartition', description: 'A share of a fleet’s work.' }));

export const FLEETS = z.object({ fleets: list(z.string(), 'Their names.') }).check(z.meta({ id: 'FleetList' }));
const FLEET = z
  .object({
    id: text('Its name.'),
    nodes: list(NODE, 'Its nodes.'),
    partitions: list(PARTITION, 'Those that a node has ever taken.'),
    checkpointsApart: z.optional(
      onlyTrue('Checkpoints have rows of their own, or get them when their partitions change hands.'),
    ),
  })
  .check(z.meta({ id: 'Fleet', description: 'Workers that share partitions.' }));
export const PARTITION_IN_FULL = z
  .object({ ...partition, checkpoint: z.optional(text('How far its work is, as its owner wrote it.')) })
  .check(z.meta({ id: 'PartitionWithCheckpoint' }));
export const NODE_DRAINED = z.object({ ...node, warning }).check(z.meta({ id: 'NodeDrained' }));
export const PARTITION_MOVED = z.object({ ...partition, warning }).check(z.meta({ id: 'PartitionMoved' }));

export type Fleet = z.infer<typeof FLEET>;
export type FleetNode = z.infer<typeof NODE>;
export type FleetPartition = z.infer<typeof PARTITION>;
export type NodeDrained = z.infer<typeof NODE_DRAINED>;
export type PartitionInFull = z.infer<typeof PARTITION_IN_FULL>;
export type PartitionMoved = z.infer<typeof PARTITION_MOVED>;

const NONE = 'Nobody has ever joined a fleet of that name';

export const FLEETS_DESCRIBED = describeCalls(FLEET_CALLS, {
  listFleets: {
    summary: 'The fleets that somebody has joined',
    answers: { 200: { description: 'All of them.', schema: FLEETS, example: { fleets: ['flights'] } } },
  },
  getFleet: {
    summary: 'How a fleet stands',
    answers: { 200: { description: 'Its nodes and partitions.', schema: FLEET } },
    problems: { 404: `${NONE}.` },
  },
  separateCheckpoints: {
    summary: 'Checkpoints get rows of their own',
    description:
      'Each when its partition changes hands. For a fleet that workers of 0.2.0 began, once none is left: they refuse to work in it from then on. Again is harmless.',
    answers: { 200: { description: 'The fleet.', schema: FLEET } },
    problems: { 404: `${NONE}.`, 409: 'It has nodes that do not read checkpoints from rows of their own.' },
  },
  getPartition: {
    summary: 'How a partition stands, with its checkpoint',
    answers: { 200: { description: 'The partition.', schema: PARTITION_IN_FULL } },
    problems: { 404: `${NONE}, or it has no such partition.` },
  },
  drainNode: {
    summary: 'A node gives its partitions away, or may have some again',
    description: 'Again is harmless. It holds for this life of the node.',
    example: { draining: true },
    answers: { 200: { description: 'The node.', schema: NODE_DRAINED } },
    problems: { 404: `${NONE}, or it has no such node.`, 409: 'Several nodes are meant, or that life is over.' },
  },
  movePartition: {
    summary: 'A partition goes to a node and stays there, or is balanced again',
    description: 'Again is harmless.',
    example: { to: 'worker-1' },
    answers: { 200: { description: 'The partition.', schema: PARTITION_MOVED } },
    problems: {
      404: `${NONE}, or it has no such partition or node.`,
      409: 'Several nodes are meant, that life is over, or it is about to leave.',
    },
  },
});
