/**
 * The cost of a claim and its completion, by the length of the list (which should not matter) and by the number of live
 * claims.
 */
import { strict as assert } from 'node:assert';
import type { ListId } from '../../src/domain/lists/ids.ts';
import { claimJobs } from '../../src/steps/lists/claim.ts';
import { complete } from '../../src/steps/lists/complete.ts';
import { takeJobs } from '../../src/steps/lists/trigger.ts';
import { total } from '../meter.ts';
import { quantile } from '../quantile.ts';
import {
  claimNamed,
  heldBy,
  newListId,
  openList,
  spending,
  TRACKER,
  tokenNamed,
  totalBut,
  type World,
} from './world.ts';

const LEASE = 300_000;

const claimOne = async ({ deps }: World, id: ListId, name: string) => {
  const claimed = await claimJobs(deps, id, { claim: claimNamed(name), count: 1, lease: LEASE });
  assert(claimed.kind === 'claimed');
  return claimed;
};

const completeIt = async ({ deps }: World, id: ListId, handle: string): Promise<void> => {
  assert.equal((await complete(deps, id, heldBy(id, handle), 'succeeded')).kind, 'done');
};

/** Hands out jobs in the way that a trigger does. */
const skip = async ({ deps }: World, id: ListId, count: number, name: string): Promise<void> => {
  if (count > 0) assert('ranges' in (await takeJobs(deps, { list: id, token: tokenNamed(name), count })));
};

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

interface Sample {
  readonly write: number;
  readonly read: number;
  readonly ms: number;
}

/** Claims and completes one job. The units of the tracker are left out. */
const sample = async (world: World, id: ListId, name: string): Promise<Sample> => {
  const from = performance.now();
  const [, { write, read }] = await spending(world, async () => {
    const { handle } = await claimOne(world, id, name);
    await completeIt(world, id, handle);
  });
  return { write: totalBut(write, TRACKER), read: totalBut(read, TRACKER), ms: performance.now() - from };
};

/** Of each hundred jobs, 40 are measured. They are always at the same positions within an addition. */
const [FROM, MEASURED] = [50, 40];
const ADDED = 1_000;

/** A list in which jobs are measured in groups of a hundred. When the list has no more jobs, a new list replaces it. */
class Measured {
  readonly samples: Sample[] = [];
  readonly #world: World;
  readonly #jobs: number;
  #lists = 0;
  #id: ListId | undefined;
  #head = 0;
  constructor(world: World, jobs: number) {
    this.#world = world;
    this.#jobs = jobs;
  }

  /** Moves to the next hundred jobs. The first hundred jobs of a list that are measured are in its middle. */
  async advance(): Promise<void> {
    const next = this.#id === undefined ? this.#middle() : (Math.floor(this.#head / ADDED) + 1) * ADDED + FROM;
    if (this.#id === undefined || next + MEASURED >= this.#jobs) await this.#open();
    const to = this.#head === 0 ? this.#middle() : next;
    await skip(this.#world, this.#list(), to - this.#head, `to-${to}`);
    this.#head = to;
    // The first job is not measured, because it may be the first of its group and create the group's row.
    await sample(this.#world, this.#list(), `${to}-first`);
    this.#head += 1;
  }

  async measure(): Promise<void> {
    this.samples.push(await sample(this.#world, this.#list(), `claim-${this.#head}`));
    this.#head += 1;
  }

  async #open(): Promise<void> {
    this.#lists += 1;
    this.#id = newListId(`length-${this.#jobs}-${this.#lists}`);
    this.#head = 0;
    await openList(this.#world, this.#id, this.#jobs);
  }

  #middle(): number {
    return Math.floor(this.#jobs / 2 / ADDED) * ADDED + FROM;
  }

  #list(): ListId {
    assert(this.#id);
    return this.#id;
  }

  report() {
    const { samples } = this;
    const mean = (of: (each: Sample) => number): number =>
      samples.reduce((sum, each) => sum + of(each), 0) / samples.length;
    return {
      jobs: this.#jobs,
      claims: samples.length,
      writeUnits: round(mean(({ write }) => write)),
      readUnits: round(mean(({ read }) => read)),
      medianMs: round(
        quantile(
          samples.map(({ ms }) => ms),
          0.5,
        ),
      ),
    };
  }
}

/**
 * Claims and completes single jobs in lists of several lengths. The lists take turns, so that other work on this
 * machine affects all of them.
 */
export const costByLength = async (world: World, lengths: readonly number[], claims: number) => {
  const lists = lengths.map((jobs) => new Measured(world, jobs));
  for (let done = 0; done < claims; done += 1) {
    if (done % (MEASURED - 1) === 0) for (const list of lists) await list.advance();
    // The order of the lists changes in each round, because the first list of a round may find caches cold.
    for (let turn = 0; turn < lists.length; turn += 1) await lists[(done + turn) % lists.length]?.measure();
  }
  const reports = lists.map((list) => list.report());
  const ratio = (of: (report: (typeof reports)[number]) => number): number =>
    round(Math.max(...reports.map(of)) / Math.min(...reports.map(of)), 3);
  return {
    lists: reports,
    largestToSmallest: {
      writeUnits: ratio(({ writeUnits }) => writeUnits),
      readUnits: ratio(({ readUnits }) => readUnits),
      medianMs: ratio(({ medianMs }) => medianMs),
    },
  };
};

/** The sizes of a list's row: as short as usual, and with all options at their maximum length. */
const ROWS = [
  { row: 'short', id: 'short-1', name: undefined },
  { row: 'longest', id: 'l'.repeat(64), name: 'n'.repeat(64) },
] as const;

/** The write units of a claim and its completion, for a number of live claims. */
export interface LeaseCost {
  readonly row: (typeof ROWS)[number]['row'];
  readonly live: number;
  readonly claim: number;
  readonly completion: number;
  readonly tracker: number;
}

/**
 * Measures with one live claim, then with two, and so on. Job numbers have as many digits as in a list of `jobs` jobs.
 */
export const costByLeases = async (world: World, most: number, jobs: number): Promise<readonly LeaseCost[]> => {
  const costs: LeaseCost[] = [];
  for (const { row, id: name, name: userKey } of ROWS) {
    const id = newListId(name);
    await openList(world, id, jobs, userKey);
    await skip(world, id, jobs - 2 * most, 'all-but-some');
    for (let live = 1; live <= most; live += 1) {
      const [claimed, claim] = await spending(world, () => claimOne(world, id, `measured-${live}`));
      const [, completion] = await spending(world, () => completeIt(world, id, claimed.handle));
      const completions = totalBut(completion.write, TRACKER);
      const tracker = total(completion.write) - completions;
      costs.push({ row, live, claim: total(claim.write), completion: completions, tracker });
      await claimOne(world, id, `other-${live}`);
    }
  }
  return costs;
};

/**
 * For each number of units, the highest number of live claims up to which a claim and its completion cost this number.
 */
export const stepsOf = (costs: readonly LeaseCost[]): ReadonlyMap<number, number> =>
  new Map(costs.map(({ live, claim, completion }) => [claim + completion, live]));

export type LengthReport = Awaited<ReturnType<typeof costByLength>>;
