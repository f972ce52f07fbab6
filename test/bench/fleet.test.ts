import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Channel, type Notice } from '../../bench/baselines/fleet/channel.ts';
import { Locks } from '../../bench/baselines/fleet/locks.ts';
import { RACE_SPANS, RACE_SWEEP } from '../../bench/baselines/fleet/race-spans.ts';
import { RaceStore } from '../../bench/baselines/fleet/race-store.ts';
import { runRaces } from '../../bench/baselines/fleet/races.ts';
import { type Formula, MAXIMUM, SPANS } from '../../bench/baselines/fleet/reading.ts';
import { runRenewedLocks } from '../../bench/baselines/fleet/renewals.ts';
import { CONTENDERS, OURS } from '../../bench/fleet/contenders.ts';
import { altOf, pictureOf } from '../../bench/fleet/picture.ts';
import { brokenBy } from '../../bench/fleet/promises.ts';
import { movesTable, tableOf } from '../../bench/fleet/report.ts';
import type { Run } from '../../bench/fleet/runs.ts';
import {
  fleetScenario,
  HALF_AN_HOUR,
  SCENARIO_NAMES,
  type ScenarioName,
  SOME_MINUTES,
} from '../../bench/fleet/scenarios.ts';
import { seeded } from '../../src/virtual/random.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { optimumOf } from '../../verification/fleets/optimum.ts';
import type { FleetOutcome } from '../../verification/fleets/scenario.ts';

const locks = (name: ScenarioName, maximum: Formula = 'parentheses', nodes = 4, seed = 1): Promise<FleetOutcome> =>
  runRenewedLocks(fleetScenario(name, nodes, seed, SOME_MINUTES), { maximum, spans: SPANS });

/** A unit of work with the checkpoint after it. Work under way at the end does not count. */
const A_UNIT = 1_000;

describe('locks with renewals', () => {
  it.each<Formula>(['parentheses', 'sentence'])(
    'without faults works on each partition in one node: %s',
    async (maximum) => {
      const outcome = await locks('steady', maximum);
      expect(outcome).toMatchObject({ moved: 0, optimum: 0, doubleWorked: 0, wrongCheckpoints: 0, violations: [] });
      expect(outcome.longestOrphaned).toBeLessThan(A_UNIT);
      expect(new Set(outcome.worked.map(({ partition }) => partition)).size).toBe(64);
    },
  );

  it('is even only if the formula gives each host the same', async () => {
    expect((await locks('steady', 'parentheses')).balancedAfter).toBe(0);
    expect((await locks('steady', 'sentence')).balancedAfter).toBeUndefined();
  });

  it('renews each lock on its own: over 20,000 write units an hour', async () => {
    const renewals = (64 * 3_600_000) / SPANS.renew;
    expect((await locks('steady')).writeUnitsPerHour / renewals).toBeCloseTo(1, 1);
  });

  it('gives a joining host its even share, and moves nothing else', async () => {
    expect(await locks('one joins')).toMatchObject({
      moved: 12,
      optimum: 12,
      doubleWorked: 0,
      wrongCheckpoints: 0,
    });
  });

  it.each<[ScenarioName, number]>([
    ['one leaves', 2 * A_UNIT],
    ['one crashes', SPANS.lock + SPANS.balance + A_UNIT],
  ])("lets others take over a host's partitions: %s", async (name, within) => {
    const { moved, optimum, longestOrphaned, wrongCheckpoints } = await locks(name);
    expect({ moved, wrongCheckpoints }).toEqual({ moved: optimum, wrongCheckpoints: 0 });
    expect(longestOrphaned).toBeLessThan(within);
  });

  it('moves partitions of a slow host, and two hosts work on one of them', async () => {
    const scenario = fleetScenario('one slow ×1000', 4, 1, HALF_AN_HOUR);
    const outcome = await runRenewedLocks(scenario, { maximum: 'parentheses', spans: SPANS });
    expect(outcome.optimum).toBe(0);
    expect(outcome.moved).toBeGreaterThan(64);
    expect(outcome.doubleWorked).toBeGreaterThan(0);
    expect(outcome.wrongCheckpoints).toBeGreaterThan(0);
  });

  it('has the same run for the same seed, and another for another', async () => {
    const [once, again, other] = await Promise.all([1, 1, 2].map((seed) => locks('one crashes', 'sentence', 4, seed)));
    expect(again).toEqual(once);
    expect(other).not.toEqual(once);
  });
});

