/** How a fan-out ends (T6, T7, T8): one conditional write that one caller wins, its event in it; then the event goes out. */

import { hasDestinations } from '../../domain/callbacks/callback.ts';
import { type FanOutId, isNumbered } from '../../domain/fan-out-ids.ts';
import { eventOfEnd } from '../../domain/fan-outs/event.ts';
import type { EndReason, FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { MINUTE } from '../../domain/timings.ts';
import type { FanOutDeps } from '../deps.ts';

/** After this the patrol sends an event that nobody has said to be sent. */
const EVENT_OVERDUE: Millis = MINUTE;

/** What ends it: as which status, from which, and why. */
interface Cause {
  readonly status: 'complete' | 'expired' | 'cancelled';
  readonly from: readonly FanOut['status'][];
  readonly because: EndReason;
  readonly failed: number;
  /** If given: only if nothing changed since. */
  readonly version?: number;
}

/** T6. All of its items are done. @param failed how many of them failed */
export const completeAll = (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'complete', from: ['sealed'], because: 'all-done', failed });

/** T7. More of its items failed than it tolerates. */
export const failFast = async (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> => {
  for (let seen = fanOut; ; ) {
    const { version } = seen;
    const cause = { status: 'complete', because: 'too-many-failed', failed, version } as const;
    const stored = await end(deps, seen, { ...cause, from: ['open', 'sealed'] });
    // Somebody added to it meanwhile, or sealed it: its event would tell of fewer items than it has.
    if (!stored || stored.ended || stored.version === version) return stored;
    seen = stored;
  }
};

/** T8. Nothing has happened for too long; an `add` or a `seal` since it was read saves it. */
export const expire = (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: [fanOut.status],
    because: 'idle',
    failed,
    version: fanOut.version,
  });

/** D9. What of a deferred list has not been handed out never will be. */
export const cancelRest = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, { status: 'cancelled', from: ['open', 'sealed'], because: 'cancelled', failed: 0 });

/** Somebody deletes it; not one whose event is on its way. */
export const discard = (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> =>
  end(deps, fanOut, {
    status: 'expired',
    from: ['open', 'sealed', 'complete', 'cancelled'],
    because: 'deleted',
    failed: fanOut.ended?.failed ?? fanOut.fails.length,
  });

/** @returns the fan-out as it is then, whoever ended it. */
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
  // Whoever ended it sends its event, and knows himself by the moment where the answer was lost. If he stops here, the
  // patrol does.
  if (stored?.event && (isMine || stored.ended?.at === at)) await sendEvent(deps, stored);
  return stored;
};

/** When the rows of an ended fan-out may go: acks of one that is complete are answered for a while. */
const cleanedAt = (config: FanOutDeps['config'], id: FanOutId, status: FanOut['status'], at: Millis): Millis =>
  status === 'expired' ? at : at + keepOf(config, id);

/** How long what has ended is known. */
const keepOf = ({ fanOuts, lists }: FanOutDeps['config'], id: FanOutId): Millis =>
  (isNumbered(id) ? lists : fanOuts).keep;

/**
 * How long the id of what has ended is taken. A list's tasks are named after it, and known for longer perhaps: those of
 * another one with its id would be taken for them, and done or refused without anybody having been called.
 */
export const takenFor = (config: FanOutDeps['config'], id: FanOutId): Millis =>
  Math.max(
    keepOf(config, id),
    ...(isNumbered(id) ? Object.values(config.operations).map(({ keepTasks }) => keepTasks) : []),
  );

/** Sends the event of an ended fan-out; more than once does no harm, since it has one id. */
export const sendEvent = async (
  { config, fanOuts, queues, report }: FanOutDeps,
  { id, status, event, ended }: FanOut,
): Promise<void> => {
  if (!event || !ended) return;
  // Without destinations no λ would take it.
  if (hasDestinations(config)) await queues.callbacks([event]);
  else report({ event: 'fan-out-untold', fanOut: id, destination: event.to });
  await fanOuts.forgetEvent(id, cleanedAt(config, id, status, ended.at));
};
