/** `/v1/lists/ID/claims`: workers claim jobs, renew the lease, report outcomes, and release jobs; people end claims. */
import type { Hono } from 'hono';
import { type ClaimId, claimId, claimKey, type ListId, parseHandle, type Range } from '../../domain/lists/ids.ts';
import { freeAfter } from '../../domain/lists/list.ts';
import { SECOND } from '../../domain/timings.ts';
import { type Claimed, claimJobs } from '../../steps/lists/claim.ts';
import { listedClaims } from '../../steps/lists/claims.ts';
import { complete } from '../../steps/lists/complete.ts';
import { findClaim, type Named, namedBy } from '../../steps/lists/held.ts';
import { breakClaim, release } from '../../steps/lists/release.ts';
import { renew } from '../../steps/lists/renew.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { JSON_TYPE } from '../shared/input.ts';
import { iso } from '../shared/iso.ts';
import { HttpProblem } from '../shared/problem.ts';
import { CLAIM_CALLS, readAttempted, readCompletion } from './claim-requests.ts';
import { listNamed, lookUp, unknownList } from './known-list.ts';
import { claimView, printClaimedJob } from './views.ts';

export const listClaimRoutes = (deps: ApiDeps): Hono =>
  serve(deps, CLAIM_CALLS, {
    claimJobs: async ({ context, part, body }) => {
      const { count, leaseSeconds, claimId: text, holder } = await body();
      const id = listNamed(part('id'));
      const claim = text === undefined ? (deps.newId() as ClaimId) : claimIdIn(id, text);
      const asked = { count, lease: leaseSeconds * SECOND, claim, ...(holder === undefined ? {} : { holder }) };
      return context.body(await printClaimed(deps, id, await claimJobs(deps, id, asked)), 200, JSON_TYPE);
    },

    listClaims: async ({ context, part }) => {
      const list = await lookUp(deps, listNamed(part('id')));
      const claims = await listedClaims(deps, list);
      return context.json({ claims: claims.map((claim) => claimView(claim, deps.machine.now())) });
    },

    breakClaim: async ({ context, part, body }) => {
      await body();
      const { id, name } = await claimIn(deps, part('id'), part('claim'));
      // A handle names the ranges that the claim had; whatever the claim has now is ended.
      const broken = await breakClaim(deps, id, { key: name.key });
      if (broken.kind === 'unknown') throw await unknownList(deps, id);
      if (broken.kind === 'none') throw noSuchClaim(id, part('claim'));
      return context.json({ claim: broken.key, released: broken.count });
    },

    renewClaim: async ({ context, part, body }) => {
      const { leaseSeconds } = await body();
      const { id, name } = await claimIn(deps, part('id'), part('claim'));
      const renewed = await renew(deps, id, name, leaseSeconds * SECOND);
      if (renewed.kind === 'renewed') return context.json(endView(renewed.until));
      throw await notHeld(deps, id, part('claim'), renewed);
    },

    completeClaim: async ({ context, part, text }) => {
      const { id, name, jobs } = await claimIn(deps, part('id'), part('claim'));
      const completed = await complete(deps, id, name, readCompletion(await text(), jobs));
      if (completed.kind === 'done') return context.json({ complete: completed.complete });
      throw await notHeld(deps, id, part('claim'), completed);
    },

    releaseClaim: async ({ context, part, text }) => {
      const { id, name, jobs } = await claimIn(deps, part('id'), part('claim'));
      const released = await release(deps, id, name, readAttempted(await text(), jobs));
      if (released.kind === 'unknown') throw await unknownList(deps, id);
      const { count, failed, complete: isComplete } = released;
      return context.json({ released: count, failed, complete: isComplete });
    },
  });

const endView = (until: number) => ({ expiresAt: iso(until), availableAgainAt: iso(freeAfter(until)) });

/** @throws HttpProblem */
const printClaimed = async (deps: ApiDeps, id: ListId, claimed: Claimed): Promise<string> => {
  switch (claimed.kind) {
    case 'claimed': {
      const { handle, jobs, until } = claimed;
      const { expiresAt, availableAgainAt } = endView(until);
      return `{"claimId":"${handle}","jobs":[${jobs.map(printClaimedJob).join(',')}],"expiresAt":"${expiresAt}","availableAgainAt":"${availableAgainAt}"}`;
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

/** The claim's id in a request: as the worker chose it, or as an answer contained it. @throws HttpProblem */
const claimIdIn = (id: ListId, text: string): ClaimId => {
  const handle = parseHandle(id, text);
  if (handle === 'of-another-list') throw ofAnotherList(id);
  const claim = handle === 'no-handle' ? claimId(text) : handle.claim;
  if (claim === undefined) throw noSuchClaim(id, text);
  return claim;
};

/** The claims that a text may name. @throws HttpProblem */
const namesIn = (id: ListId, text: string): readonly Named[] => {
  const handle = parseHandle(id, text);
  if (handle === 'of-another-list') throw ofAnotherList(id);
  if (handle !== 'no-handle') return [namedBy(handle)];
  const [key, claim] = [claimKey(text), claimId(text)];
  // The id of a worker's own claim comes first: it may look like the name of another claim.
  return [...(claim === undefined ? [] : [namedBy({ claim })]), ...(key === undefined ? [] : [{ key }])];
};

/** The claim that a path names, and its jobs if they are known. */
interface ClaimIn {
  readonly id: ListId;
  readonly name: Named;
  readonly jobs: readonly Range[] | undefined;
}

/**
 * Finds the claim in a path: the `claimId` of an answer, the id that the worker chose, or the name in the list of
 * claims. @throws HttpProblem
 */
const claimIn = async (deps: ApiDeps, listText: string, text: string): Promise<ClaimIn> => {
  const id = listNamed(listText);
  const names = namesIn(id, text);
  const [first] = names;
  if (!first) throw noSuchClaim(id, text);
  if (first.ranges) return { id, name: first, jobs: first.ranges };
  const list = await lookUp(deps, id);
  for (const name of names) {
    const claim = await findClaim(deps.lists, id, list, name);
    if (claim) return { id, name, jobs: claim.leases };
  }
  return { id, name: first, jobs: undefined };
};

const ofAnotherList = (id: ListId): HttpProblem => new HttpProblem(409, `the claim belongs to another list than ${id}`);

const noSuchClaim = (id: ListId, text: string): HttpProblem =>
  new HttpProblem(
    404,
    `list ${id} has no claim ${JSON.stringify(text.slice(0, 200))}: use the claimId from the answer of the claim, or a claim that groupage lists claims or GET /lists/${id}/claims lists`,
  );

const notHeld = async (
  deps: ApiDeps,
  id: ListId,
  claim: string,
  { kind }: { readonly kind: 'lost' | 'unknown' },
): Promise<HttpProblem> =>
  kind === 'unknown'
    ? unknownList(deps, id)
    : new HttpProblem(
        409,
        `claim ${JSON.stringify(claim.slice(0, 200))} does not have these jobs of list ${id}: there is no such claim, or its jobs were released, have ended, or were claimed by another worker after its lease ended, or the claim was broken`,
      );
