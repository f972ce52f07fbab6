import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONTENDERS, compete } from '../../bench/baselines/contenders.ts';
import { runOurs } from '../../bench/baselines/ours.ts';
import { comparable, NOTHING, type Outcome, sentTasks, sum } from '../../bench/baselines/outcome.ts';
import { NO_LAG, PUBLISHED, type Reading } from '../../bench/baselines/published/reading.ts';
import type { TaskRow } from '../../bench/baselines/published/tables.ts';
import { TargetIndex } from '../../bench/baselines/published/target-index.ts';
import { runPublished } from '../../bench/baselines/published.ts';
import type { Target, TaskId } from '../../src/domain/ids.ts';
import { type FaultRates, NO_FAULTS } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { aPolicy } from '../factories/factories.ts';

const RUNS = 100;

const total = async (
  run: (scenario: Scenario) => Promise<Outcome>,
  change: Partial<Scenario> = {},
): Promise<Outcome> => {
  let outcome = NOTHING;
  for (let seed = 1; seed <= RUNS; seed += 1)
    outcome = sum(outcome, await run({ ...comparable(scenarioOf(seed)), ...change }));
  return outcome;
};
const published = (change: Partial<Reading>, scenario: Partial<Scenario> = {}): Promise<Outcome> =>
  total((each) => runPublished(each, { ...PUBLISHED, ...change }), scenario);
const NOTHING_GOES_WRONG = { faults: NO_FAULTS };

describe('the published algorithm', () => {
  it('works without faults and without index lag', async () => {
    const outcome = await published({ lag: NO_LAG }, NOTHING_GOES_WRONG);
    const { tasks } = outcome;
    expect(tasks).toBeGreaterThan(RUNS);
    expect(outcome).toMatchObject({ members: tasks, stranded: 0, deadLettered: 0, inTwoBatches: 0, late: 0 });
    expect(outcome.calledInTwoBatches).toBe(0);
  });

  it('strands tasks if its index lags, until another task comes', async () => {
    const { stranded, strandedStill, schedulesStranded } = await published({}, NOTHING_GOES_WRONG);
    console.log(`without faults: ${stranded} tasks stranded, in ${schedulesStranded} of ${RUNS} schedules`);
    expect(stranded).toBeGreaterThan(0);
    expect(strandedStill).toBe(0);
  });

  it('with index lag batches tasks twice unless claims are conditional', async () => {
    const [asRead, conditional] = [
      await published({}, NOTHING_GOES_WRONG),
      await published({ claims: 'conditional' }, NOTHING_GOES_WRONG),
    ];
    expect(asRead.inTwoBatches).toBeGreaterThan(0);
    expect(asRead.calledInTwoBatches).toBeGreaterThan(0);
    expect(conditional).toMatchObject({ inTwoBatches: 0, calledInTwoBatches: 0 });
    expect(conditional.stranded).toBeGreaterThan(0);
  });

  it('under faults strands tasks for good unless leaders restart', async () => {
    const [faulty, calm] = [await published({}), await published({}, NOTHING_GOES_WRONG)];
    const restarted = await published({ claims: 'conditional', restarts: true });
    console.log(`under faults: ${faulty.stranded} stranded, in ${faulty.schedulesStranded} of ${RUNS} schedules`);
    expect(faulty.stranded).toBeGreaterThan(calm.stranded);
    expect(faulty.strandedStill).toBeGreaterThan(0);
    expect(restarted.stranded).toBeGreaterThan(0);
    expect(restarted.strandedStill).toBe(0);
  });

  const alone = (faults: Partial<FaultRates>): Promise<Outcome> =>
    published({ lag: NO_LAG }, { faults: { ...NO_FAULTS, ...faults }, faultsEnd: 1_800_000 });

  it.each<keyof FaultRates>(['throttle', 'lostReply', 'repeat', 'duplicate', 'undeleted'])(
    'is not harmed by %s alone without index lag',
    async (kind) => expect(await alone({ [kind]: 0.03 })).toMatchObject({ stranded: 0, inTwoBatches: 0 }),
  );

  it('strands tasks after crashes alone', async () => {
    expect((await alone({ crash: 0.03 })).stranded).toBeGreaterThan(0);
  });

  it.each<Partial<FaultRates>>([{ pause: 0.03 }, { skew: 30_000 }])(
    'puts tasks into two batches after %o alone',
    async (faults) => {
      const { stranded, inTwoBatches } = await alone(faults);
      expect(stranded).toBe(0);
      expect(inTwoBatches).toBeGreaterThan(0);
    },
  );

  it('depends on a second read that the description omits', async () => {
    const outcome = await published({ lag: NO_LAG, looksAgain: false }, NOTHING_GOES_WRONG);
    expect(outcome.stranded).toBeGreaterThan(0);
  });
});

