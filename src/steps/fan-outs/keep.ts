/** How long an ended fan-out or list is kept. Pure. */
import type { Config } from '../../domain/config/resolved.ts';
import { type FanOutId, isNumbered } from '../../domain/fan-out-ids.ts';
import type { FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';

/**
 * The time at which the rows of an ended fan-out may be deleted. The rows of a complete fan-out are kept for a while,
 * so that late acks still get an answer.
 */
export const cleanedAt = (config: Config, id: FanOutId, status: FanOut['status'], at: Millis): Millis =>
  status === 'expired' ? at : at + keepOf(config, id);

/** How long an ended fan-out or list can still be read, in ms. */
const keepOf = ({ fanOuts, lists }: Config, id: FanOutId): Millis => (isNumbered(id) ? lists : fanOuts).keep;

/**
 * How long no other fan-out may have the id of an ended one, in ms. The ids of a list's tasks contain the list's id,
 * and the tasks may be kept longer than the list. A new list with the same id would get tasks with the same ids. These
 * would be refused or counted as done without a call.
 */
export const takenFor = (config: Config, id: FanOutId): Millis =>
  Math.max(
    keepOf(config, id),
    ...(isNumbered(id) ? Object.values(config.operations).map(({ keepTasks }) => keepTasks) : []),
  );
