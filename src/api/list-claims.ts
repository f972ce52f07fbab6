/** `/v1/lists/ID/claims`: workers that pull get jobs, renew, and say how they ended or that they give them back. */
import { Hono } from 'hono';
import { type ClaimId, type ListId, parseHandle } from '../domain/lists/ids.ts';
import { type Claimed, claimJobs, complete, type Held, release, renew } from '../steps/lists/claim.ts';
import type { ApiDeps } from './deps.ts';
import { JSON_TYPE, readText, refuseBody, takesQuery } from './input.ts';
import { iso } from './iso.ts';
import { listNamed, unknownList } from './known-list.ts';
import { readClaim, readCompletion, readRenewal } from './list-claim-input.ts';
import { printJob } from './list-views.ts';
import { HttpProblem } from './problem.ts';

/** Mounted under a list: its id is a parameter of the path. */
export const listClaimRoutes = (deps: ApiDeps): Hono => {
  const routes = new Hono();

  routes.post('/:id/claims', takesQuery(), async (context) => {
    const { claim = deps.newId() as ClaimId, ...wanted } = readClaim(await readText(context));
    const id = listNamed(context.req.param('id'));
    const claimed = await claimJobs(deps, id, { claim, ...wanted });
    return context.body(await printClaimed(deps, id, claimed), 200, JSON_TYPE);
  });

  routes.put('/:id/claims/:claim', takesQuery(), async (context) => {
    const span = readRenewal(await readText(context));
    const { id, held } = claimIn(context.req.param());
    const renewed = await renew(deps, id, held, span);
    if (renewed.kind === 'renewed') return context.json({ expiresAt: iso(renewed.until) });
    throw await notHeld(deps, id, held, renewed);
  });

  routes.post('/:id/claims/:claim/complete', takesQuery(), async (context) => {
    const { id, held } = claimIn(context.req.param());
    const completion = readCompletion(await readText(context), held.range);
    const completed = await complete(deps, id, held, completion);
    if (completed.kind === 'done') return context.json({ complete: completed.complete });
    throw await notHeld(deps, id, held, completed);
  });

  routes.post('/:id/claims/:claim/release', takesQuery(), async (context) => {
    await refuseBody(context);
    const { id, held } = claimIn(context.req.param());
    const released = await release(deps, id, held);
    if (released.kind === 'unknown') throw await unknownList(deps, id);
    return context.json({ released: released.count });
  });

  return routes;
};

/** @throws HttpProblem */
const printClaimed = async (deps: ApiDeps, id: ListId, claimed: Claimed): Promise<string> => {
  switch (claimed.kind) {
    case 'claimed': {
      const { handle, jobs, until } = claimed;
      return `{"claimId":"${handle}","jobs":[${jobs.map(printJob).join(',')}],"expiresAt":"${iso(until)}"}`;
    }
    case 'none':
      return JSON.stringify({ jobs: [], status: claimed.status });
    case 'closed':
      if (claimed.status === 'expired') throw await unknownList(deps, id);
      throw new HttpProblem(409, `list ${id} is ${claimed.status}: its jobs are not handed out any more`);
    case 'unknown':
      throw await unknownList(deps, id);
  }
};

/** The list of a path, and its claim as a handle names it. @throws HttpProblem */
const claimIn = ({
  id: name = '',
  claim = '',
}: Partial<Record<string, string>>): { readonly id: ListId; readonly held: Held } => {
  const id = listNamed(name);
  const held = parseHandle(id, claim);
  if (held === 'of-another-list') throw new HttpProblem(409, `the claim is of another list than ${id}`);
  if (held === 'no-handle')
    throw new HttpProblem(
      404,
      `there is no claim ${JSON.stringify(claim.slice(0, 200))}: it is named as the call that claimed answered it (claimId)`,
    );
  return { id, held };
};

const notHeld = async (
  deps: ApiDeps,
  id: ListId,
  { claim }: Held,
  { kind }: { readonly kind: 'lost' | 'unknown' },
): Promise<HttpProblem> =>
  kind === 'unknown'
    ? unknownList(deps, id)
    : new HttpProblem(
        409,
        `claim ${claim} does not have these jobs of list ${id} (any more): they were given back, are done, or were claimed by others once its lease had ended`,
      );
