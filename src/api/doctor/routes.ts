/** `/v1/doctor`: finds what is stuck, page by page. GET only checks, POST repairs too. */
import type { Context, Hono } from 'hono';
import { NEW_SHARE } from '../../domain/callbacks/share.ts';
import { UnknownOperation } from '../../domain/config/resolved.ts';
import { type Looked, lookAtBatches, lookAtTargets, repairAll } from '../../steps/repair/repair.ts';
import { pauseView } from '../operations/views.ts';
import { type ApiRequest, serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { targetPage } from '../targets/pages.ts';
import { removedOperations } from './removed.ts';
import { DOCTOR_CALLS } from './requests.ts';
import type { PausedTarget } from './responses.ts';
import { destinationView, findingView, skippedView, treatedView } from './views.ts';

export const doctorRoutes = (deps: ApiDeps): Hono => {
  const targets: Of<'examineTargets' | 'repairTargets'> = async ({ context, query, body }) => {
    await body();
    const { items, ...next } = await targetPage(deps, query());
    const paused: PausedTarget[] = [];
    // The lock row is read anyway, so the pauses cost no reads.
    const looked = await lookAtTargets(deps, items, undefined, (target, { lock }) => {
      if (lock.paused) paused.push({ target, paused: pauseView(lock.paused) });
    });
    return context.json({ targets: items, paused, ...(await answered(deps, context, looked)), ...next });
  };
  const batches: Of<'examineBatches' | 'repairBatches'> = async ({ context, query, body }) => {
    await body();
    const { target, limit, cursor } = query();
    const { batches, findings, skipped, ...next } = await lookAtBatches(deps, target, limit, cursor);
    return context.json({ batches, ...(await answered(deps, context, { findings, skipped })), ...next });
  };
  const destinations: Of<'examineDestinations'> = async ({ context }) => {
    const { config, machine, shares } = deps;
    const names = Object.keys(config.destinations);
    const share = names.length > 0 ? await shares.read('eventually') : NEW_SHARE;
    return context.json({ destinations: names.map((name) => destinationView(share, name, machine.now())) });
  };
  return serve(deps, DOCTOR_CALLS, {
    examineDestinations: destinations,
    examineRemoved: async ({ context, query }) => context.json(await removedOperations(deps, query().cursor)),
    examineTargets: targets,
    repairTargets: targets,
    examineBatches: batches,
    repairBatches: batches,
  });
};

type Of<Name extends keyof typeof DOCTOR_CALLS> = (asked: ApiRequest<(typeof DOCTOR_CALLS)[Name]>) => Promise<Response>;

/**
 * Returns the findings and the Targets or batches that could not be checked. For a POST, it first repairs the findings.
 */
const answered = async (deps: ApiDeps, { req }: Context, { findings, skipped }: Looked) => {
  const treated = req.method === 'POST' ? await repairAll(deps, findings) : undefined;
  // The answer describes an unknown operation fully. All other errors are also logged with their stack.
  for (const each of [...skipped, ...(treated ?? [])])
    if ('cause' in each && !(each.cause instanceof UnknownOperation)) deps.onError(each.cause);
  return {
    findings: treated ? treated.map(treatedView) : findings.map(findingView),
    skipped: skipped.map(skippedView),
  };
};
