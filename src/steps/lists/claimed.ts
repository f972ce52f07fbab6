/** What becomes of a claim (D4 to D6): it is renewed, its jobs are done, or they go back to the pool. */

import { type ItemOutcome, isGoing } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { type Handled, itemOf, type ListId, leaseKeyOf, trackerOf } from '../../domain/lists/ids.ts';
import { freed, type Lease, type List, leaseEnd, type Range, tokensOf } from '../../domain/lists/list.ts';
import type { JobResult } from '../../ports/lists.ts';
import { ackItems } from '../fan-outs/ack-items.ts';
import type { ListDeps } from './deps.ts';
import { doneIn } from './done.ts';

/** A claim as its handle names it. */
export type Held = Exclude<Handled, string>;

/** D4. The lease of a claim, if it still has those jobs, and nobody else got them. */
const leaseOf = ({ leases }: List, { claim, range }: Held): Lease | undefined => {
  const key = leaseKeyOf(claim);
  return leases.find((lease) => lease.key === key && lease.first === range.first && lease.count === range.count);
};

type NotHeld = { readonly kind: 'lost' } | { readonly kind: 'unknown' };

/** A lease as D4 wants it: whenever it ends. */
const whenever = ({ key, first, count }: Lease) => ({ key, first, count });

/** From now on, for so long. */
export const renew = async (
  { lists, machine }: ListDeps,
  id: ListId,
  held: Held,
  span: Millis,
): Promise<{ readonly kind: 'renewed'; readonly until: Millis } | NotHeld> => {
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  const until = leaseEnd(machine.now(), span);
  const isMine = lease && (await lists.change(id, [whenever(lease)], [{ ...lease, until }], 'any-time'));
  return isMine ? { kind: 'renewed', until } : { kind: 'lost' };
};

/** D6. What is not done goes back to the pool, and is counted. Again is harmless. */
export const release = async (
  { lists, fanOuts }: ListDeps,
  id: ListId,
  held: Held,
): Promise<{ readonly kind: 'released'; readonly count: number } | { readonly kind: 'unknown' }> => {
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  if (!lease) return { kind: 'released', count: 0 };
  const count = lease.count - (await doneIn(fanOuts, id, lease)).size;
  const isMine = await lists.change(id, [whenever(lease)], count > 0 ? [freed(lease)] : [], 'any-time');
  return { kind: 'released', count: isMine ? count : 0 };
};

/** Results of some jobs, or how all of them ended. */
export type Completion = readonly JobResult[] | ItemOutcome;

export type Completed = { readonly kind: 'done'; readonly complete: boolean } | NotHeld;

/**
 * D5. Checks the lease, acks the tracker, and only then ends the lease: with its last job. Whoever has no lease (any
 * more) hears that his jobs are done if they are: he was not answered, or somebody else did them; otherwise that they
 * are not his.
 */
export const complete = async (deps: ListDeps, id: ListId, held: Held, completion: Completion): Promise<Completed> => {
  const { lists, fanOuts, machine } = deps;
  const list = await lists.read(id);
  if (!list || isGoing(list, machine.now())) return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  const results = typeof completion === 'string' ? resultsOf(held.range, completion) : completion;
  if (!lease) {
    const done = await doneIn(fanOuts, id, held.range);
    return results.every(({ token }) => done.has(token))
      ? { kind: 'done', complete: list.status === 'complete' }
      : { kind: 'lost' };
  }
  const isComplete = await ack(deps, id, lease, results);
  const named = new Set(results.map(({ token }) => token));
  const isAll = named.size === lease.count || (await doneIn(fanOuts, id, lease)).size === lease.count;
  // Refused where somebody took it meanwhile: he will find them done.
  if (isAll) await lists.change(id, [whenever(lease)], [], 'any-time');
  return { kind: 'done', complete: isComplete };
};

const resultsOf = (range: Range, outcome: ItemOutcome): readonly JobResult[] =>
  tokensOf(range).map((token) => ({ token, outcome }));

/**
 * The result before the ack: what is done has its result. Of two workers with one job the first one's stands, if he
 * told none that none.
 */
const ack = async (
  { lists, ...deps }: ListDeps,
  id: ListId,
  range: Range,
  results: readonly JobResult[],
): Promise<boolean> => {
  const { fanOuts } = deps;
  const told = results.filter(({ result, error }) => result !== undefined || error !== undefined);
  const done = told.length > 0 ? await doneIn(fanOuts, id, range) : new Map();
  const open = told.filter(({ token }) => !done.has(token));
  const stored = open.length > 0 ? await lists.putResults(id, open) : [];
  const outcomes = new Map([...results, ...stored].map(({ token, outcome }) => [token, outcome]));
  const acks = [...outcomes].map(([token, outcome]) => ({ item: itemOf(id, token, fanOuts.width), outcome }));
  const answer = await ackItems(deps, acks);
  return answer.fanOuts.some((each) => each.id === trackerOf(id) && each.complete);
};
