/** A fan-out as the HTTP API shows it. */
import type { FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { Progress } from '../../steps/fan-outs/progress.ts';
import { iso } from '../shared/iso.ts';

/** @param progress the counts of items. Pages of fan-outs leave the counts out. */
export const fanOutView = (fanOut: FanOut, { isAtLeast, ...counts }: Partial<Progress> = {}) => {
  const { id, status, total, userKey, callback, failFast, createdAt, ended } = fanOut;
  const { notifyFirstFailure, firstFailure, allSucceededAt } = fanOut;
  return {
    id,
    status,
    total,
    ...counts,
    ...(isAtLeast ? { countsAreAtLeast: true } : {}),
    ...(userKey === undefined ? {} : { userKey }),
    ...(callback === undefined ? {} : { callback }),
    ...(failFast === undefined ? {} : { failFast }),
    ...(notifyFirstFailure ? { notifyFirstFailure } : {}),
    ...(firstFailure ? { firstFailure: firstFailure.item } : {}),
    ...(allSucceededAt === undefined ? {} : { allSucceededAt: iso(allSucceededAt) }),
    ...(ended ? { because: ended.because } : {}),
    createdAt: iso(createdAt),
    ...(ended ? { endedAt: iso(ended.at) } : {}),
  };
};