describe('the published algorithm', () => {
  const races = (name: ScenarioName, change: Partial<typeof RACE_SPANS> = {}, seed = 1): Promise<FleetOutcome> =>
    runRaces(fleetScenario(name, 4, seed, HALF_AN_HOUR), { ...RACE_SPANS, ...change });

  it('has one host per partition, and rests if its races are spread', async () => {
    const outcome = await races('steady');
    expect(outcome).toMatchObject({ moved: 0, balancedAfter: 0, doubleWorked: 0, wrongCheckpoints: 0 });
    expect(new Set(outcome.worked.map(({ partition }) => partition)).size).toBe(64);
    // For each partition and normal lease: four attempts, and the end of the race.
    expect(outcome.writeUnitsPerHour / ((64 * 5 * 3_600_000) / RACE_SPANS.normalLease)).toBeCloseTo(1, 1);
  });

  it('never comes to rest if its races coincide', async () => {
    const { moved, balancedAfter } = await races('steady', { spread: 10_000 });
    expect(moved).toBeGreaterThan(267);
    expect(balancedAfter).toBeUndefined();
  });

  it('moves partitions of a slow host, which Groupage does not', async () => {
    const { moved, optimum } = await races('one slow ×100');
    expect([moved > 64, optimum]).toEqual([true, 0]);
  });

  it('after a crash works on all, on some after the maximum lease', async () => {
    const { moved, optimum, longestOrphaned } = await races('one crashes');
    expect(moved).toBeGreaterThan(optimum);
    expect(longestOrphaned).toBeGreaterThan(RACE_SPANS.normalLease);
    expect(longestOrphaned).toBeLessThan(
      RACE_SPANS.maximumLease + RACE_SPANS.normalLease + RACE_SPANS.maximumShutdown + 10_000,
    );
  });

  it('has the same run for the same seed, and each choice is another run', async () => {
    expect(await races('one leaves')).toEqual(await races('one leaves'));
    const runs = await Promise.all(
      Object.values(RACE_SWEEP).map((spans) => runRaces(fleetScenario('one crashes', 4, 1, HALF_AN_HOUR), spans)),
    );
    expect(new Set(runs.map(({ worked }) => JSON.stringify(worked))).size).toBe(runs.length);
  });

  it('has one winner of each race, who alone ends it', () => {
    const store = new RaceStore();
    expect([store.grab('p', 'a'), store.grab('p', 'b')]).toEqual(['a', 'a']);
    store.endRace('p', 'b');
    expect(store.grabbedBy('p')).toBe('a');
    store.endRace('p', 'a');
    expect(store.grab('p', 'b')).toBe('b');
    store.allocate('p', 'b');
    store.deallocate('p', 'a');
    expect(store.allocatedTo('p')).toBe('b');
    store.clear('p');
    expect([store.allocatedTo('p'), store.grabbedBy('p')]).toEqual([undefined, undefined]);
  });
});

describe('the two formulas', () => {
  it('differ only if the number of hosts divides the number of partitions', () => {
    for (let partitions = 1; partitions <= 40; partitions += 1)
      for (let hosts = 1; hosts <= 40; hosts += 1) {
        const [parentheses, sentence] = [MAXIMUM.parentheses(partitions, hosts), MAXIMUM.sentence(partitions, hosts)];
        expect(sentence - parentheses, `${partitions} / ${hosts}`).toBe(partitions % hosts === 0 ? 1 : 0);
        expect(parentheses * hosts).toBeGreaterThanOrEqual(partitions);
      }
    expect([MAXIMUM.parentheses(64, 4), MAXIMUM.sentence(64, 4)]).toEqual([16, 17]);
  });
});

describe('the store of locks', () => {
  const store = () => {
    const clock = { now: 0 };
    return { clock, locks: new Locks(() => clock.now, 100) };
  };

  it('gives a lock to one host at a time, until it expires', () => {
    const { clock, locks } = store();
    expect(locks.acquire('p', 'a').isDone).toBe(true);
    clock.now = 99;
    expect(locks.acquire('p', 'b')).toEqual({ isDone: false, lock: { holder: 'a', until: 100 } });
    clock.now = 100;
    expect(locks.acquire('p', 'b')).toEqual({ isDone: true, lock: { holder: 'b', until: 200 } });
    expect(locks.holderOf('p')).toBe('b');
  });

  it('lets only the holder renew or release a lock', () => {
    const { clock, locks } = store();
    locks.acquire('p', 'a');
    expect(locks.renew('p', 'b').isDone).toBe(false);
    expect(locks.release('p', 'b').isDone).toBe(false);
    clock.now = 150;
    expect(locks.renew('p', 'a')).toEqual({ isDone: true, lock: { holder: 'a', until: 250 } });
    expect(locks.release('p', 'a').isDone).toBe(true);
    expect(locks.renew('p', 'a').isDone).toBe(false);
    expect(locks.acquire('p', 'b').isDone).toBe(true);
  });
});

describe('notices', () => {
  const heard = async (lost: number): Promise<readonly string[]> => {
    const scheduler = new Scheduler(0);
    const channel = new Channel<Notice>(scheduler, seeded(1), lost);
    const all: string[] = [];
    for (const host of ['a', 'b'])
      channel.subscribe(host, (notice: Notice) => notice.about === 'host' && all.push(`${host}: ${notice.host}`));
    for (let index = 0; index < 100; index += 1) channel.publish('a', { about: 'host', host: `${index}`, is: 'there' });
    await scheduler.run(() => false, 1_000);
    return all;
  };

  it("reach all other hosts in the publisher's order", async () => {
    expect(await heard(0)).toEqual(Array.from({ length: 100 }, (_, index) => `b: ${index}`));
  });

  it("are lost at the scenario's rate", async () => {
    const { length } = await heard(0.5);
    expect(length).toBeGreaterThan(25);
    expect(length).toBeLessThan(75);
    expect(await heard(1)).toEqual([]);
  });
});

