/** Complete (D5): a worker reports the outcomes of jobs that it has claimed. */
import { type ItemOutcome, isGoing } from '../../domain/fan-outs/fan-out.ts';
import { itemOf, type ListId, trackerOf } from '../../domain/lists/ids.ts';
import { countOf, tokensOf } from '../../domain/lists/ranges.ts';
import type { JobResult } from '../../ports/lists.ts';
import type { ListDeps } from '../deps.ts';
import { ackItems } from '../fan-outs/ack-items.ts';
import { doneIn } from './done.ts';
import { changeClaim, findClaim, type Named, type NotHeld } from './held.ts';

/** Results of some jobs, or one outcome for all of them. */
export type Completion = readonly JobResult[] | ItemOutcome;

export type Completed = { readonly kind: 'done'; readonly complete: boolean } | NotHeld;

/**
 * D5. Checks the lease, stores the results, acks the jobs in the list's tracker, and ends the lease after its last job.
 * If the function dies before the end, the lease stays and no job is lost.
 *
 * A worker that no longer has the lease gets 'done' if all jobs that it reports are done: its earlier response was
 * lost, or another worker did the jobs. Otherwise it gets 'lost'.
 */
export const complete = async (deps: ListDeps, id: ListId, name: Named, completion: Completion): Promise<Completed> => {
  const { lists, fanOuts, machine } = deps;
  const list = await lists.read(id);
  if (!list || isGoing(list, machine.now())) return { kind: 'unknown' };
  const found = await findClaim(lists, id, list, name);
  const ranges = name.ranges ?? found?.leases ?? [];
  const results =
    typeof completion === 'string'
      ? ranges.flatMap(tokensOf).map((token): JobResult => ({ token, outcome: completion }))
      : completion;
  // A request that names only the claim may be about jobs that the claim had before.
  const mine = new Set(found?.leases.flatMap(tokensOf));
  const claim = found && results.every(({ token }) => mine.has(token)) ? found : undefined;
  if (!claim) {
    const tokens = results.map(({ token }) => token);
    const done = await doneIn(
      fanOuts,
      id,
      tokens.map((first) => ({ first, count: 1 })),
    );
    // Without a lease and without ranges, the jobs of the claim are unknown.
    return tokens.length > 0 && tokens.every((token) => done.has(token))
      ? { kind: 'done', complete: list.status === 'complete' }
      : { kind: 'lost' };
  }
  const isComplete = await report(deps, id, results);
  const ended = new Set(results.map(({ token }) => token));
  const count = countOf(claim.leases);
  const isAll = ended.size === count || (await doneIn(fanOuts, id, claim.leases)).size === count;
  // This write is refused if another worker has taken the lease meanwhile. That worker finds the jobs done.
  if (isAll) await changeClaim(lists, id, list, claim, {});
  return { kind: 'done', complete: isComplete };
};

/**
 * D5. Stores the results before the ack, so that every done job has its result. If two workers did the same job, the
 * first stored result stands. Returns whether the list is complete.
 */
export const report = async (
  { lists, ...deps }: ListDeps,
  id: ListId,
  results: readonly JobResult[],
): Promise<boolean> => {
  const { fanOuts } = deps;
  const withResult = results.filter(({ result, error }) => result !== undefined || error !== undefined);
  const ranges = withResult.map(({ token }) => ({ first: token, count: 1 }));
  const done = ranges.length > 0 ? await doneIn(fanOuts, id, ranges) : new Map();
  const open = withResult.filter(({ token }) => !done.has(token));
  const stored = open.length > 0 ? await lists.putResults(id, open) : [];
  const outcomes = new Map([...results, ...stored].map(({ token, outcome }) => [token, outcome]));
  const acks = [...outcomes].map(([token, outcome]) => ({ item: itemOf(id, token, fanOuts.width), outcome }));
  const answer = await ackItems(deps, acks);
  return answer.fanOuts.some((each) => each.id === trackerOf(id) && each.complete);
};
