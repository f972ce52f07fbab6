/** `/v1/batches`: look up, list and complete. */
import type { Hono } from 'hono';
import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { operationNamed } from '../../domain/config/resolved.ts';
import { isBatchId } from '../../domain/ids.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { expectTarget } from '../shared/known-target.ts';
import { HttpProblem } from '../shared/problem.ts';
import { complete } from './complete.ts';
import { BATCH_CALLS } from './requests.ts';
import { batchView } from './views.ts';

export const batchRoutes = (deps: ApiDeps): Hono => {
  const { batches, config } = deps;
  const maxSizeOf = (operation: string) => operationNamed(config, operation)?.batch.maxSize;

  const lookUp = async (id: string): Promise<Batch> => {
    const batch = isBatchId(id) ? await batches.get(id) : undefined;
    if (batch) return batch;
    throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; URL-encode the id`);
  };

  return serve(deps, BATCH_CALLS, {
    listBatches: async ({ context, query }) => {
      const { target, limit, cursor } = query();
      const page = await batches.ofTarget(target, limit, cursor);
      if (page.items.length === 0 && cursor === undefined) await expectTarget(deps, target);
      const found = await Promise.all(page.items.map((id) => batches.get(id)));
      const views = found.flatMap((batch) => (batch ? [batchView(batch, maxSizeOf(batch.operation))] : []));
      return context.json({ batches: views, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) });
    },

    getBatch: async ({ context, part }) => {
      const batch = await lookUp(part('id'));
      return context.json({ ...batchView(batch, maxSizeOf(batch.operation)), members: membersOf(batch) });
    },

    completeBatch: async ({ context, part, text }) => {
      const batch = await lookUp(part('id'));
      await complete(deps, batch, await text());
      return context.json({ id: batch.id }, 202);
    },
  });
};
