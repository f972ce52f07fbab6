/**
 * Compares the three ways to hand out a job: with the same jobs, claimers and meter, taking turns at the same positions
 * of the list.
 */
import { strict as assert } from 'node:assert';
import { createJobTable, putJobRows } from '../baselines/lists/job-rows.ts';
import { popping } from '../baselines/lists/pop.ts';
import { scanning } from '../baselines/lists/scan.ts';
import { byTokens } from '../baselines/lists/tokens.ts';
import { type JobTable, RowTooLarge, type Taken, type Way } from '../baselines/lists/variant.ts';
import { total } from '../meter.ts';
import { quantile } from '../quantile.ts';
import { newListId, payloadOf, spending, TRACKER, totalBut, type World } from './world.ts';

export const WAYS = ['scan', 'pop', 'tokens'] as const;
export type WayName = (typeof WAYS)[number];

export interface WayCost {
  readonly way: WayName;
  readonly jobs: number;
  readonly claims: number;
  /** The write units per claim, on average over the list's life. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** The median duration of a claim, in milliseconds. */
  readonly ms: number;
  /** The number of refused writes per claim, because another claimer was faster. Their units are included above. */
  readonly refused: number;
  /** The write units to complete a claimed job, without the tracker's row, which the other ways do not have. */
  readonly completion: number;
}

export interface Comparison {
  readonly lengths: readonly number[];
  readonly claimers: number;
  /** The number of claims that each claimer makes at each position. */
  readonly rounds: number;
  /** Whether the longest list of ids that fits into a row is also measured. */
  readonly withLargest: boolean;
}

/** The positions at which a list is measured, as the share of its jobs that are done. */
const PLACES = [0, 0.2, 0.4, 0.6, 0.8];

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const compareWays = async (world: World, comparison: Comparison): Promise<readonly WayCost[]> => {
  const table = { client: world.clients.dynamodb, table: 'Ways-Job' };
  await createJobTable(table);
  const most = comparison.withLargest ? await idsInARow({ ...table, list: 'most', jobs: 0 }) : Number.POSITIVE_INFINITY;
  const costs: WayCost[] = [];
  const lengths = new Set([...comparison.lengths, ...(comparison.withLargest ? [most] : [])]);
  for (const jobs of [...lengths].sort((a, b) => a - b)) {
    const names = WAYS.filter((way) => (way === 'pop' ? jobs <= most : comparison.lengths.includes(jobs)));
    const ways = new Map<WayName, Way>();
    for (const name of names) ways.set(name, await MAKE[name](world, { ...table, list: `${name}-${jobs}`, jobs }));
    costs.push(...(await compareAt(world, ways, jobs, comparison)));
  }
  return costs;
};

const MAKE: Readonly<Record<WayName, (world: World, jobs: JobTable) => Promise<Way>>> = {
  scan: (_, jobs) => scanning(jobs),
  pop: async (_, jobs) => {
    await putJobRows(jobs, 0, jobs.jobs, 'waiting');
    return popping(jobs);
  },
  tokens: (world, { list, jobs }) => byTokens(world, newListId(list), jobs),
};

/** The largest number of ids that the engine accepts in one row. */
const idsInARow = async (table: JobTable): Promise<number> => {
  let [least, most] = [1, 100_000];
  while (least < most) {
    const jobs = Math.ceil((least + most) / 2);
    const isTooLarge = await popping({ ...table, jobs }).then(
      () => false,
      (cause: unknown) => {
        if (!(cause instanceof RowTooLarge)) throw cause;
        return true;
      },
    );
    [least, most] = isTooLarge ? [least, jobs - 1] : [jobs, most];
  }
  return least;
};

class Tally {
  readonly ms: number[] = [];
  write = 0;
  read = 0;
  refused = 0;
  completion = 0;
}

const compareAt = async (
  world: World,
  ways: ReadonlyMap<WayName, Way>,
  jobs: number,
  { claimers, rounds }: Comparison,
): Promise<readonly WayCost[]> => {
  const tallies = new Map([...ways.keys()].map((name) => [name, new Tally()]));
  for (const place of PLACES) {
    const from = Math.floor(place * jobs);
    for (const way of ways.values()) await way.advance(from);
    for (let each = 0; each < rounds; each += 1)
      for (const [name, way] of ways) {
        const taken = await measure(world, way, claimers, `${from}-${each}`, tallies.get(name) as Tally);
        assertNext(taken, from + each * claimers);
      }
  }
  return [...tallies].map(([way, { ms, write, read, refused, completion }]) => ({
    way,
    jobs,
    claims: ms.length,
    writeUnits: round(write / ms.length),
    readUnits: round(read / ms.length),
    ms: round(quantile(ms, 0.5)),
    refused: round(refused / ms.length),
    completion: round(completion / ms.length),
  }));
};

/** All claimers claim a job at once. When all have claimed, all complete their jobs. */
const measure = async (world: World, way: Way, claimers: number, name: string, tally: Tally): Promise<Taken[]> => {
  const claim = async (_: unknown, claimer: number): Promise<Taken> => {
    const from = performance.now();
    const taken = await way.claim(`claim-${name}-${claimer}`);
    tally.ms.push(performance.now() - from);
    assert(taken);
    return taken;
  };
  const before = total(world.refused);
  const [taken, { write, read }] = await spending(world, () => Promise.all(Array.from({ length: claimers }, claim)));
  tally.refused += total(world.refused) - before;
  tally.write += total(write);
  tally.read += total(read);
  const [, done] = await spending(world, () => Promise.all(taken.map((each) => way.complete(each))));
  tally.completion += totalBut(done.write, TRACKER);
  return taken;
};

/** Checks that all ways hand out the same jobs, each job once and in order. */
const assertNext = (taken: readonly Taken[], from: number): void => {
  const expected = taken.map((_, index) => payloadOf(from + index));
  assert.deepEqual(taken.map(({ payload }) => payload).sort(), expected);
};
