/** `/v1/targets`: list and flush. */
import type { Hono } from 'hono';
import { COUNT_LIMIT, flush } from '../../steps/lead/flush.ts';
import { inFlightOf } from '../../steps/slots/target-slots.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { noSuchTarget } from '../shared/known-target.ts';
import { targetPage } from './pages.ts';
import { TARGET_CALLS } from './requests.ts';
import { targetView } from './views.ts';

export const targetRoutes = (deps: ApiDeps): Hono => {
  const { locks, waiting, machine } = deps;
  return serve(deps, TARGET_CALLS, {
    listTargets: async ({ context, query }) => {
      const { items, ...next } = await targetPage(deps, query());
      const targets = await Promise.all(
        items.map(async (target) => {
          const [lockView, count] = await Promise.all([
            locks.readEventually(target),
            waiting.count(target, COUNT_LIMIT),
          ]);
          const inFlight = await inFlightOf(deps, target, lockView.lock);
          return targetView(target, lockView, inFlight, count, COUNT_LIMIT, machine.now());
        }),
      );
      return context.json({ targets, ...next });
    },

    flushTarget: async ({ context, body }) => {
      const { target } = await body();
      const count = await flush(deps, target);
      if (count === undefined) throw noSuchTarget(target);
      return context.json({ target, waiting: count }, 202);
    },
  });
};
