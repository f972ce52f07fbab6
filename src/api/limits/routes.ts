/** `/v1/limits`: the configured limits, with the use and the queue of their buckets. */
import type { Hono } from 'hono';
import pLimit from 'p-limit';
import type { LimitName } from '../../domain/ids.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { allLimits, allowedIn, limitNamed } from '../../domain/limits/limits.ts';
import { ungranted, withoutRepeats } from '../../domain/limits/queue.ts';
import { rowsOf } from '../../steps/limits/plan.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { LIMIT_CALLS } from './requests.ts';
import type { LimitBucket } from './responses.ts';
import { bucketView, limitView, WAITING_COUNTED } from './views.ts';

/** Buckets that are read at once. */
const AT_ONCE = 20;
/** Rows that are read of a queue. Some may be further rows of the same call. */
const WAITING_READ = 2 * WAITING_COUNTED;

export const limitRoutes = (deps: ApiDeps): Hono => {
  const { config, buckets } = deps;
  return serve(deps, LIMIT_CALLS, {
    listLimits: async ({ context }) =>
      context.json({ limits: allLimits(config).map(([name, limit]) => limitView(config, name, limit)) }),

    getLimit: async ({ context, part, query }) => {
      const name = part('name') as LimitName;
      const limit = limitNamed(config, name);
      if (!limit) throw noSuchLimit(part('name'));
      const { key, limit: most, cursor } = query();
      const { items, ...next } = await buckets.list(name, most, cursor, key || undefined);
      const shown = await pLimit(AT_ONCE).map(items, (id) => look(deps, id));
      return context.json({ ...limitView(config, name, limit), buckets: shown.flat(), ...next });
    },
  });
};

/** The state of a bucket. Empty if the limit has changed, so that the bucket is used no more. */
const look = async (deps: ApiDeps, id: BucketId): Promise<readonly LimitBucket[]> => {
  const { config, buckets } = deps;
  const counted = allowedIn(config, id);
  if (!counted) return [];
  const bucket = await buckets.read(id);
  const waiting = withoutRepeats(await rowsOf(deps, id, bucket, ungranted, WAITING_READ)).slice(0, WAITING_COUNTED);
  return [bucketView(config, counted, bucket, waiting, buckets.now())];
};

const noSuchLimit = (name: string): HttpProblem =>
  new HttpProblem(
    404,
    `the limit ${JSON.stringify(name.slice(0, 200))} is not configured: GET /v1/limits lists the limits`,
  );
