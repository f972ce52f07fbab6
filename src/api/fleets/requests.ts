/** Requests of `/fleets`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { fields, flag, NO_BODY, text } from '../shared/fields.ts';

const DRAIN = fields({
  draining: flag(
    'True: the node gives its partitions away. False: it can get partitions again.',
    'must be true (the node gives its partitions away) or false (it can get partitions again)',
  ),
}).check(z.meta({ id: 'DrainRequest' }));

const TO_RULE = 'must be the key or id of a node, or null to balance the partition automatically again';
const MOVE = fields({
  to: z
    .nullable(text('The key or id of a node.', TO_RULE, { minLength: 1 }))
    .check(z.describe('A node, or null to balance the partition automatically again.')),
}).check(z.meta({ id: 'MoveRequest' }));

export const FLEET_CALLS = {
  listFleets: { on: 'GET /fleets', right: 'read' },
  getFleet: { on: 'GET /fleets/:name', right: 'read' },
  separateCheckpoints: {
    on: 'POST /fleets/:name/separate-checkpoints',
    right: 'operate',
    audit: 'separate',
    body: NO_BODY,
  },
  getPartition: { on: 'GET /fleets/:name/partitions/:partition', right: 'read' },
  drainNode: { on: 'POST /fleets/:name/nodes/:node/drain', right: 'operate', audit: 'drain', body: DRAIN },
  movePartition: { on: 'POST /fleets/:name/partitions/:partition/move', right: 'operate', audit: 'move', body: MOVE },
} satisfies Calls;
