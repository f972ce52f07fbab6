/** `/v1/targets`: what waits where, who leads it; and flush. */
import { Hono } from 'hono';
import { COUNT_LIMIT, flush } from '../steps/lead/elect-leader.ts';
import { inFlightOf } from '../steps/slots/target-room.ts';
import type { ApiDeps } from './deps.ts';
import { badRequest, readObject, readTarget, readText, takesQuery, unknownFields } from './input.ts';
import { noSuchTarget } from './known-target.ts';
import { targetPage } from './target-pages.ts';
import { targetView } from './views.ts';

export const targetRoutes = (deps: ApiDeps): Hono => {
  const { locks, waiting, machine } = deps;
  const routes = new Hono();

  routes.get('/', takesQuery('operation', 'prefix', 'limit', 'cursor'), async (context) => {
    const { items, ...next } = await targetPage(deps, context, 50);
    const targets = await Promise.all(
      items.map(async (target) => {
        const [glance, count] = await Promise.all([locks.glance(target), waiting.count(target, COUNT_LIMIT)]);
        const inFlight = await inFlightOf(deps, target, glance.lock);
        return targetView(target, glance, inFlight, count, COUNT_LIMIT, machine.now());
      }),
    );
    return context.json({ targets, ...next });
  });

  routes.post('/flush', takesQuery(), async (context) => {
    const body = readObject(await readText(context));
    const unknown = unknownFields(body, ['target']);
    if (unknown.length > 0) throw badRequest(unknown);
    const target = readTarget(body.target);
    const count = await flush(deps, target);
    if (count === undefined) throw noSuchTarget(target);
    return context.json({ target, waiting: count }, 202);
  });

  return routes;
};
