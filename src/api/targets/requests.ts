/** Requests of `/targets`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { beginning, configured, fields, paging, target, text, word } from '../shared/fields.ts';
import type { SortKey } from './order.ts';

const prefix = beginning(
  'Only Targets whose part after `OPERATION/` begins with this text. Case-sensitive; requires `operation`.',
  'carrier=DHL',
);

const search = z.optional(
  text(
    'Only Targets whose name contains this text; upper and lower case are the same. One request reads at most 60 pages of `limit` names: `looked` and `cursor` of the answer show whether there are more.',
    'must be well-formed text of 1 to 200 characters',
    { minLength: 1, maxLength: 200 },
  ),
);

const sort = z.optional(
  word<SortKey>(
    'Lists only Targets that have some of this, among the next 300 by name (`retried`: among all)',
    'must be one of waiting, oldest, retried, failed, paused',
    {
      waiting: 'waiting tasks, the Target with the most first',
      oldest: 'waiting tasks, the Target whose next task has waited longest first',
      retried: 'batches under way (`underWay`), the Target with the oldest task first',
      failed: 'failed tasks, the Target with the most first',
      paused: 'a pause, or a wait for a free slot, the longest first',
    },
  ),
);

export const operation = configured('operation', 'Only this operation.');

export const TARGET_CALLS = {
  listTargets: {
    on: 'GET /targets',
    right: 'read',
    query: z.object({ operation, prefix, search, sort, ...paging(50) }),
  },
  flushTarget: {
    on: 'POST /targets/flush',
    right: 'operate',
    audit: 'flush',
    body: fields({ target: target() }).check(z.meta({ id: 'FlushRequest' })),
  },
} satisfies Calls;
