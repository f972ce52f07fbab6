/** What holds for every fan-out. */
import * as z from 'zod';
import { MINUTE } from '../../batching/timings.ts';
import { DAY, duration, HOUR, mustUnseen, section } from './rules.ts';

const fields = section({
  idleOpen: duration(MINUTE, 90 * DAY).default(2 * HOUR),
  idleSealed: duration(MINUTE, 90 * DAY).default(7 * DAY),
  keep: duration(MINUTE, 90 * DAY).default(7 * DAY),
  callback: z.string(mustUnseen('the name of a configured destination, or null for nobody')).nullable().default(null),
});
export const fanOutsSchema = fields.prefault({});
export const fanOutKeys: readonly string[] = Object.keys(fields.shape);
