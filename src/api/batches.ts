/** `/v1/batches`: look up and list. */
import { Hono } from 'hono';
import { membersOf } from '../batching/batch.ts';
import { isBatchId } from '../batching/ids.ts';
import { operationNamed } from '../config/resolved.ts';
import type { ApiDeps } from './deps.ts';
import { readPaging, readTarget, takesQuery } from './input.ts';
import { expectTarget } from './known-target.ts';
import { HttpProblem } from './problem.ts';
import { batchView } from './views.ts';

export const batchRoutes = (deps: ApiDeps): Hono => {
  const { batches, config } = deps;
  const routes = new Hono();
  const maxSizeOf = (operation: string) => operationNamed(config, operation)?.batch.maxSize;

  // An id has slashes, and some gateways decode them.
  routes.get('/:id{.+}', takesQuery(), async (context) => {
    const id = context.req.param('id');
    const batch = isBatchId(id) ? await batches.get(id) : undefined;
    if (!batch)
      throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; its id has to be URL-encoded`);
    return context.json({ ...batchView(batch, maxSizeOf(batch.operation)), members: membersOf(batch) });
  });

  routes.get('/', takesQuery('target', 'limit', 'cursor'), async (context) => {
    const target = readTarget(context.req.query('target'));
    const { limit, cursor } = readPaging(context, 100, 20);
    const page = await batches.ofTarget(target, limit, cursor);
    if (page.items.length === 0 && cursor === undefined) await expectTarget(deps, target);
    const found = await Promise.all(page.items.map((id) => batches.get(id)));
    const views = found.flatMap((batch) => (batch ? [batchView(batch, maxSizeOf(batch.operation))] : []));
    return context.json({ batches: views, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) });
  });

  return routes;
};
