/** `/fleets`. */
import * as z from 'zod';
import type { NodeView, PartitionView } from '../../../src/domain/fleets/view.ts';
import { flag, list, moment, number, onlyTrue, text, whole, word } from '../fields.ts';
import { NO_BODY, type Route } from './route.ts';

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
  owner: text('Who works on it.').optional(),
  lastOwner: text('Who did, while it is free because that one is gone.').optional(),
  next: text('Who gets it.').optional(),
  pin: text('Where people want it.').optional(),
  since: moment("It became its owner's then, by that one's clock.").optional(),
  fence: whole('Numbers its owners.'),
};
const checkpoint = text('How far its work is, as its owner wrote it.').optional();
const warning = text('What stands in the way of what was wanted.').optional();

const FLEET = z
  .object({
    id: text('Its name.'),
    nodes: list(z.object(node).meta({ id: 'FleetNode', description: 'A node of a fleet.' }), 'Its nodes.'),
    partitions: list(
      z.object(partition).meta({ id: 'FleetPartition', description: 'A share of a fleet’s work.' }),
      'Those that a node has ever taken.',
    ),
    checkpointsApart: onlyTrue(
      'Checkpoints have rows of their own, or get them when their partitions change hands.',
    ).optional(),
  })
  .meta({ id: 'Fleet', description: 'Workers that share partitions.' });

const NONE = 'Nobody has ever joined a fleet of that name';

export const FLEET_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/fleets',
    id: 'listFleets',
    summary: 'The fleets that somebody has joined',
    answers: {
      200: {
        description: 'All of them.',
        schema: z.object({ fleets: list(z.string(), 'Their names.') }).meta({ id: 'FleetList' }),
        example: { fleets: ['flights'] },
      },
    },
  },
  {
    method: 'get',
    path: '/fleets/{name}',
    id: 'getFleet',
    summary: 'How a fleet stands',
    answers: { 200: { description: 'Its nodes and partitions.', schema: FLEET } },
    problems: { 404: `${NONE}.` },
  },
  {
    method: 'post',
    path: '/fleets/{name}/separate-checkpoints',
    id: 'separateCheckpoints',
    summary: 'Checkpoints get rows of their own',
    description:
      'Each when its partition changes hands. For a fleet that workers of 0.2.0 began, once none is left: they refuse to work in it from then on. Again is harmless.',
    body: { schema: NO_BODY, optional: true },
    answers: { 200: { description: 'The fleet.', schema: FLEET } },
    problems: { 404: `${NONE}.`, 409: 'It has nodes that do not read checkpoints from rows of their own.' },
  },
  {
    method: 'get',
    path: '/fleets/{name}/partitions/{partition}',
    id: 'getPartition',
    summary: 'How a partition stands, with its checkpoint',
    answers: {
      200: {
        description: 'The partition.',
        schema: z.object({ ...partition, checkpoint }).meta({ id: 'PartitionWithCheckpoint' }),
      },
    },
    problems: { 404: `${NONE}, or it has no such partition.` },
  },
  {
    method: 'post',
    path: '/fleets/{name}/nodes/{node}/drain',
    id: 'drainNode',
    summary: 'A node gives its partitions away, or may have some again',
    description: 'Again is harmless. It holds for this life of the node.',
    body: {
      schema: z
        .strictObject({ draining: flag('False for one that may have partitions again.') })
        .meta({ id: 'DrainRequest' }),
      example: { draining: true },
    },
    answers: { 200: { description: 'The node.', schema: z.object({ ...node, warning }).meta({ id: 'NodeDrained' }) } },
    problems: { 404: `${NONE}, or it has no such node.`, 409: 'Several nodes are meant, or that life is over.' },
  },
  {
    method: 'post',
    path: '/fleets/{name}/partitions/{partition}/move',
    id: 'movePartition',
    summary: 'A partition goes to a node and stays there, or is balanced again',
    description: 'Again is harmless.',
    body: {
      schema: z
        .strictObject({
          to: text('The key or the id of a node.', { minLength: 1 })
            .nullable()
            .describe('A node, or null: it is balanced as all others again.'),
        })
        .meta({ id: 'MoveRequest' }),
      example: { to: 'worker-1' },
    },
    answers: {
      200: {
        description: 'The partition.',
        schema: z.object({ ...partition, warning }).meta({ id: 'PartitionMoved' }),
      },
    },
    problems: {
      404: `${NONE}, or it has no such partition or node.`,
      409: 'Several nodes are meant, that life is over, or it is about to leave.',
    },
  },
];
