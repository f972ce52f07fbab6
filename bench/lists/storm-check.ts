/** Checks after a storm that every job is done once, with one result, and that the list ended once. */
import { strict as assert } from 'node:assert';
import { type ListId, trackerOf } from '../../src/domain/lists/ids.ts';
import { endOf } from '../../src/domain/lists/ranges.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import { visit } from '../../src/steps/fan-outs/patrol.ts';
import { progressOf } from '../../src/steps/fan-outs/progress.ts';
import type { Storm } from './storm.ts';
import { isPoison, outcomeOf, POISON, type Seen } from './storm-jobs.ts';
import type { World } from './world.ts';

/** The numbers of events before this storm, because a world may have seen another one. */
export interface Before {
  readonly events: number;
  readonly callbacks: number;
}

/** The jobs that failed because all of their workers happened to die. Of 100,000 jobs it is about one. */
const outOfLuck = (results: readonly JobResult[], poison: number, { died }: Seen, maxDeliveries: number) =>
  results.filter(
    ({ token, outcome, error }) =>
      outcome === 'failed' &&
      outcomeOf(poison, token) === 'succeeded' &&
      error?.code === 'too-many-deliveries' &&
      (died.get(token) ?? 0) >= maxDeliveries,
  );

export const check = async (world: World, { jobs, poison }: Storm, id: ListId, seen: Seen, before: Before) => {
  const { deps } = world;
  const tracker = trackerOf(id);
  const left = await deps.lists.read(id);
  const completedBy = left?.status === 'complete' ? 'a worker' : 'the patrol';
  world.passTime(2 * 3_600_000);
  // The worker that completed the list may have died before it sent the event.
  if (completedBy === 'the patrol' || left?.event) await visit(deps, tracker, () => true);
  const list = await deps.lists.read(id);
  assert(list);
  assert.equal(list.status, 'complete');
  assert.equal(list.leases.length, 0);
  assert.equal(seen.atOnce, 0, 'jobs were handed out while another worker had them');
  const { maxDeliveries } = deps.config.lists;
  const results = await deps.lists.results(id, { first: 0, count: jobs });
  const unlucky = new Set(outOfLuck(results, poison, seen, maxDeliveries).map(({ token }) => token));
  const failed =
    unlucky.size +
    Array.from({ length: jobs }, (_, token) => outcomeOf(poison, token)).filter((each) => each === 'failed').length;
  assert.deepEqual(await progressOf(deps.fanOuts, list), { succeeded: jobs - failed, failed, pending: 0 });
  assert.equal(results.length, jobs);
  assert.equal(new Set(results.map(({ token }) => token)).size, jobs);
  for (const { token, outcome, error } of results) {
    if (unlucky.has(token)) continue;
    assert.equal(outcome, outcomeOf(poison, token));
    if (isPoison(poison, token)) assert(error?.code === POISON.code || error?.code === 'too-many-deliveries');
    else assert(token < endOf({ first: 0, count: jobs }) && seen.worked.has(token), `no worker worked on job ${token}`);
  }
  if (results.some(({ token }) => isPoison(poison, token)))
    assert.equal(
      seen.deliveries.poison,
      maxDeliveries,
      'a poison job is handed out as often as allowed, and then fails',
    );
  // The worker writes no log line if it dies before it receives the answer that completed the list. The event remains
  // in that case.
  assert(
    world.events.slice(before.events).filter(({ event }) => event === 'fan-out-ended').length <= 1,
    'more than one worker reported that it ended the list',
  );
  const told = new Set(world.callbacks.slice(before.callbacks).map(({ event }) => event)).size;
  assert.equal(told, 1, 'the end must have exactly one event, however often it is sent');
  return {
    completedBy,
    counts: { total: list.total, results: results.length, failed, unlucky: unlucky.size, eventsOfTheEnd: told },
  };
};
