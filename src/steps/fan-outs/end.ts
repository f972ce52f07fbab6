/**
 * Ends a fan-out (T6, T7, T8). One conditional write, which only one function can win, stores the end and its event.
 * Then the event is sent, and then it is removed from the row. So a fan-out ends once, and its event is sent at least
 * once.
 */

import { hasDestinations } from '../../domain/callbacks/callback.ts';
import { eventOfEnd } from '../../domain/fan-outs/event.ts';
import type { Ended, EndReason, FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { MINUTE } from '../../domain/timings.ts';
import type { FanOutDeps } from '../deps.ts';
import { cleanedAt } from './keep.ts';
import { noteAllSucceeded, noteSomeFailure } from './notices.ts';

/** If an event is still stored this long after the end, the patrol sends it. */
const EVENT_OVERDUE: Millis = MINUTE;

/** The counted items at the end. */
type Counts = Pick<Ended, 'failed' | 'pending'>;

/** The cause of an end: the new status, the statuses from which a fan-out may enter it, and the reason. */
interface Cause {
  readonly status: 'complete' | 'expired' | 'cancelled';
  readonly from: readonly FanOut['status'][];
  readonly because: EndReason;
  readonly failed: number;
  readonly pending?: number;
  /** If set, the end is written only if the fan-out still has this version. */
  readonly version?: number;
}

/** T6. All items are done. @param failed the number of items that failed. */
export const completeAll = (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'complete', from: ['sealed'], because: 'all-done', failed });

/** T7. More items failed than tolerated. @param counts of a walk over all nodes have `pending` too */
export const failFast = async (
  deps: FanOutDeps,
  fanOut: FanOut,
  { failed, ...counts }: Counts,
): Promise<FanOut | undefined> => {
  for (let seen = fanOut; ; ) {
    const { version } = seen;
    const cause = { status: 'complete', because: 'too-many-failed', failed, version } as const;
    // Items that were added after the walk were not counted.
    const more = seen === fanOut ? counts : {};
    const stored = await end(deps, seen, { ...cause, ...more, from: ['open', 'sealed'] });
    // If the version has changed, another function added items or sealed the fan-out. The event would then count too
    // few items, so try again.
    if (!stored || stored.ended || stored.version === version) return stored;
    seen = stored;
  }
};

/**
 * T8. Expires a fan-out that was idle for too long. The write is refused if items were added or the fan-out was sealed
 * since it was read.
 */
export const expire = (deps: FanOutDeps, fanOut: FanOut, counts: Counts): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: [fanOut.status],
    because: 'idle',
    ...counts,
    version: fanOut.version,
  });

/** D9. Cancels a deferred list: no more jobs are handed out. */
export const cancelRest = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'cancelled', from: ['open', 'sealed'], because: 'cancelled', failed: 0 });

/** A user deletes the fan-out. Refused until its event is sent. */
export const discard = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: ['open', 'sealed', 'complete', 'cancelled'],
    because: 'deleted',
    ...countsBefore(fanOut),
  });

/** The counts of an end that came before the deletion, or the failures that are known without a walk. */
const countsBefore = ({ ended, fails, corrected }: FanOut): Counts => {
  // Noted failures may have been corrected (T11).
  if (!ended) return { failed: corrected ? 0 : fails.length };
  const { because, failed, pending = because === 'all-done' ? 0 : undefined } = ended;
  return { failed, ...(pending === undefined ? {} : { pending }) };
};

/** @returns the ended fan-out, even if another function ended it. */
const end = async (deps: FanOutDeps, fanOut: FanOut, cause: Cause): Promise<FanOut | undefined> => {
  const { config, fanOuts, machine, report } = deps;
  const { id } = fanOut;
  const { status, because, failed, pending } = cause;
  // T13. No function notes a failure after the end.
  if (failed > 0 && because !== 'deleted') await noteSomeFailure(deps, fanOut);
  const at = machine.now();
  const event = eventOfEnd(config, fanOut, status, {
    at,
    because,
    failed,
    ...(pending === undefined ? {} : { pending }),
  });
  const checkAt = event ? at + EVENT_OVERDUE : cleanedAt(config, id, status, at);
  const isMine = await fanOuts.end(id, { ...cause, at, checkAt, ...(event ? { event } : {}) });
  if (isMine)
    report(
      because === 'deleted'
        ? { event: 'fan-out-deleted', fanOut: id, was: fanOut.status }
        : { event: 'fan-out-ended', fanOut: id, status, because, total: fanOut.total, failed },
    );
  const stored = await fanOuts.read(id);
  // The function that ended the fan-out sends its event. If the response to the write was lost, the function recognises
  // its own write by the time of the end. If the function dies here, the patrol sends the event.
  if (!stored || !(isMine || stored.ended?.at === at)) return stored;
  if (stored.event) await sendEvent(deps, stored);
  // T12. A redrive may have corrected the last failed item between the count and the end.
  if (stored.corrected) await noteAllSucceeded(deps, stored);
  return stored;
};

/** Sends the event of an ended fan-out. Repeats do no harm, because the event keeps its id. */
export const sendEvent = async (
  { config, fanOuts, queues, report }: FanOutDeps,
  { id, status, event, ended }: FanOut,
): Promise<void> => {
  if (!event || !ended) return;
  // If the configuration has no destination, no function reads the callback queue.
  if (hasDestinations(config)) await queues.callbacks([event]);
  else report({ event: 'fan-out-untold', fanOut: id, destination: event.to });
  await fanOuts.forgetEvent(id, cleanedAt(config, id, status, ended.at));
};
