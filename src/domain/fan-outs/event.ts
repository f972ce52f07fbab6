/** The events of fan-outs and deferred lists: CloudEvents (1.0, in JSON). Pure. */
import type { CallbackMessage } from '../callbacks/callback.ts';
import { attributesOf } from '../callbacks/event.ts';
import type { Config } from '../config/resolved.ts';
import { isNumbered, ownerOf } from '../fan-out-ids.ts';
import type { Ended, FanOut, Notice } from './fan-out.ts';

/**
 * The destination of the event: the fan-out's own, or the configured one. Undefined if there is none, or if a user
 * deleted or cancelled the fan-out.
 */
const destinationOf = (
  { fanOuts, lists }: Config,
  { id, callback }: FanOut,
  ended: Ended | undefined,
): string | undefined =>
  ended?.because === 'deleted' || ended?.because === 'cancelled'
    ? undefined
    : (callback ?? (isNumbered(id) ? lists : fanOuts).callback ?? undefined);

/** The counts that the end reports. If not all items were counted, only a lower bound of the failed items is known. */
export const countsAtEnd = (
  total: number,
  { because, failed, pending = because === 'all-done' ? 0 : undefined }: Ended,
) =>
  pending === undefined
    ? { failed, countsAreAtLeast: true as const }
    : { succeeded: total - failed - pending, failed, pending };

/**
 * The event of a fan-out's end for its destination, if there is one. A fan-out ends once, so there is one event with
 * one id.
 */
export const eventOfEnd = (
  config: Config,
  fanOut: FanOut,
  status: 'complete' | 'expired' | 'cancelled',
  ended: Ended,
): CallbackMessage | undefined => {
  const to = destinationOf(config, fanOut, ended);
  if (to === undefined) return undefined;
  const { total, userKey } = fanOut;
  // The event of a deferred list has the list's own name. The id of its tracker is made from that name.
  const [id, kind] = isNumbered(fanOut.id) ? [ownerOf(fanOut.id), 'list' as const] : [fanOut.id, 'fan-out' as const];
  const type = status === 'complete' ? 'completed' : 'expired';
  const event = {
    ...attributesOf({
      // The id includes the time of opening, because another fan-out may get the same id after this fan-out is deleted.
      id: `${id}.${fanOut.createdAt}.${type}`,
      of: `${kind}s`,
      type: `groupage.${kind}.${type}`,
      subject: id,
      at: ended.at,
    }),
    data: {
      id,
      status,
      because: ended.because,
      total,
      ...countsAtEnd(total, ended),
      ...(userKey === undefined ? {} : { [kind === 'list' ? 'name' : 'userKey']: userKey }),
      createdAt: new Date(fanOut.createdAt).toISOString(),
    },
  };
  return { to, event: JSON.stringify(event) };
};

/**
 * The event for a notice of a fan-out (T12, T13), if it has a destination. It is made from fields that never change
 * once they are stored, so that each copy is the same.
 */
export const eventOfNotice = (config: Config, fanOut: FanOut, notice: Notice): CallbackMessage | undefined => {
  const { id, total, userKey, createdAt, firstFailure, allSucceededAt } = fanOut;
  const to = destinationOf(config, fanOut, fanOut.ended);
  const at = notice === 'first-failure' ? firstFailure?.at : allSucceededAt;
  if (to === undefined || at === undefined) return undefined;
  const event = {
    ...attributesOf({
      id: `${id}.${createdAt}.${notice}`,
      of: 'fan-outs',
      type: `groupage.fan-out.${notice}`,
      subject: id,
      at,
    }),
    data: {
      id,
      ...(notice === 'first-failure' ? { item: firstFailure?.item } : { total, succeeded: total }),
      ...(userKey === undefined ? {} : { userKey }),
      createdAt: new Date(createdAt).toISOString(),
    },
  };
  return { to, event: JSON.stringify(event) };
};
