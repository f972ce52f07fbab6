/**
 * Ends a fan-out (T6, T7, T8): one conditional write, which one caller wins, stores the end and its event. Then the
 * event is sent, and removed from the row. So there is one end, and its event is sent at least once.
 */

import { hasDestinations } from '../../domain/callbacks/callback.ts';
import { type FanOutId, isNumbered } from '../../domain/fan-out-ids.ts';
import { eventOfEnd } from '../../domain/fan-outs/event.ts';
import type { EndReason, FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { MINUTE } from '../../domain/timings.ts';
import type { FanOutDeps } from '../deps.ts';

/** After this time the patrol sends an event that is still stored. */
const EVENT_OVERDUE: Millis = MINUTE;

/** The cause of an end: the new status, the statuses it may follow, and why. */
interface Cause {
  readonly status: 'complete' | 'expired' | 'cancelled';
  readonly from: readonly FanOut['status'][];
  readonly because: EndReason;
  readonly failed: number;
  /** If set, the end is written only if the fan-out still has this version. */
  readonly version?: number;
}

/** T6. All items are done. @param failed the number of items that failed. */
export const completeAll = (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'complete', from: ['sealed'], because: 'all-done', failed });

/** T7. More items failed than tolerated. */
export const failFast = async (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> => {
  for (let seen = fanOut; ; ) {
    const { version } = seen;
    const cause = { status: 'complete', because: 'too-many-failed', failed, version } as const;
    const stored = await end(deps, seen, { ...cause, from: ['open', 'sealed'] });
    // A function added items, or sealed the fan-out, meanwhile. The event would count fewer items than there are.
    if (!stored || stored.ended || stored.version === version) return stored;
    seen = stored;
  }
};

/** T8. Nothing has happened for too long. An `add` or a `seal` since the read prevents this. */
export const expire = (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: [fanOut.status],
    because: 'idle',
    failed,
    version: fanOut.version,
  });

/** D9. Cancels a deferred list: no more jobs are handed out. */
export const cancelRest = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'cancelled', from: ['open', 'sealed'], because: 'cancelled', failed: 0 });

/** A user deletes the fan-out. Refused while its event is not sent. */
export const discard = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: ['open', 'sealed', 'complete', 'cancelled'],
    because: 'deleted',
    failed: fanOut.ended?.failed ?? fanOut.fails.length,
  });

/** @returns the fan-out after that, whichever function ended it. */
const end = async (deps: FanOutDeps, fanOut: FanOut, cause: Cause): Promise<FanOut | undefined> => {
  const { config, fanOuts, machine, report } = deps;
  const { id } = fanOut;
  const { status, because, failed } = cause;
  const at = machine.now();
  const event = eventOfEnd(config, fanOut, status, { at, because, failed });
  const checkAt = event ? at + EVENT_OVERDUE : cleanedAt(config, id, status, at);
  const isMine = await fanOuts.end(id, { ...cause, at, checkAt, ...(event ? { event } : {}) });
  if (isMine) report({ event: 'fan-out-ended', fanOut: id, status, because, total: fanOut.total, failed });
  const stored = await fanOuts.read(id);
  // The function that ended the fan-out sends its event. If its response was lost, it recognises its own write by the
  // time. If it dies here, the patrol sends the event.
  if (stored?.event && (isMine || stored.ended?.at === at)) await sendEvent(deps, stored);
  return stored;
};

/** When the rows of an ended fan-out may be deleted. Acks of a complete fan-out are answered for a while. */
const cleanedAt = (config: FanOutDeps['config'], id: FanOutId, status: FanOut['status'], at: Millis): Millis =>
  status === 'expired' ? at : at + keepOf(config, id);

/** How long an ended fan-out or list stays known. */
const keepOf = ({ fanOuts, lists }: FanOutDeps['config'], id: FanOutId): Millis =>
  (isNumbered(id) ? lists : fanOuts).keep;

/**
 * How long the id of an ended fan-out is taken. A list's tasks are named after it, and may be kept for longer. The
 * tasks of another list with this id would be taken for them, and counted as done or refused without a call.
 */
export const takenFor = (config: FanOutDeps['config'], id: FanOutId): Millis =>
  Math.max(
    keepOf(config, id),
    ...(isNumbered(id) ? Object.values(config.operations).map(({ keepTasks }) => keepTasks) : []),
  );

/** Sends the event of an ended fan-out. Repeats do no harm, since the event has one id. */
export const sendEvent = async (
  { config, fanOuts, queues, report }: FanOutDeps,
  { id, status, event, ended }: FanOut,
): Promise<void> => {
  if (!event || !ended) return;
  // Without destinations, no function takes messages from the callback queue.
  if (hasDestinations(config)) await queues.callbacks([event]);
  else report({ event: 'fan-out-untold', fanOut: id, destination: event.to });
  await fanOuts.forgetEvent(id, cleanedAt(config, id, status, ended.at));
};
