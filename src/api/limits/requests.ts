/** Requests of `/limits`: the routes, and the schemas of their parameters. */
import * as z from 'zod/mini';
import { TARGET_MAX_BYTES } from '../../domain/ids.ts';
import type { Calls } from '../shared/calls.ts';
import { paging } from '../shared/fields.ts';

const isKey = (text: string): boolean => text.isWellFormed() && Buffer.byteLength(text) <= TARGET_MAX_BYTES;

const key = z.optional(
  z.string().check(
    z.refine(isKey, { error: `must be well-formed text of 1 to ${TARGET_MAX_BYTES} bytes` }),
    z.meta({
      description: 'Only buckets whose key begins with this text, as it is encoded in a Target. Case-sensitive.',
      maxLength: TARGET_MAX_BYTES,
      examples: ['account=17'],
    }),
  ),
);

export const LIMIT_CALLS = {
  listLimits: { on: 'GET /limits', right: 'read' },
  getLimit: { on: 'GET /limits/:name', right: 'read', query: z.object({ key, ...paging(20) }) },
} satisfies Calls;
