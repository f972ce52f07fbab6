import { describe, expect, it } from 'vitest';
import { SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { listProgress } from '../../src/steps/lists/jobs.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { expectWhole, type Got, LIST, type ListKit, listKit, MINUTE, type Process, result, rowsLeft } from './kit.ts';

const TRACKER = `~${LIST}` as never;
const OVER = MINUTE + 2 * CLOCK_SKEW;

/** Jobs 0 and 1 are claimed, the claim of 2 and 3 has ended, 4 is free, 5 and 6 are triggered, 7 to 9 are fresh. */
interface Scene {
  readonly kit: ListKit;
  readonly mine: Got;
  readonly over: Got;
}

const scene = async (size = {}): Promise<Scene> => {
  const kit = listKit(size);
  await kit.open();
  await kit.add(10, 'first');
  await kit.got('early', 2);
  const over = await kit.got('over', 2);
  const free = await kit.got('free', 1);
  await kit.trigger(2, 'before');
  await kit.release(free.handle);
  kit.now += OVER + 1;
  const mine = await kit.got('early', 2, 30 * MINUTE);
  return { kit, mine, over };
};

/** The same without free jobs, so that claims get fresh ones. */
const withoutFree = async (): Promise<Scene> => {
  const on = await scene();
  await on.kit.trigger(3, 'free ones');
  return on;
};

/** The same with room for one claim in the list's row, so that the ended claim and all new ones have rows of their own. */
const crowded = (): Promise<Scene> => scene({ claimsMax: 1 });

type Step = (by: Process, scene: Scene) => Promise<unknown>;
const resultOf =
  (by: string, outcome: 'succeeded' | 'failed' = 'succeeded') =>
  (job: number) =>
    result(job, { outcome, result: JSON.stringify(by) });

const STEPS: Readonly<Record<string, Step>> = {
  'an append': (by) => by.add(4, 'more'),
  'another append': (by) => by.add(2, 'others'),
  'a claim of fresh jobs': (by) => by.claim('a', 3),
  'another claim': (by) => by.claim('b', 9),
  'a claim of one job': (by) => by.claim('c', 1),
  'a repeated claim': (by) => by.claim('early', 2),
  'a repeated claim with an ended lease': (by) => by.claim('over', 2),
  'a completion': (by, { mine }) => by.complete(mine.handle, [0, 1].map(resultOf('mine'))),
  'a completion in part': (by, { mine }) => by.complete(mine.handle, [resultOf('part', 'failed')(1)]),
  'a completion without results': (by, { mine }) => by.complete(mine.handle),
  'a late completion': (by, { over }) => by.complete(over.handle, [2, 3].map(resultOf('late', 'failed'))),
  'a renewal': (by, { mine }) => by.renew(mine.handle),
  'a late renewal': (by, { over }) => by.renew(over.handle),
  'a release': (by, { mine }) => by.release(mine.handle),
  'a late release': (by, { over }) => by.release(over.handle),
  'a release of an attempted job': (by, { mine }) => by.release(mine.handle, [0]),
  'a break': (by) => by.break('early'),
  'a late break': (by) => by.break('over'),
  'a trigger': (by) => by.trigger(3, 't'),
  'another trigger': (by) => by.trigger({ percent: 50 }, 'u'),
  'a seal': (by) => seal(by, TRACKER),
  'a cancel': async (by) => cancelRest(by, (await by.fanOuts.read(TRACKER)) as never),
  'a deletion': async (by) => {
    await discard(by, (await by.fanOuts.read(TRACKER)) as never);
    await by.patrol();
  },
  'a read of the progress': async (by) => listProgress(by, (await by.lists.read(LIST)) as never),
};

/** While the leases of two workers last, no job is handed out to both, and no triggered job is handed out. */
const expectApart = (kit: ListKit, answers: readonly unknown[]): void => {
  const claimed = answers.filter((each): each is Got => (each as Got | undefined)?.kind === 'claimed');
  const all = claimed.flatMap(({ handle, jobs }) => jobs.map((job) => ({ by: handle.split('.')[0], job: job.token })));
  const byJob = Map.groupBy(all, ({ job }) => job);
  for (const [job, hands] of byJob) expect(new Set(hands.map(({ by }) => by)).size, `job ${job}`).toBe(1);
  for (const { job } of all)
    for (const [name, { ranges }] of kit.tables.listTriggers)
      for (const { first, count } of ranges)
        expect(job >= first && job < first + count, `job ${job} of ${name}`).toBe(false);
};

const resultsOf = (kit: ListKit) => kit.lists.results(LIST, { first: 0, count: 99 });

/**
 * A job has at most one result. The result belongs to the stored outcome, unless another worker's completion had no results; readers check
 * that.
 */
const expectResults = async (kit: ListKit, hasAllResults: boolean): Promise<void> => {
  const done = kit.done();
  const stored = await resultsOf(kit);
  expect(new Set(stored.map((each) => each.token)).size).toBe(stored.length);
  for (const { token: job, outcome } of hasAllResults ? stored : [])
    if (done.has(job)) expect(done.get(job), `job ${job}, whose result is ${outcome}`).toBe(outcome === 'succeeded');
};

/** Does all remaining jobs, by claims and tasks. Then the list is complete once, with all of its jobs. */
const finish = async ({ kit }: Scene): Promise<void> => {
  const before = await kit.read();
  if (before.status === 'expired') return expectNothingLeft(kit);
  const outcome = before.status === 'cancelled' ? 'closed' : 'none';
  await kit.end(await kit.start());
  if (before.status !== 'cancelled') await seal(kit, TRACKER);
  kit.now += 60 * MINUTE;
  for (let n = 0; ; n += 1) {
    const claimed = await kit.claim(`finisher-${n}`, 3);
    if (claimed.kind !== 'claimed') {
      expect(claimed.kind).toBe(outcome);
      break;
    }
    expect(claimed.jobs.length).toBeGreaterThan(0);
    await kit.complete(claimed.handle);
    expectWhole(kit);
  }
  await kit.patrolFor(3 * 60 * MINUTE);
  const list = await kit.read();
  if (before.status === 'cancelled') return expect(kit.sentCallbacks()).toEqual([]);
  expect(list).toMatchObject({ status: 'complete', ended: { because: 'all-done' }, leases: [], head: list.total });
  expect([...kit.done().keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: list.total }, (_, job) => job));
  expect(new Set(kit.sentCallbacks().map(({ id }) => id)).size).toBe(1);
  expect(kit.events.filter(({ event }) => event === 'fan-out-ended')).toHaveLength(1);
  expect(kit.sentCallbacks().at(-1)?.data).toMatchObject({ total: list.total, failed: list.ended?.failed });
  expect([...kit.done().values()].filter((ok) => !ok)).toHaveLength(list.ended?.failed ?? 0);
};

