/** `/v1/batches`: look up, list and complete. */
import { Hono } from 'hono';
import { type Batch, membersOf } from '../domain/batches/batch.ts';
import { operationNamed } from '../domain/config/resolved.ts';
import { isBatchId } from '../domain/ids.ts';
import { complete } from './complete.ts';
import type { ApiDeps } from './deps.ts';
import { readPaging, readTarget, readText, takesQuery } from './input.ts';
import { expectTarget } from './known-target.ts';
import { HttpProblem } from './problem.ts';
import { batchView } from './views.ts';

export const batchRoutes = (deps: ApiDeps): Hono => {
  const { batches, config } = deps;
  const routes = new Hono();
  const maxSizeOf = (operation: string) => operationNamed(config, operation)?.batch.maxSize;

  const lookUp = async (id: string): Promise<Batch> => {
    const batch = isBatchId(id) ? await batches.get(id) : undefined;
    if (batch) return batch;
    throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; its id has to be URL-encoded`);
  };

  routes.post('/:id{.+}/complete', takesQuery(), async (context) => {
    const batch = await lookUp(context.req.param('id'));
    await complete(deps, batch, await readText(context));
    return context.json({ id: batch.id }, 202);
  });

  // An id has slashes, and some gateways decode them.
  routes.get('/:id{.+}', takesQuery(), async (context) => {
    const batch = await lookUp(context.req.param('id'));
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
