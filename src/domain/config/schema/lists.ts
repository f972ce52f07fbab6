/** What holds for every deferred list. */
import { DAY, duration, section, toldOtherwise } from './rules.ts';

const fields = section({
  // Claims of a list that is cancelled go on for up to half a day.
  keep: duration(DAY, 90 * DAY).default(7 * DAY),
  callback: toldOtherwise(),
});
export const listsSchema = fields.prefault({});
export const listKeys: readonly string[] = Object.keys(fields.shape);
