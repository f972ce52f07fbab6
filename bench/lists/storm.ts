/**
 * Many concurrent claimers. Some writes are done but answered with an error, and some workers die with a lease. The
 * benchmark checks that every job is done once, with one result.
 *
 * The clock advances with each claim, so that leases end without real waiting, but only long after a live worker has
 * finished. If no claimer gets jobs, the clock advances only while no live worker has a lease.
 */
import { strict as assert } from 'node:assert';
import { type ListId, trackerOf } from '../../src/domain/lists/ids.ts';
import type { Job } from '../../src/domain/lists/list.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import { ListBusy } from '../../src/steps/contention.ts';
import type { ListDeps } from '../../src/steps/deps.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { type Claimed, claimJobs } from '../../src/steps/lists/claim.ts';
import { complete } from '../../src/steps/lists/complete.ts';
import { release } from '../../src/steps/lists/release.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { total } from '../meter.ts';
import { type Before, check } from './storm-check.ts';
import { isPoison, outcomeOf, POISON, Seen } from './storm-jobs.ts';
import { claimNamed, heldBy, LIST_ROW, newListId, openList, spending, TRACKER, type World } from './world.ts';

export interface Storm {
  readonly jobs: number;
  readonly claimers: number;
  /** The number of jobs per claim. */
  readonly atOnce: number;
  /** The share of the writes whose answer is lost. */
  readonly lost: number;
  /** The share of the claims whose worker dies. */
  readonly dying: number;
  /** The share of the jobs that no worker can do: it releases them as attempted. */
  readonly poison: number;
  /** The number of workers that hold a claim of one job from the beginning, and never end it. */
  readonly holders: number;
  readonly seed: number;
}

const LEASE = 300_000;
/** The time by which each claim advances the clock, in ms. While a worker works, some tens of other claims happen. */
const TICK = 1_000;
/**
 * For claimers that get no jobs: the pause before the next claim, and the time by which the clock then advances, once
 * for all waiting claimers, in ms.
 */
const [PAUSE, IDLE_TICK] = [50, 3_000];

class LostReply extends Error {
  override readonly name = 'LostReply';
}

/** Thrown where the simulated worker dies. */
class Death extends Error {
  override readonly name = 'Death';
}

type Fate = 'lives' | 'dies unanswered' | 'dies holding it' | 'dies amid completing';
const WAYS_TO_DIE: readonly Fate[] = ['dies unanswered', 'dies holding it', 'dies amid completing'];

/** Does all writes, but loses the answers of some. */
const lossy = (deps: ListDeps, random: Random, rate: number, onLoss: () => void): ListDeps => {
  const losing =
    <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const answer = await call(...args);
      if (!random.chance(rate)) return answer;
      onLoss();
      throw new LostReply('the answer was lost');
    };
  const { lists, fanOuts } = deps;
  return {
    ...deps,
    lists: {
      ...lists,
      leaseFresh: losing(lists.leaseFresh),
      change: losing(lists.change),
      putApart: losing(lists.putApart),
      changeApart: losing(lists.changeApart),
      gather: losing(lists.gather),
      putResults: losing(lists.putResults),
    },
    fanOuts: {
      ...fanOuts,
      ack: losing(fanOuts.ack),
      putNode: losing(fanOuts.putNode),
      end: losing(fanOuts.end),
      forgetEvent: losing(fanOuts.forgetEvent),
    },
  };
};

/** Repeats a call until it is answered, as workers do. */
const untilAnswered = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      if (!(cause instanceof LostReply)) throw cause;
    }
  }
};

const work = (by: string, jobs: readonly Job[]): JobResult[] =>
  jobs.map(({ token, payload }) => {
    const { job } = JSON.parse(payload) as { job: string };
    assert.equal(Number(job), token, 'each token has the payload that was added as that one');
    return { token, outcome: outcomeOf(0, token), result: JSON.stringify({ by }) };
  });

export const runStorm = async (world: World, storm: Storm) => {
  const id = newListId(`storm-${storm.seed}`);
  const [, adding] = await spending(world, () => openList(world, id, storm.jobs));
  assert.equal((await seal(world.deps, trackerOf(id))).kind, 'sealed');
  const refusedBefore = new Map(world.refused);
  const before: Before = { events: world.events.length, callbacks: world.callbacks.length };
  const seen = new Seen();
  const from = performance.now();
  const [, spent] = await spending(world, () => workAll(world, storm, id, seen));
  const seconds = (performance.now() - from) / 1_000;
  const refused = (what: string): number => (world.refused.get(what) ?? 0) - (refusedBefore.get(what) ?? 0);
  const { completedBy, counts } = await check(world, storm, id, seen, before);
  const per = (units: number): number => Number((units / storm.jobs).toFixed(4));
  const written = (what: string): number => spent.write.get(what) ?? 0;
  return {
    ...storm,
    ...counts,
    completedBy,
    claims: seen.claims,
    deaths: seen.deaths,
    takeovers: seen.takeovers,
    lostReplies: seen.lostReplies,
    toldToWait: seen.busy,
    hadByTwo: seen.atOnce,
    releases: seen.releases,
    mostDeliveries: seen.deliveries,
    conflicts: refused(LIST_ROW),
    workedTwice: [...seen.worked.values()].filter((times) => times > 1).length,
    writeUnitsPerJob: {
      adding: per(total(adding.write)),
      claimsAndCompletions: per(written(LIST_ROW)),
      tracker: per(written(TRACKER)),
      results: per(total(spent.write) - written(LIST_ROW) - written(TRACKER)),
    },
    writeUnitsPerClaim: Number((written(LIST_ROW) / seen.claims).toFixed(2)),
    readUnitsPerJob: per(total(spent.read)),
    seconds: Number(seconds.toFixed(1)),
    jobsPerSecond: Math.round(storm.jobs / seconds),
  };
};

