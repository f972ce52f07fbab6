/**
 * Reads and changes the share of destinations. If a read or a change fails, no event is lost: the destination is then
 * treated as calm.
 */

import { NEW_SHARE, type Share } from '../../domain/callbacks/share.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Shares } from '../../ports/callbacks.ts';
import type { Machine, Report } from '../../ports/machine.ts';

/** How long an execution environment reuses a share that it has read, in ms. */
const REMEMBERED: Millis = 1_000;
/** Time limit of a read or a change, in ms. It is much shorter than the function's time beyond its calls. */
const LIMIT: Millis = 3_000;
/** The largest number of tries for a change, if other invocations change the row at the same time. */
const TRIES = 5;

/** The result of a change. `unknown`: the row could not be read or written. */
type Changed = 'done' | 'refused' | 'unknown';

export interface Sharing {
  /** The stored share from an eventually consistent read, at most a second old. */
  look(): Promise<Share>;
  /** @param next returns the new share: the same object to change nothing, or undefined to refuse the change. */
  change(next: (share: Share) => Share | undefined): Promise<Changed>;
}

export const sharing = (
  { machine, report }: { readonly machine: Machine; readonly report: Report },
  shares: Shares,
): Sharing => {
  let seen: { readonly share: Promise<Share>; readonly at: Millis } | undefined;
  const remember = (share: Share): void => {
    seen = { share: Promise.resolve(share), at: machine.now() };
  };
  const unknown = (cause: unknown): void => report({ event: 'share-unknown', cause: String(cause) });

  const read = async (): Promise<Share> => {
    try {
      return await machine.within(LIMIT, () => shares.read('eventually'));
    } catch (cause) {
      unknown(cause);
      return NEW_SHARE;
    }
  };
  const look = (): Promise<Share> => {
    const now = machine.now();
    if (!seen || now >= seen.at + REMEMBERED || now < seen.at) seen = { share: read(), at: now };
    return seen.share;
  };
  const tryChange = async (next: (share: Share) => Share | undefined): Promise<Changed> => {
    for (let n = 0; n < TRIES; n += 1) {
      const share = await shares.read('now');
      const changed = next(share);
      if (changed === undefined) remember(share);
      if (changed === undefined) return 'refused';
      if (changed === share || (await shares.write(changed))) {
        remember(changed === share ? share : { ...changed, version: share.version + 1 });
        return 'done';
      }
      await machine.sleep(machine.random() * 50 * (n + 1));
    }
    return 'refused';
  };
  return {
    look,
    change: async (next) => {
      try {
        return await machine.within(LIMIT, () => tryChange(next));
      } catch (cause) {
        unknown(cause);
        return 'unknown';
      }
    },
  };
};