describe('the comparison', () => {
  it('finds no task of Groupage stranded or in two batches in the same schedules', async () => {
    const outcome = await total(runOurs);
    expect(outcome).toMatchObject({ stranded: 0, deadLettered: 0, inTwoBatches: 0, calledInTwoBatches: 0 });
    expect(outcome.members).toBe(outcome.tasks);
  });

  it.each(CONTENDERS)('repeats its figures for a seed: $name', async (contender) => {
    const [once, again] = [await compete(contender, 7, 10), await compete(contender, 7, 10)];
    expect(again).toEqual(once);
    expect(await compete(contender, 8, 10)).not.toEqual(once);
  });

  it('counts 12 write units a task, and 5 for Groupage, in full batches', async () => {
    // The downstream of this schedule takes calls of any size, and answers each at once.
    const scenario = comparable(scenarioOf(14));
    const [name, operation] = Object.entries(scenario.config.operations)[0] ?? [];
    if (!name || !operation) throw new Error('the scenario has no operation');
    const batch = aPolicy({ maxBytes: 1_000_000 });
    const full: Scenario = {
      ...scenario,
      ...NOTHING_GOES_WRONG,
      config: { ...scenario.config, operations: { [name]: { ...operation, shards: 1, batch } } },
      sends: Array.from({ length: 500 }, (_, n) => ({
        at: 0,
        body: `{"operation":"ship","id":"t${n}","payload":{"depot":1}}`,
      })),
    };
    const [theirs, ours] = [await runPublished(full, { ...PUBLISHED, lag: NO_LAG }), await runOurs(full)];
    expect(theirs).toMatchObject({ members: 500, batches: 5 });
    expect(theirs.writeUnits / 500).toBeCloseTo(12, 0);
    expect(ours.writeUnits / 500).toBeCloseTo(5.2, 0);
  });

  it('uses only task ids that producers gave, and that are unique', () => {
    const scenario = comparable(scenarioOf(3));
    const sent = sentTasks(scenario);
    expect(sent.size).toBeGreaterThan(0);
    for (const [id, { at }] of sent) {
      const first = scenario.sends.filter(({ body }) => body.includes(`"id":"${id}"`)).map((send) => send.at);
      expect(at, id).toBe(Math.min(...first));
    }
  });
});

describe('npm run bench:reliability', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../bench/reliability.ts'), ...args]);

  it('runs every contender over the same schedules', async () => {
    const { results } = JSON.parse((await run('--runs', '2', '--seed', '5', '--size', '3', '--json')).stdout);
    expect(results.map(({ name }: { name: string }) => name)).toEqual(CONTENDERS.map(({ name }) => name));
    expect(new Set(results.map(({ outcome }: { outcome: Outcome }) => outcome.tasks)).size).toBe(1);
  });

  it('prints a table with a row for each contender', async () => {
    const { stdout } = await run('--runs', '1');
    for (const { name } of CONTENDERS) expect(stdout).toContain(`| ${name} |`);
  });

  it('reports wrong arguments with status 2', async () => {
    await expect(run('--runs', 'many')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--runs') });
  });
});

describe('the index by Target and Status', () => {
  const target = 'ship/depot=1' as Target;
  const row = (id: string, status: TaskRow['status'], createdAt = 0): TaskRow => ({
    id: id as TaskId,
    target,
    status,
    payload: '{}',
    createdAt,
  });

  it('shows each write after its own delay', async () => {
    const scheduler = new Scheduler(0);
    const lags = [3_000, 10];
    const index = new TargetIndex(scheduler, () => lags.shift() ?? 0);
    index.write(row('slow', 'created', 1));
    index.write(row('quick', 'created', 2));
    const seen: string[][] = [];
    for (const at of [5, 20, 4_000])
      scheduler.after(at, () => seen.push(index.waiting(target).map((each) => String(each.id))));
    await scheduler.run(() => false, 10_000);
    expect(seen).toEqual([[], ['quick'], ['slow', 'quick']]);
  });

  it('never replaces a newer write of a task by an older one', async () => {
    const scheduler = new Scheduler(0);
    const lags = [3_000, 10];
    const index = new TargetIndex(scheduler, () => lags.shift() ?? 0);
    index.write(row('task', 'created'));
    index.write(row('task', 'batched'));
    await scheduler.run(() => false, 10_000);
    expect(index.waiting(target)).toEqual([]);
  });
});
