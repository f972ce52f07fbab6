/** Limits and their buckets as the HTTP API shows them. */
import type { Limit } from '../../domain/config/limits.ts';
import type { Config } from '../../domain/config/resolved.ts';
import type { LimitName, Millis } from '../../domain/ids.ts';
import { type Bucket, chanceIn, hasLeases, underWay } from '../../domain/limits/bucket.ts';
import { type Counted, labelOf, usersOf } from '../../domain/limits/limits.ts';
import { plannedIn, startedIn } from '../../domain/limits/line.ts';
import type { WaitingCall } from '../../domain/limits/queue.ts';
import { SECOND } from '../../domain/timings.ts';
import { iso } from '../shared/iso.ts';
import type { LimitBucket, Limit as LimitShown } from './responses.ts';

/** How many waiting calls are counted, and how many of them are listed. */
export const [WAITING_COUNTED, NEXT_SHOWN] = [100, 10];

export const limitView = (config: Pick<Config, 'operations'>, name: LimitName, limit: Limit): LimitShown => {
  const { calls, weight, per, burst, key, concurrency } = limit;
  return {
    limit: name,
    operations: [...usersOf(config, name)],
    ...(calls === null ? {} : { calls }),
    ...(weight === null ? {} : { weight }),
    perSeconds: per / SECOND,
    burst,
    ...(key === null ? {} : { key: key === 'target' ? key : [...key] }),
    ...(hasLeases(limit)
      ? {
          concurrency: {
            ...(concurrency.calls === null ? {} : { calls: concurrency.calls }),
            ...(concurrency.weight === null ? {} : { weight: concurrency.weight }),
          },
        }
      : {}),
  };
};

/** @param waiting waiting calls, the next first, at most {@link WAITING_COUNTED}. */
export const bucketView = (
  config: Pick<Config, 'limits' | 'operations'>,
  { bucket: id, name, allows }: Counted,
  bucket: Bucket,
  waiting: readonly WaitingCall[],
  now: Millis,
): LimitBucket => {
  const started = startedIn(bucket.line, allows, now);
  const { calls, weight, concurrency } = allows;
  const inProgress = underWay(bucket, now);
  const planned = plannedIn(bucket.line, allows, now);
  const chance = chanceIn(bucket, { bucket: id, allows, weight: waiting[0]?.weight ?? 1 }, now);
  return {
    ...labelOf(config, name, id),
    ...(chance.is === 'full' ? {} : { nextAt: iso(Math.ceil(chance.at)) }),
    ...(started && calls !== null ? { calls: { used: started.calls, allowed: calls } } : {}),
    ...(started && weight !== null ? { weight: { used: started.weight, allowed: weight } } : {}),
    ...(concurrency.calls === null ? {} : { inProgress: { used: inProgress.calls, allowed: concurrency.calls } }),
    ...(concurrency.weight === null
      ? {}
      : { weightInProgress: { used: inProgress.weight, allowed: concurrency.weight } }),
    ...(planned ? { planned: planned.calls } : {}),
    waiting: waiting.length,
    ...(waiting.length === WAITING_COUNTED ? { waitingIsAtLeast: true } : {}),
    next: waiting.slice(0, NEXT_SHOWN).map((row) => ({
      target: row.target,
      ...(row.batch ? { batchId: row.batch.id } : {}),
      since: iso(row.since),
      weight: row.weight,
    })),
  };
};
