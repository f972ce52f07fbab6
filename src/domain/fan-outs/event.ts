/** How a fan-out ended, as a CloudEvent (1.0, in JSON). Pure. */
import type { CallbackMessage } from '../callbacks/callback.ts';
import { attributesOf } from '../callbacks/event.ts';
import type { Config } from '../config/resolved.ts';
import { isNumbered, ownerOf } from '../fan-out-ids.ts';
import type { Ended, FanOut } from './fan-out.ts';

/**
 * The destination that is told: its own, or the configured one; nobody where there is none, or somebody ended it
 * himself.
 */
const destinationOf = ({ fanOuts, lists }: Config, { id, callback }: FanOut, { because }: Ended): string | undefined =>
  because === 'deleted' || because === 'cancelled'
    ? undefined
    : (callback ?? (isNumbered(id) ? lists : fanOuts).callback ?? undefined);

/** How a fan-out that has ended is counted: of one that ended before all were done the rest is not known. */
export const countsAtEnd = (total: number, { because, failed }: Ended) =>
  because === 'all-done' ? { succeeded: total - failed, failed } : { failed };

/** The event of a fan-out's end, if somebody wants to know. There is one end, and so one event and one id. */
export const eventOfEnd = (
  config: Config,
  fanOut: FanOut,
  status: 'complete' | 'expired' | 'cancelled',
  ended: Ended,
): CallbackMessage | undefined => {
  const to = destinationOf(config, fanOut, ended);
  if (to === undefined) return undefined;
  const { total, userKey } = fanOut;
  // A deferred list is told of under its own name, which is what its tracker is called after.
  const [id, kind] = isNumbered(fanOut.id) ? [ownerOf(fanOut.id), 'list' as const] : [fanOut.id, 'fan-out' as const];
  const type = status === 'complete' ? 'completed' : 'expired';
  const event = {
    ...attributesOf({
      // With the moment of its opening: an id may be given to another fan-out once this one is forgotten.
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
