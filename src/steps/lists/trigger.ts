/** Trigger (D7): jobs of a list become tasks of its operation, once for each token however often it is asked for. */
import pLimit from 'p-limit';
import type { Millis, Token } from '../../domain/ids.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import { countOf, freeToTrigger, handsOut, type List, planTrigger, without } from '../../domain/lists/list.ts';
import { printTrigger } from '../../domain/register/trigger-message.ts';
import type { Taken } from '../../ports/lists.ts';
import { takeTurns } from './busy.ts';
import type { ListDeps } from './deps.ts';
import { doneIn } from './done.ts';

/** How many jobs, or what share of all that the list has. */
export type Wanted = { readonly count: number } | { readonly percent: number };

export type Triggered =
  | { readonly kind: 'triggered'; readonly count: number }
  /** It hands out nothing any more: nothing was triggered. */
  | { readonly kind: 'closed'; readonly status: Exclude<List['status'], 'open' | 'sealed'> }
  /** Its jobs are for workers that claim them. */
  | { readonly kind: 'no-operation' }
  | { readonly kind: 'unknown' };

/** Rounded up: four times 25 percent are all. */
const countWanted = (wanted: Wanted, { total }: List): number =>
  // 0.07 of 100 comes to a little more than 7 in binary.
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total * (1 - 2 * Number.EPSILON)) / 100);

/**
 * Takes the jobs. The message that makes tasks of them goes first: what is taken is not forgotten if whoever asked
 * stops here.
 *
 * @throws ListBusy
 */
export const trigger = async (deps: ListDeps, id: ListId, wanted: Wanted, token: Token): Promise<Triggered> => {
  const { lists, queues } = deps;
  const known = await lists.trigger(id, token);
  const list = await lists.read(id);
  if (!list) return { kind: 'unknown' };
  if (list.status === 'expired') return { kind: 'closed', status: list.status };
  if (known) return { kind: 'triggered', count: countOf(known.ranges) };
  if (list.operation === undefined) return { kind: 'no-operation' };
  const count = countWanted(wanted, list);
  if (handsOut(list)) await queues.register([printTrigger({ list: id, token, count, from: 0 })]);
  const taken = await takeJobs(deps, id, token, count);
  return 'ranges' in taken ? { kind: 'triggered', count: countOf(taken.ranges) } : taken;
};

type TakeDeps = Pick<ListDeps, 'lists' | 'fanOuts' | 'machine'>;

/**
 * D7. What a token stands for: what it took before, or takes now. Of nothing that is left it takes nothing, which is
 * noted, too.
 *
 * @throws ListBusy
 */
export const takeJobs = async (
  deps: TakeDeps,
  id: ListId,
  token: Token,
  count: number,
): Promise<Taken | Extract<Triggered, { readonly kind: 'closed' | 'unknown' }>> => {
  const { lists, machine } = deps;
  return takeTurns(machine, id, async () => {
    const known = await lists.trigger(id, token);
    if (known) return known;
    const list = await lists.read(id);
    if (!list) return { kind: 'unknown' };
    const { status, head } = list;
    if (status !== 'open' && status !== 'sealed') {
      // It may have been closed after our own earlier try: between the two reads.
      return (await lists.trigger(id, token)) ?? { kind: 'closed', status };
    }
    const plan = planTrigger(list, count, await openInFree(deps, id, list, machine.now()));
    return (await lists.take(id, token, { ...plan, head })) ? { ranges: plan.ranges, started: 0 } : undefined;
  });
};

/** Free ranges that are looked at at once. */
const AT_ONCE = 8;

/** Whoever had them may have done some. */
const openInFree = ({ fanOuts }: TakeDeps, id: ListId, list: List, now: Millis) =>
  pLimit(AT_ONCE).map(freeToTrigger(list, now), async (lease) => ({
    lease,
    open: without(lease, await doneIn(fanOuts, id, lease)),
  }));
