/** `/v1/doctor`: what is stuck, page by page. GET looks, POST repairs what it finds. */
import { type Context, Hono } from 'hono';
import type { Finding } from '../batching/findings.ts';
import { lookAtBatches, lookAtTarget, repair } from '../batching/repair.ts';
import type { ApiDeps } from './deps.ts';
import { readPaging, readTarget } from './input.ts';
import { targetPage } from './target-pages.ts';
import { findingView, repairView } from './views.ts';

/** What one request looks at, unless it says otherwise: each is a read or two. */
const PAGE = 100;

export const doctorRoutes = (deps: ApiDeps): Hono => {
  const routes = new Hono();
  const treated = async (context: Context, findings: readonly Finding[]) =>
    context.req.method === 'POST'
      ? Promise.all(findings.map(async (each) => findingView(each, repairView(await repair(deps, each)))))
      : findings.map((each) => findingView(each));

  routes.on(['GET', 'POST'], '/targets', async (context) => {
    const { items: targets, ...next } = await targetPage(deps, context, PAGE);
    const looks = await Promise.all(targets.map((target) => lookAtTarget(deps, target, deps.machine.now())));
    const findings = await treated(
      context,
      looks.filter((finding) => finding !== undefined),
    );
    return context.json({ targets, findings, ...next });
  });

  routes.on(['GET', 'POST'], '/batches', async (context) => {
    const target = readTarget(context.req.query('target'));
    const { limit, cursor } = readPaging(context, 100, PAGE);
    const { items, looked, ...next } = await lookAtBatches(deps, target, limit, cursor);
    return context.json({ batches: looked, findings: await treated(context, items), ...next });
  });

  return routes;
};
