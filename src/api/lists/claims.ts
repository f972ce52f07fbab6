/** `/v1/lists/ID/claims`: workers claim jobs, renew the lease, report outcomes, and release jobs. */
import type { Hono } from 'hono';
import { type ClaimId, type ListId, parseHandle } from '../../domain/lists/ids.ts';
import { SECOND } from '../../domain/timings.ts';
import { type Claimed, claimJobs, complete, type Held, release, renew } from '../../steps/lists/claim.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { JSON_TYPE } from '../shared/input.ts';
import { iso } from '../shared/iso.ts';
import { HttpProblem } from '../shared/problem.ts';
import { CLAIM_CALLS, readCompletion } from './claim-requests.ts';
import { listNamed, unknownList } from './known-list.ts';
import { printJob } from './views.ts';

export const listClaimRoutes = (deps: ApiDeps): Hono =>
  serve(deps, CLAIM_CALLS, {
    claimJobs: async ({ context, part, body }) => {
      const { count, leaseSeconds, claimId: claim = deps.newId() as ClaimId } = await body();
      const id = listNamed(part('id'));
      const claimed = await claimJobs(deps, id, { count, lease: leaseSeconds * SECOND, claim });
      return context.body(await printClaimed(deps, id, claimed), 200, JSON_TYPE);
    },

    renewClaim: async ({ context, part, body }) => {
      const { leaseSeconds } = await body();
      const { id, held } = claimIn(part('id'), part('claim'));
      const renewed = await renew(deps, id, held, leaseSeconds * SECOND);
      if (renewed.kind === 'renewed') return context.json({ expiresAt: iso(renewed.until) });
      throw await notHeld(deps, id, held, renewed);
    },

    completeClaim: async ({ context, part, text }) => {
      const { id, held } = claimIn(part('id'), part('claim'));
      const completed = await complete(deps, id, held, readCompletion(await text(), held.range));
      if (completed.kind === 'done') return context.json({ complete: completed.complete });
      throw await notHeld(deps, id, held, completed);
    },

    releaseClaim: async ({ context, part, body }) => {
      await body();
      const { id, held } = claimIn(part('id'), part('claim'));
      const released = await release(deps, id, held);
      if (released.kind === 'unknown') throw await unknownList(deps, id);
      return context.json({ released: released.count });
    },
  });

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
      throw new HttpProblem(409, `list ${id} is ${claimed.status}: its jobs can no longer be claimed`);
    case 'unknown':
      throw await unknownList(deps, id);
  }
};

/** Reads the list's id and the claim's handle from a path. @throws HttpProblem */
const claimIn = (name: string, claim: string): { readonly id: ListId; readonly held: Held } => {
  const id = listNamed(name);
  const held = parseHandle(id, claim);
  if (held === 'of-another-list') throw new HttpProblem(409, `the claim belongs to another list than ${id}`);
  if (held === 'no-handle')
    throw new HttpProblem(
      404,
      `there is no claim ${JSON.stringify(claim.slice(0, 200))}: use the claimId from the answer of the claim`,
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
        `claim ${claim} no longer has these jobs of list ${id}: they were released, have ended, or were claimed by another worker after its lease ended`,
      );
