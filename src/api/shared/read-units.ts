/** Adds the consumed read units to each answer, so that clients that poll can limit their cost. */
import type { MiddlewareHandler } from 'hono';
import type { ReadMeter } from '../../ports/rows.ts';

/** The header with the number of DynamoDB read units; 0 if nothing was read. Early releases do not send this header. */
export const READ_UNITS = 'groupage-read-units';

export const reportingReadUnits =
  ({ measure }: ReadMeter): MiddlewareHandler =>
  async (context, next) => {
    const units = await measure(next);
    context.res.headers.set(READ_UNITS, String(units));
  };
