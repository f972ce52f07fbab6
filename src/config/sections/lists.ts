/** What holds for every deferred list. */
import { MINUTE } from '../../batching/timings.ts';
import { DAY, duration, section, toldOtherwise } from './rules.ts';

const fields = section({
  keep: duration(MINUTE, 90 * DAY).default(7 * DAY),
  callback: toldOtherwise(),
});
export const listsSchema = fields.prefault({});
export const listKeys: readonly string[] = Object.keys(fields.shape);
