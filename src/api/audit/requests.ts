/** Requests of `/audit`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { DAY_PATTERN, isDay } from '../../domain/audit/entry.ts';
import type { Calls } from '../shared/calls.ts';
import { nameOf, paging } from '../shared/fields.ts';

const day = z.optional(
  nameOf<string>('Only the entries of this day in UTC.', 'must be a day, such as 2026-11-27', isDay, {
    pattern: DAY_PATTERN,
  }).check(z.meta({ format: 'date', examples: ['2026-11-27'] })),
);

export const AUDIT_CALLS = {
  listAudit: { on: 'GET /audit', right: 'read', query: z.object({ day, ...paging(50) }) },
} satisfies Calls;