const workAll = async (world: World, storm: Storm, id: ListId, seen: Seen): Promise<void> => {
  const random = seeded(storm.seed);
  const onLoss = (): void => {
    seen.lostReplies += 1;
  };
  const deps = lossy(world.deps, random, storm.lost, onLoss);
  for (let n = 0; n < storm.holders; n += 1) {
    const held = await claimJobs(world.deps, id, { claim: claimNamed(`holder-${n}`), count: 1, lease: LEASE });
    assert(held.kind === 'claimed');
    seen.handedOut(`holder-${n}`, held.jobs, held.until, world.deps.machine.now(), storm.poison);
  }
  let next = 0;
  /** Runs one worker after another, each with a new name. */
  const worker = async (): Promise<void> => {
    for (;;) {
      const fate = random.chance(storm.dying) ? random.pick(WAYS_TO_DIE) : 'lives';
      const name = `worker-${next++}`;
      try {
        if ((await workOnce({ world, deps, id, seen, storm }, name, fate)) === 'nothing left') return;
      } catch (cause) {
        if (!(cause instanceof Death)) throw cause;
        seen.deaths += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: storm.claimers }, worker));
};

interface Place {
  readonly world: World;
  readonly deps: ListDeps;
  readonly id: ListId;
  readonly seen: Seen;
  readonly storm: Storm;
}

const workOnce = async (place: Place, name: string, fate: Fate): Promise<'worked' | 'nothing left'> => {
  const { deps, seen } = place;
  const claimed = await claim(place, name);
  if (claimed === 'nothing left') return claimed;
  if (fate !== 'lives') seen.diedWith(claimed.jobs);
  // The answer is lost, so no worker works on these jobs.
  if (fate === 'dies unanswered') throw new Death();
  seen.handedOut(name, claimed.jobs, claimed.until, deps.machine.now(), place.storm.poison);
  if (fate === 'dies holding it') throw new Death();
  seen.holding += 1;
  try {
    await completeAll(place, name, claimed, fate);
  } finally {
    seen.holding -= 1;
  }
  return 'worked';
};

const completeAll = async ({ deps, id, seen, storm }: Place, name: string, claimed: Got, fate: Fate): Promise<void> => {
  const { handle } = claimed;
  const { poison, atOnce } = storm;
  const bad = claimed.jobs.filter(({ token }) => isPoison(poison, token));
  const jobs = claimed.jobs.filter(({ token }) => !isPoison(poison, token));
  const results = work(name, jobs);
  const held = heldBy(id, handle);
  const part = results.slice(0, Math.ceil(results.length / 2));
  if (fate === 'dies amid completing') {
    seen.finished(part.map(({ token }) => token));
    // The worker dies at the first lost answer, or after the call.
    await complete(deps, id, held, part).catch((cause: unknown) => {
      if (!(cause instanceof LostReply)) throw cause;
    });
    throw new Death();
  }
  seen.finished(results.map(({ token }) => token));
  // Every other claim is completed in two parts.
  const first = claimed.jobs[0]?.token ?? 0;
  const parts = first % (2 * atOnce) === 0 ? [part, results.slice(part.length)] : [results];
  for (const some of parts.filter(({ length }) => length > 0)) {
    const done = await untilAnswered(() => complete(deps, id, held, some));
    assert.equal(done.kind, 'done', `${name} has lost ${handle}`);
  }
  if (bad.length === 0) return;
  seen.released(bad.map(({ token }) => token));
  const attempted = bad.map(({ token }) => ({ token, error: POISON }));
  await untilAnswered(() => release(deps, id, held, attempted));
};

type Got = Extract<Claimed, { readonly kind: 'claimed' }>;

const claim = async ({ world, deps, id, seen, storm }: Place, name: string): Promise<Got | 'nothing left'> => {
  for (;;) {
    try {
      const claimed = await untilAnswered(() =>
        claimJobs(deps, id, { claim: claimNamed(name), count: storm.atOnce, lease: LEASE }),
      );
      if (claimed.kind === 'claimed') {
        world.passTime(TICK);
        return claimed;
      }
      assert(claimed.kind === 'none', `a claim was answered ${claimed.kind}`);
      if (claimed.status === 'complete' || (await isAllDone(deps, id))) return 'nothing left';
    } catch (cause) {
      if (!(cause instanceof ListBusy)) throw cause;
      seen.busy += 1;
    }
    await deps.machine.sleep(PAUSE);
    if (seen.isIdle(PAUSE)) world.passTime(IDLE_TICK);
  }
};

/**
 * Whether all jobs are done. The worker of the last job may have died before it reported the job. Then no lease is
 * left, and the patrol completes the list.
 */
const isAllDone = async ({ lists }: ListDeps, id: ListId): Promise<boolean> => {
  const list = await lists.read(id);
  return list !== undefined && list.head === list.total && list.leases.length === 0 && list.apart === undefined;
};

export type StormReport = Awaited<ReturnType<typeof runStorm>>;
