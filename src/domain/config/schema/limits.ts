/**
 * The schema of limits, each by itself. `named-limits.ts` checks them together with the operations that name them.
 */
import * as z from 'zod';
import { OPERATION_NAME_PATTERN } from '../../ids.ts';
import { SECOND } from '../../timings.ts';
import type { Limit } from '../limits.ts';
import { payloadFields } from './fields.ts';
import { DAY, duration, fault, must, mustUnseen, positive, section, whole } from './rules.ts';

const CALLS_MAX = 1_000_000;
const OR_NONE = ', or null for no limit';

const weight = positive(1e12, OR_NONE).nullable().default(null);
const concurrencySchema = section(
  { calls: whole(1, 1_000, OR_NONE).nullable().default(null), weight },
  'an object such as {"calls": 4}',
);

const A_KEY = must('a list of payload fields such as ["account"], "target", or null for one bucket');
const keyFields = payloadFields(A_KEY)
  .refine((fields) => fields.length > 0, {
    error: 'must name at least one payload field: leave key out for one bucket of all calls',
  })
  .meta({ minItems: 1 });
const keySchema = z.union([z.literal('target'), keyFields], {
  // Of an invalid field, a union reports neither the place nor the message.
  error: ({ input }) =>
    Array.isArray(input)
      ? 'must contain only names of payload fields, such as "account" or "route.origin"'
      : A_KEY.error({ input }),
});

const limitShape = section(
  {
    calls: whole(1, CALLS_MAX, OR_NONE).nullable().default(null),
    weight,
    per: duration(SECOND, DAY).optional(),
    burst: whole(1, CALLS_MAX).optional(),
    key: keySchema.nullable().default(null),
    concurrency: concurrencySchema.prefault({}),
  },
  'an object such as {"calls": 10, "per": "1m"}',
);
type LimitShape = z.output<typeof limitShape>;

const checkTogether = ({ calls, weight, per, burst, concurrency }: LimitShape, context: z.RefinementCtx): void => {
  const hasRate = calls !== null || weight !== null;
  if (!hasRate && concurrency.calls === null && concurrency.weight === null) {
    fault(
      context,
      [],
      'needs calls, weight, concurrency.calls or concurrency.weight: without them it limits nothing. Set one of them, or remove the limit',
    );
    return;
  }
  if (per !== undefined && !hasRate)
    fault(context, ['per'], 'has an effect only with calls or weight: set one of them too, or leave per out');
  if (burst === undefined) return;
  if (calls === null && (burst > 1 || weight === null))
    fault(context, ['burst'], 'has an effect only with calls: set calls too, or leave burst out');
  else if (calls !== null && burst > calls)
    fault(
      context,
      ['burst'],
      `must not be more than calls (${calls}), which is reached first: lower burst or raise calls`,
    );
};

const limitSchema = limitShape
  .superRefine(checkTogether)
  .transform(({ per = SECOND, burst = 1, ...rest }): Limit => ({ ...rest, per, burst }));

export const limitsSchema = z
  .record(
    z.string().regex(OPERATION_NAME_PATTERN, {
      error: 'is not a valid name for a limit: begin with a letter, then up to 63 letters, digits, - or _',
    }),
    limitSchema,
    mustUnseen('an object with names of limits as keys'),
  )
  .default({});

/** The keys of each section of a limit. */
export const limitKeys: Readonly<Record<string, readonly string[]>> = {
  limit: Object.keys(limitShape.shape),
  concurrency: Object.keys(concurrencySchema.shape),
};
