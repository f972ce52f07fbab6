/** Requests of `/targets`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { TARGET_MAX_BYTES } from '../../domain/ids.ts';
import type { Calls } from '../shared/calls.ts';
import { configured, fields, paging, target } from '../shared/fields.ts';

const isPrefix = (text: string): boolean => text.isWellFormed() && Buffer.byteLength(text) <= TARGET_MAX_BYTES;

/** An empty prefix is treated as no prefix. */
const prefix = z.optional(
  z.string().check(
    z.refine(isPrefix, { error: `must be well-formed text of 1 to ${TARGET_MAX_BYTES} bytes` }),
    z.meta({
      description:
        'Only Targets whose part after `OPERATION/` begins with this text. Case-sensitive; requires `operation`.',
      maxLength: TARGET_MAX_BYTES,
      examples: ['carrier=DHL'],
    }),
  ),
);

export const operation = configured('operation', 'Only this operation.');

export const TARGET_CALLS = {
  listTargets: { on: 'GET /targets', right: 'read', query: z.object({ operation, prefix, ...paging(50) }) },
  flushTarget: {
    on: 'POST /targets/flush',
    right: 'operate',
    audit: 'flush',
    body: fields({ target: target() }).check(z.meta({ id: 'FlushRequest' })),
  },
} satisfies Calls;