const KEPT: FleetOutcome = {
  moved: 0,
  optimum: 0,
  balancedAfter: 0,
  longestOrphaned: 0,
  doubleWorked: 0,
  wrongCheckpoints: 0,
  writeUnitsPerHour: 2_880,
  violations: [],
  worked: [{ partition: '3', node: 'node-0', from: 0, to: 1_800_000 }],
};
const aRun = (change: Partial<Run>, outcome: Partial<FleetOutcome> = {}): Run => ({
  scenario: 'steady',
  nodes: 4,
  contender: OURS,
  seed: 1,
  timing: HALF_AN_HOUR,
  outcome: { ...KEPT, ...outcome },
  ...change,
});

describe('the promises of a fleet', () => {
  it.each([
    [2, 84, 128],
    [4, 100, 128],
    [8, 112, 128],
    [16, 96, 128],
  ])('name the fewest moves of a deployment of %i nodes', (nodes, newFirst, oldFirst) => {
    const fewest = (name: ScenarioName) => optimumOf(fleetScenario(name, nodes, 1, HALF_AN_HOUR));
    expect(fewest('deployment, new first')).toBe(newFirst);
    expect(fewest('deployment, old first')).toBe(oldFirst);
  });

  it.each(SCENARIO_NAMES)('hold without needless moves: %s', (scenario) => {
    expect(brokenBy(aRun({ scenario }))).toEqual([]);
  });

  it.each<[ScenarioName, Partial<FleetOutcome>]>([
    ['steady', { moved: 1 }],
    ['steady', { writeUnitsPerHour: 3_001 }],
    ['one joins', { moved: 13, optimum: 12 }],
    ['one leaves', { longestOrphaned: 1_501 }],
    ['deployment, old first', { longestOrphaned: 1_501 }],
    ['rolling restart', { moved: 1 }],
    ['rolling restart', { longestOrphaned: 11_501 }],
    ['one crashes and restarts', { moved: 1 }],
    ['one crashes', { moved: 15, optimum: 16 }],
    ['one pauses 60 s', { moved: 33 }],
    ['all slow ×100', { moved: 1 }],
    ['5% of calls fail', { moved: 1 }],
    ['one slow ×1000', { wrongCheckpoints: 1 }],
    ['deployment, new first', { moved: 105, optimum: 100 }],
    ['deployment, new first', { moved: 99, optimum: 100 }],
    ['deployment, new first', { violations: ['P7'] }],
  ])('are broken in %s by %o', (scenario, outcome) => {
    expect(brokenBy(aRun({ scenario }, outcome))).toEqual([expect.stringContaining(`${scenario}, 4 nodes, seed 1`)]);
    expect(brokenBy(aRun({ scenario, contender: 'published' }, outcome))).toEqual([]);
  });
});

describe("the fleet benchmark's page", () => {
  const runs = CONTENDERS.map((contender, index) =>
    aRun({ contender }, { moved: 10 * index, balancedAfter: undefined }),
  );

  it('has a row for each run, and a column for each node count', () => {
    expect(tableOf(runs).split('\n')).toHaveLength(2 + CONTENDERS.length);
    expect(tableOf(runs)).toContain('| never |');
    expect(movesTable(runs)).toContain('| steady | 0 / 10 / 20 (0) |');
  });

  it("shows each node's work, and longer bars for more moves", () => {
    const picture = pictureOf(runs.slice(0, 2), runs);
    expect(picture).not.toMatch(/NaN|undefined|Infinity/);
    expect(picture.match(/<path d="M0 1.25H850" class="w n0"\/>/g)).toHaveLength(2);
    const widths = [...picture.matchAll(/width="(\S+)" height="7"/g)].map(([, width]) => Number(width));
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
    expect(new Set(widths).size).toBe(3);
    expect(altOf(runs.slice(0, 2))).toContain('with Groupage 0 moved');
  });
});

describe('npm run bench:fleet', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../bench/fleet.ts'), ...args]);

  it('runs all contenders in the same scenarios, and Groupage is right', async () => {
    const runs = JSON.parse((await run('--quick', '--json')).stdout) as Run[];
    expect(new Set(runs.map(({ contender }) => contender))).toEqual(new Set(CONTENDERS));
    const ours = runs.filter(({ contender }) => contender === OURS);
    expect(ours.map(({ scenario, outcome }) => [scenario, outcome.moved])).toEqual([
      ['steady', 0],
      ['one joins', 12],
      ['one crashes', 16],
      ['one slow ×100', 0],
    ]);
  });

  it('reports wrong arguments with status 2', async () => {
    const wrong = { '--nodes=none': '--nodes takes', '--seed=x': '--seed takes', '--docs --quick': '--docs needs' };
    for (const [args, message] of Object.entries(wrong))
      await expect(run(...args.split(' '))).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      });
  });
});
