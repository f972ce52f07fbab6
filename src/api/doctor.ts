/** `/v1/doctor`: what is stuck, page by page. GET looks, POST repairs what it finds. */
import { type Context, Hono } from 'hono';
import { UnknownOperation } from '../domain/config/resolved.ts';
import { type Looked, lookAtBatches, lookAtTargets, repairAll } from '../steps/repair/repair.ts';
import type { ApiDeps } from './deps.ts';
import { readPaging, readTarget, refuseBody, takesQuery } from './input.ts';
import { targetPage } from './target-pages.ts';
import { findingView, skippedView, treatedView } from './views.ts';

/** What one request looks at, unless it says otherwise: each is a read or two. */
const PAGE = 100;

export const doctorRoutes = (deps: ApiDeps): Hono => {
  const routes = new Hono();

  routes.on(['GET', 'POST'], '/targets', takesQuery('operation', 'limit', 'cursor'), async (context) => {
    await refuseBody(context);
    const { items: targets, ...next } = await targetPage(deps, context, PAGE);
    const looked = await lookAtTargets(deps, targets);
    return context.json({ targets, ...(await answered(deps, context, looked)), ...next });
  });

  routes.on(['GET', 'POST'], '/batches', takesQuery('target', 'limit', 'cursor'), async (context) => {
    await refuseBody(context);
    const target = readTarget(context.req.query('target'));
    const { limit, cursor } = readPaging(context, 100, PAGE);
    const { batches, findings, skipped, ...next } = await lookAtBatches(deps, target, limit, cursor);
    return context.json({ batches, ...(await answered(deps, context, { findings, skipped })), ...next });
  });

  return routes;
};

/** What was found, repaired if that was asked for, and what could not be looked at. */
const answered = async (deps: ApiDeps, { req }: Context, { findings, skipped }: Looked) => {
  const treated = req.method === 'POST' ? await repairAll(deps, findings) : undefined;
  // A refusal is all that there is to say; of anything else the log says more.
  for (const each of [...skipped, ...(treated ?? [])])
    if ('cause' in each && !(each.cause instanceof UnknownOperation)) deps.onError(each.cause);
  return {
    findings: treated ? treated.map(treatedView) : findings.map(findingView),
    skipped: skipped.map(skippedView),
  };
};
