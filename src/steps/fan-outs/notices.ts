/**
 * Notices: events of a fan-out besides that of its end, for a first failed item (T13) and for the redrive of the last
 * failed one (T12). One conditional write notes each of them, with the event as unsent. Then the event is sent, and
 * then noted as sent. If the function dies in between, the patrol sends the event.
 */

import { hasDestinations } from '../../domain/callbacks/callback.ts';
import { itemIdOf } from '../../domain/fan-out-ids.ts';
import { eventOfNotice } from '../../domain/fan-outs/event.ts';
import { type FanOut, type FirstFailure, mayAllSucceed } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { MINUTE } from '../../domain/timings.ts';
import type { FanOuts, Noted } from '../../ports/fan-outs.ts';
import type { FanOutDeps } from '../deps.ts';
import { itemsWith, type Place } from './items.ts';
import { cleanedAt } from './keep.ts';

/** If an event is still unsent this long after its notice, the patrol sends it. */
const NOTICE_OVERDUE: Millis = MINUTE;

/** Sends the unsent events of a fan-out. Repeats do no harm, because each event keeps its id. */
export const sendNotices = async (deps: FanOutDeps, fanOut: FanOut): Promise<void> => {
  const { config, fanOuts, queues, report } = deps;
  const { id } = fanOut;
  for (const notice of fanOut.unsent ?? []) {
    const event = eventOfNotice(config, fanOut, notice);
    // If the configuration has no destination, no function reads the callback queue.
    if (event && hasDestinations(config)) await queues.callbacks([event]);
    else if (event) report({ event: 'fan-out-untold', fanOut: id, destination: event.to });
    await fanOuts.noticeSent(id, notice);
  }
};

/** Notes an event and sends it, unless it is noted already. */
const note = async (deps: FanOutDeps, fanOut: FanOut, what: Noted): Promise<void> => {
  const { config, fanOuts, machine } = deps;
  const { id } = fanOut;
  const checkAt = machine.now() + NOTICE_OVERDUE;
  const noted = await fanOuts.note(id, what, checkAt);
  // If the response to the write was lost, the function recognises its own write.
  if (!noted || !isOf(noted, what)) return;
  await sendNotices(deps, noted);
  const { status, ended, event } = noted;
  const next = ended ? cleanedAt(config, id, status, ended.at) : fanOut.checkAt;
  // If the event of the end is unsent, the patrol has to come soon. If another function has set another time meanwhile,
  // this write is refused.
  if (!event && next !== undefined) await fanOuts.checkAgain(id, checkAt, { checkAt: next });
};

const isOf = ({ firstFailure, allSucceededAt }: FanOut, what: Noted): boolean =>
  what.notice === 'first-failure'
    ? firstFailure?.item === what.firstFailure.item && firstFailure.at === what.firstFailure.at
    : allSucceededAt === what.at;

/** T13. Notes a failed item if the fan-out reports its first failure and none is noted yet. */
export const noteFirstFailure = async (deps: FanOutDeps, fanOut: FanOut, place: Place): Promise<void> => {
  if (!isFirstFailureDue(fanOut)) return;
  const firstFailure: FirstFailure = { item: itemIdOf({ fanOut: fanOut.id, ...place }), at: deps.machine.now() };
  await note(deps, fanOut, { notice: 'first-failure', firstFailure });
};

const isFirstFailureDue = ({ notifyFirstFailure, firstFailure, ended }: FanOut): boolean =>
  notifyFirstFailure === true && firstFailure === undefined && ended === undefined;

/**
 * T13. The same for the first failed item in the order of the groups. The function that acked a failed item may have
 * died before it noted the item.
 */
export const noteSomeFailure = async (deps: FanOutDeps, fanOut: FanOut): Promise<void> => {
  if (!isFirstFailureDue(fanOut)) return;
  for (let from: Place | undefined = { group: 0, index: 0 }; from; ) {
    const { places, next }: Awaited<ReturnType<typeof itemsWith>> = await itemsWith(
      deps.fanOuts,
      fanOut,
      'failed',
      from,
      1,
    );
    const [place] = places;
    if (place) return noteFirstFailure(deps, fanOut, place);
    from = next;
  }
};

/** Number of groups whose counts are read at once. */
const GROUPS_READ = 100;

/**
 * T12. Notes that all items have succeeded if no failed item is left. The header names a group that had failed items,
 * and no group before it has any. So all calls together read each group about once.
 *
 * @param fanOut as read after a correction, or after the end
 */
export const noteAllSucceeded = async (deps: FanOutDeps, fanOut: FanOut): Promise<void> => {
  const { fanOuts, machine } = deps;
  if (!mayAllSucceed(fanOut)) return;
  for (let seen = fanOut.failedGroup; ; ) {
    const failed = await failedGroupFrom(fanOuts, fanOut, seen);
    if (failed === undefined) return note(deps, fanOut, { notice: 'all-succeeded', at: machine.now() });
    // The function that corrects the last item of this group calls this function again.
    if (failed === seen) return;
    // That function may have read the header before this write. So read the group once more after the write.
    if (!(await fanOuts.noteFailedGroup(fanOut.id, seen, failed))) return;
    seen = failed;
  }
};

/** The first group with failed items, from this one on. The noted group is read alone, because it probably has some. */
const failedGroupFrom = async (
  fanOuts: Pick<FanOuts, 'counts'>,
  { id, groups }: FanOut,
  noted: number | undefined,
): Promise<number | undefined> => {
  let size = noted === undefined ? GROUPS_READ : 1;
  for (let from = noted ?? 0; from < groups; size = GROUPS_READ) {
    const positions = Array.from({ length: Math.min(size, groups - from) }, (_, index) => ({
      level: 0,
      n: from + index,
    }));
    const counts = await fanOuts.counts(id, positions);
    // The rows of a fan-out that was kept long enough are deleted, or put again by a late function. They prove nothing.
    const index = counts.findIndex((group) => !group || group.left > 0 || group.failed > 0);
    if (index >= 0) return from + index;
    from += positions.length;
  }
  return undefined;
};
