/** Requests of `/limits`: the routes, and the schemas of their parameters. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { beginning, paging } from '../shared/fields.ts';

const key = beginning(
  'Only buckets whose key begins with this text, as it is encoded in a Target. Case-sensitive.',
  'account=17',
);

export const LIMIT_CALLS = {
  listLimits: { on: 'GET /limits', right: 'read' },
  getLimit: { on: 'GET /limits/:name', right: 'read', query: z.object({ key, ...paging(20) }) },
} satisfies Calls;
