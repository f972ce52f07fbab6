/** `/v1/batches`: look up, list and complete. */
import type { Hono } from 'hono';
import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { operationNamed } from '../../domain/config/resolved.ts';
import { isBatchId } from '../../domain/ids.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest, operationAsked } from '../shared/input.ts';
import { expectTarget } from '../shared/known-target.ts';
import { HttpProblem } from '../shared/problem.ts';
import { complete } from './complete.ts';
import { type BatchesFound, recentOf, stored, underWayIn, underWayOf } from './recent.ts';
import { BATCH_CALLS, type BatchesAsked } from './requests.ts';
import { batchView, callsView } from './views.ts';

export const batchRoutes = (deps: ApiDeps): Hono => {
  const { batches, config } = deps;
  const maxSizeOf = (operation: string) => operationNamed(config, operation)?.batch.maxSize;

  const lookUp = async (id: string): Promise<Batch> => {
    const batch = isBatchId(id) ? await batches.get(id) : undefined;
    if (batch) return batch;
    throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; URL-encode the id`);
  };

  const list = async ({ target, operation, which, limit, cursor }: BatchesAsked): Promise<BatchesFound> => {
    if (target === undefined) {
      if (which === 'recent') return recentOf(deps, operation, limit, cursor);
      if (operation === undefined) throw badRequest([{ path: 'operation', reason: OPERATION_REQUIRED }]);
      return underWayOf(deps, operationAsked(config, operation), limit, cursor);
    }
    if (operation !== undefined) throw badRequest([{ path: 'operation', reason: 'is not allowed beside `target`' }]);
    if (which === 'under-way') {
      const found = await underWayIn(deps, target, limit, cursor);
      if (found.batches.length === 0 && cursor === undefined) await expectTarget(deps, target);
      return found;
    }
    const { items, ...next } = await batches.ofTarget(target, limit, cursor);
    if (items.length === 0 && cursor === undefined) await expectTarget(deps, target);
    return { batches: await stored(deps, items), ...next };
  };

  return serve(deps, BATCH_CALLS, {
    listBatches: async ({ context, query }) => {
      const { batches: found, ...rest } = await list(query());
      return context.json({ batches: found.map((batch) => batchView(batch, maxSizeOf(batch.operation))), ...rest });
    },

    getBatch: async ({ context, part }) => {
      const batch = await lookUp(part('id'));
      const view = batchView(batch, maxSizeOf(batch.operation));
      return context.json({ ...view, ...callsView(batch), members: membersOf(batch) });
    },

    completeBatch: async ({ context, part, text }) => {
      const batch = await lookUp(part('id'));
      await complete(deps, batch, await text());
      return context.json({ id: batch.id }, 202);
    },
  });
};

const OPERATION_REQUIRED = 'is required with `which=under-way`, unless there is a `target`';
