/** `/v1/batches`: look up, list and complete. */
import type { Hono } from 'hono';
import { membersOf } from '../../domain/batches/batch.ts';
import { operationNamed } from '../../domain/config/resolved.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { badRequest, operationAsked } from '../shared/input.ts';
import { batchNamed } from '../shared/known-batch.ts';
import { expectTarget } from '../shared/known-target.ts';
import { complete } from './complete.ts';
import { type BatchesFound, newestIn, recentOf, underWayIn, underWayOf } from './recent.ts';
import { BATCH_CALLS, type BatchesAsked } from './requests.ts';
import { batchView, callsView } from './views.ts';

export const batchRoutes = (deps: ApiDeps): Hono => {
  const { config } = deps;
  const maxSizeOf = (operation: string) => operationNamed(config, operation)?.batch.maxSize;

  const list = async ({ target, operation, which, limit, cursor }: BatchesAsked): Promise<BatchesFound> => {
    if (target === undefined) {
      if (which === 'recent') return recentOf(deps, operation, limit, cursor);
      if (operation === undefined) throw badRequest([{ path: 'operation', reason: OPERATION_REQUIRED }]);
      return underWayOf(deps, operationAsked(config, operation), limit, cursor);
    }
    if (operation !== undefined) throw badRequest([{ path: 'operation', reason: 'is not allowed beside `target`' }]);
    const found = await (which === 'under-way' ? underWayIn : newestIn)(deps, target, limit, cursor);
    if (found.batches.length === 0 && cursor === undefined) await expectTarget(deps, target);
    return found;
  };

  return serve(deps, BATCH_CALLS, {
    listBatches: async ({ context, query }) => {
      const { batches: found, ...rest } = await list(query());
      return context.json({ batches: found.map((batch) => batchView(batch, maxSizeOf(batch.operation))), ...rest });
    },

    getBatch: async ({ context, part }) => {
      const batch = await batchNamed(deps, part('id'));
      const view = batchView(batch, maxSizeOf(batch.operation));
      return context.json({ ...view, ...callsView(batch), members: membersOf(batch) });
    },

    completeBatch: async ({ context, part, text }) => {
      const batch = await batchNamed(deps, part('id'));
      await complete(deps, batch, await text());
      return context.json({ id: batch.id }, 202);
    },
  });
};

const OPERATION_REQUIRED = 'is required with `which=under-way`, unless there is a `target`';