const expectNothingLeft = async (kit: ListKit): Promise<void> => {
  await kit.patrol();
  kit.now += SETTLED;
  await kit.patrol();
  expect(rowsLeft(kit), 'rows of a deleted list').toBe(0);
};

const run = (step: Step, by: Process, on: Scene): Promise<unknown> =>
  step(by, on).catch((cause: unknown) => {
    if (!(cause instanceof Error) || !['Gone', 'ListBusy'].includes(cause.name)) throw cause;
  });

/** One step stops before each of its calls in turn, the other step runs at that point, and the first one goes on. */
const race = async (
  begin: () => Promise<Scene>,
  [name, step]: readonly [string, Step],
  [other, between]: readonly [string, Step],
): Promise<void> => {
  await atEachCut(async (n) => {
    const on = await begin();
    const answers: unknown[] = [];
    const { gate, isReached } = gateAt(n, 'before', async () => {
      answers.push(await run(between, on.kit, on));
      expectWhole(on.kit);
    });
    answers.push(await run(step, on.kit.behind(gate), on));
    expectWhole(on.kit);
    // A broken claim still has its jobs, as far as its worker knows.
    if (name !== other && ![name, other].some((each) => each.endsWith('break'))) expectApart(on.kit, answers);
    const hasAllResults = ![name, other].some((each) => each.endsWith('without results'));
    await expectResults(on.kit, hasAllResults);
    const before = await resultsOf(on.kit);
    await finish(on);
    if ((await on.kit.read()).status !== 'expired')
      expect(await resultsOf(on.kit), 'results never change afterwards').toEqual(before);
    return isReached();
  });
};

const TAKERS = Object.entries(STEPS).filter(([name]) => /claim of|another claim|trigger|append|cancel/.test(name));

describe.each(TAKERS)('without free jobs, %s', (name, step) => {
  it.each(TAKERS)('that pauses at any call for %s stays correct', (other, between) =>
    race(withoutFree, [name, step], [other, between]),
  );
});

const CLAIMERS = Object.entries(STEPS).filter(([name]) => /claim|renewal|completion|release|break|trigger/.test(name));

describe.each(CLAIMERS)('with claims in rows of their own, %s', (name, step) => {
  it.each(CLAIMERS)('that pauses at any call for %s stays correct', (other, between) =>
    race(crowded, [name, step], [other, between]),
  );
});

describe.each(Object.entries(STEPS))('%s', (name, step) => {
  it.each(Object.entries(STEPS))('that pauses at any call for %s stays correct', (other, between) =>
    race(scene, [name, step], [other, between]),
  );

  it.each([
    ['before', scene],
    ['after', scene],
    ['before', crowded],
    ['after', crowded],
  ] as const)('that dies %s any of its calls loses no job', async (when, begin) => {
    await atEachCut(async (n) => {
      const on = await begin();
      const { gate, isReached } = dyingAt(n, when);
      await run(step, on.kit.behind(gate), on);
      expectWhole(on.kit);
      await expectResults(on.kit, true);
      await finish(on);
      await expectResults(on.kit, false);
      return isReached();
    });
  });
});
