/** `/v1/targets`: list and flush. */
import type { Hono } from 'hono';
import { flush } from '../../steps/lead/flush.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { noSuchTarget } from '../shared/known-target.ts';
import { listTargets } from './looked-up.ts';
import { TARGET_CALLS } from './requests.ts';

export const targetRoutes = (deps: ApiDeps): Hono =>
  serve(deps, TARGET_CALLS, {
    listTargets: async ({ context, query }) => context.json(await listTargets(deps, query())),

    flushTarget: async ({ context, body }) => {
      const { target } = await body();
      const count = await flush(deps, target);
      if (count === undefined) throw noSuchTarget(target);
      return context.json({ target, waiting: count }, 202);
    },
  });
