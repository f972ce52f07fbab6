/** D10. Jobs that were handed out to workers as often as allowed, without an outcome, fail. */

import { unreported } from '../../domain/lists/deliveries.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import { goneIn, type Lease, type List } from '../../domain/lists/list.ts';
import { tokensOf } from '../../domain/lists/ranges.ts';
import type { JobResult } from '../../ports/lists.ts';
import type { ListDeps } from '../deps.ts';
import { report } from './complete.ts';
import { openIn } from './done.ts';

/** The largest number of deliveries of a job (D10). */
export const maxDeliveriesOf = ({ config }: Pick<ListDeps, 'config'>, list: Pick<List, 'maxDeliveries'>): number =>
  list.maxDeliveries ?? config.lists.maxDeliveries;

/**
 * D10. Fails free jobs that were handed out as often as allowed. The jobs of an expired claim are first taken from
 * it, so that its worker cannot renew it meanwhile; they fail only if their delivery was the last one.
 */
export const failSpent = async (
  deps: ListDeps,
  id: ListId,
  list: List,
  leases: readonly Lease[],
): Promise<undefined> => {
  const { lists, fanOuts } = deps;
  const [expired] = leases.filter(({ claim }) => claim !== undefined);
  if (expired) {
    const from = list.leases.filter(({ claim }) => claim === expired.claim);
    const to = unreported(await openIn(fanOuts, id, from), maxDeliveriesOf(deps, list));
    await lists.change(id, { from, to, gone: goneIn(list, from, to) });
    return undefined;
  }
  const opened = await openIn(fanOuts, id, leases);
  const results = opened.flatMap(({ lease, open }) =>
    open.flatMap(tokensOf).map((token) => tooManyDeliveries(token, lease.deliveries)),
  );
  await failUndeliverable(deps, id, list, results);
  await lists.change(id, { from: leases, to: [], gone: goneIn(list, leases, []) });
  return undefined;
};

/** Stores the outcomes of jobs after their last delivery. Returns whether the list is complete. */
export const failUndeliverable = async (
  deps: ListDeps,
  id: ListId,
  list: List,
  results: readonly JobResult[],
): Promise<boolean> => {
  if (results.length === 0) return false;
  const isComplete = await report(deps, id, results);
  const deliveries = maxDeliveriesOf(deps, list);
  deps.report({ event: 'jobs-undeliverable', list: id, jobs: results.length, deliveries });
  return isComplete;
};

/** The outcome of a job that no worker has ended in all of its deliveries. */
export const tooManyDeliveries = (token: number, deliveries: number): JobResult => ({
  token,
  outcome: 'failed',
  error: {
    code: 'too-many-deliveries',
    message: `handed out ${deliveries === 1 ? 'once' : `${deliveries} times`} without an outcome: its worker died, released it, or lost it`,
  },
});
