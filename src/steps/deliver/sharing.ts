/** Looks at the share of destinations, and changes it. What fails here costs no event: the destination is then called as if calm. */

import { NEW_SHARE, type Share } from '../../domain/callbacks/share.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Shares } from '../../ports/callbacks.ts';
import type { Machine, Report } from '../../ports/machine.ts';

/** For how long an instance of the function takes a share that it has read for the stored one. */
const REMEMBERED: Millis = 1_000;
/** How long one look, or one change, may take: much less than what the function has beside its calls. */
const LIMIT: Millis = 3_000;
/** How often a change is tried where others change the row, too. */
const TRIES = 5;

/** What became of a change: `unknown` where the row could not be read or written. */
type Changed = 'done' | 'refused' | 'unknown';

export interface Sharing {
  /** About what is stored: at most a second old, and an eventually consistent read. */
  look(): Promise<Share>;
  /** @param next the share as it should be: the same one where nothing changes, undefined where the change is refused. */
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
