/** What holds for every fan-out. */
import { MINUTE } from '../../timings.ts';
import { DAY, duration, HOUR, section, toldOtherwise } from './rules.ts';

const fields = section({
  idleOpen: duration(MINUTE, 90 * DAY).default(2 * HOUR),
  idleSealed: duration(MINUTE, 90 * DAY).default(7 * DAY),
  keep: duration(MINUTE, 90 * DAY).default(7 * DAY),
  callback: toldOtherwise(),
});
export const fanOutsSchema = fields.prefault({});
export const fanOutKeys: readonly string[] = Object.keys(fields.shape);
