/** Each answer says what its reads consumed: whoever asks again and again is to know what that costs. */
import type { MiddlewareHandler } from 'hono';
import type { ReadMeter } from '../../ports/rows.ts';

/** In read units of DynamoDB: 0 where nothing was read. An API of an earlier version does not say it. */
export const READ_UNITS = 'groupage-read-units';

export const reportingReadUnits =
  ({ measure }: ReadMeter): MiddlewareHandler =>
  async (context, next) => {
    const units = await measure(next);
    context.res.headers.set(READ_UNITS, String(units));
  };
