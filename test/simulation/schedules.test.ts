import { describe, expect, it } from 'vitest';
import type { Target } from '../../src/batching/ids.ts';
import { NO_FAULTS } from '../../src/simulation/faults.ts';
import type { Steps } from '../../src/simulation/functions.ts';
import { runInParallel } from '../../src/simulation/parallel.ts';
import { scenarioOf } from '../../src/simulation/scenario.ts';
import { runSchedules } from '../../src/simulation/schedules.ts';
import { promiseOf, shrink } from '../../src/simulation/shrink.ts';
import { readable } from '../../src/simulation/trace.ts';
import { runSchedule, type Scenario } from '../../src/simulation/world.ts';
import * as bugs from './known-bugs.ts';

/** Fresh schedules every time, so that the machines that run the tests keep looking; the seed is printed. */
const RUNS = Number(process.env.GROUPAGE_SCHEDULES ?? 3_000);
const seed = Number(process.env.GROUPAGE_SEED ?? Date.now() % 1_000_000_000);

describe('the core, under crashes, pauses, duplicates, lost replies, throttling, skew and dead letters', () => {
  it(`keeps every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`schedules from seed ${seed}; replay one with: npm run simulate:faults -- --trace --seed N`);
    const summary = await runSchedules(seed, RUNS);
    expect(summary.violations).toEqual([]);
    expect(summary.tasks).toBeGreaterThan(RUNS);
    for (const [kind, count] of Object.entries(summary.faults)) expect(count, kind).toBeGreaterThan(0);
  }, 600_000);

  it('replays to the letter: by its seed, and by the faults that happened', async () => {
    for (const each of [seed, 4_542]) {
      const [once, again] = [await runSchedule(scenarioOf(each), true), await runSchedule(scenarioOf(each), true)];
      expect(again.trace).toEqual(once.trace);
      expect(once.trace.length).toBeGreaterThan(10);
      const scripted = await runSchedule({ ...scenarioOf(each), script: once.happened }, true);
      expect(scripted.trace).toEqual(once.trace);
    }
  });
});

describe('a schedule that breaks a promise', () => {
  const broken = async (): Promise<Scenario> => {
    for (let seed = 1; ; seed += 1) {
      const scenario = { ...scenarioOf(seed), steps: bugs.throttledClaimCountsAsRefused };
      const { violation, happened } = await runSchedule(scenario);
      if (violation && scenario.sends.length > 20 && happened.length > 100) return scenario;
    }
  };

  it('is shrunk to the few messages and faults that it takes, the same ones each time', async () => {
    const scenario = await broken();
    const promise = promiseOf((await runSchedule(scenario)).violation?.message ?? '');
    const small = await shrink(scenario);
    expect(promiseOf((await runSchedule(small)).violation?.message ?? '')).toBe(promise);
    expect(small.sends.length).toBeLessThan(10);
    expect(small.script?.length).toBeLessThan(10);
    expect(await shrink(scenario)).toEqual(small);
    // It takes the bug: without it the same faults break nothing.
    const { steps: _, ...mended } = small;
    expect((await runSchedule(mended)).violation).toBeUndefined();
  }, 120_000);

  it('is told so that a person can follow it', async () => {
    const { trace } = await runSchedule(await shrink(await broken()), true);
    const text = readable(trace);
    for (const part of ['register-1 sent: {"operation":"ship"', 'tasks.claim', '⚡', '· {event sealed'])
      expect(text).toContain(part);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(240);
    expect(text).not.toContain('deadLetters.receive → []');
  }, 120_000);
});

describe('schedules on several threads', () => {
  it('come to what they come to one after the other', async () => {
    const parallel = await runInParallel(
      seed,
      (begun) => begun >= 200,
      () => {},
    );
    expect(parallel).toEqual(await runSchedules(seed, 200));
  });
});

describe('the cost, where nothing goes wrong and everything comes at once,', () => {
  /** Claims per candidate: each is a write that is paid for, won or not. */
  const claimsEach = async (steps: Partial<Steps>): Promise<number> => {
    let [claims, candidates] = [0, 0];
    const atOnce = (scenario: Scenario): Scenario => ({
      ...scenario,
      steps,
      patrol: false,
      faults: NO_FAULTS,
      sends: scenario.sends.map(({ at, body }) => ({ at: at / 20, body })),
    });
    await runSchedules(seed, 500, atOnce, ({ tables }) => {
      claims += tables.claims;
      for (const batch of tables.batches.values()) candidates += batch.candidates.length;
      return true;
    });
    return claims / candidates;
  };

  it('is one claim a task, but for a guard that meets a hint now and then', async () => {
    const [ours, wasteful] = [await claimsEach({}), await claimsEach(bugs.losersFinishToo)];
    console.log(`claims a task: ${ours.toFixed(4)}; with every loser finishing too: ${wasteful.toFixed(4)}`);
    expect(ours).toBeLessThan(1.01);
    expect(wasteful).toBeGreaterThan(ours);
  });
});

describe('the checker', () => {
  const finds = async (
    steps: Partial<Steps>,
    where: (scenario: Scenario) => Partial<Scenario> = () => ({}),
  ): Promise<string | undefined> => {
    const summary = await runSchedules(
      1,
      8_000,
      (scenario) => ({ ...scenario, steps, patrol: false, ...where(scenario) }),
      (report) => !report.violation,
    );
    return summary.violations[0]?.message;
  };

  // Promises about time are made for schedules where nothing goes wrong, or nothing that may be noticed.
  const nothingGoesWrong = () => ({ faults: NO_FAULTS });
  const requestsAreRepeated = () => ({ faults: { ...NO_FAULTS, repeat: 0.05 } });
  /** A flush soon after every message: they matter while a lock changes hands. */
  const manyFlushes = ({ sends }: Scenario) => ({
    faults: NO_FAULTS,
    flushes: sends.flatMap(({ at, body }, n) => {
      const depot = /"depot":(\d+)/.exec(body)?.[1];
      return depot ? [{ at: at + ((n * 37) % 150), target: `ship/depot=${depot}` as Target }] : [];
    }),
  });
  /** Handlers that sleep while somebody redrives what failed. */
  const manyRedrives = ({ faults }: Scenario) => ({
    faults: { ...faults, pause: 0.05 },
    redrives: Array.from({ length: 40 }, (_, n) => ({ at: n * 20_000, times: 1 })),
  });
  /** All for one Target, and soon after each other: leaders come and go. */
  const oneTarget = ({ sends }: Scenario) => ({
    faults: NO_FAULTS,
    sends: sends.map(({ at, body }) => ({ at, body: body.replace(/"depot":\d/, '"depot":1') })),
  });
  it.each<[string, Partial<Steps>, RegExp, ((scenario: Scenario) => Partial<Scenario>)?]>([
    [
      'a guard that is sent after the acquire',
      bugs.guardAfterAcquire,
      /a held fence has a guard|every registered task ends/,
    ],
    [
      'an open batch that is cleared before it is stored',
      bugs.openBatchClearedWithoutBatch,
      /OpenBatch. is cleared only/,
    ],
    [
      'a throttled claim that is counted as refused',
      bugs.throttledClaimCountsAsRefused,
      /its claim|every registered task ends/,
    ],
    [
      'a release without a second look',
      bugs.noLookAfterRelease,
      /every registered task ends|longer than maxWait/,
      oneTarget,
    ],
    [
      'a message that is dropped because another one has its id',
      bugs.onlyTheFirstOfAnIdGoesOn,
      /every registered task ends|a task or is refused/,
    ],
    ['refused messages that vanish', bugs.refusedMessagesVanish, /becomes a task or is refused/],
    ['large payloads that are not stored', bugs.largePayloadsAreNotStored, /asked for downstream/],
    [
      "claims that overlook a task's run",
      bugs.claimsOverlookTheRun,
      /in its batch's Candidates|finished batch|its own/,
    ],
    [
      'new Targets that have no row',
      bugs.newTargetsHaveNoRow,
      /every registered task ends/,
      ({ sends }) => ({ patrol: true, purges: sends.map(({ at }) => at + 60) }),
    ],
    ['redriven tasks that do not wait', bugs.redrivenTasksDoNotWait, /every registered task ends/],
    [
      'redriven members that are not counted',
      bugs.redrivenMembersAreNotCounted,
      /counts are what the members show/,
      manyRedrives,
    ],
    ['batches that are too large', bugs.batchesAreTooLarge, /at most max/],
    ['batches that hold one task', bugs.batchesHoldOneTask, /a full batch is full/],
    ['tasks that wait too long', bugs.tasksWaitTooLong, /longer than maxWait/],
    ['full batches that nobody notices', bugs.nobodyIsNudged, /a full batch does not wait/],
    [
      'full batches that came while the lock changed hands',
      bugs.nobodyLooksAgain,
      /a full batch does not wait/,
      nothingGoesWrong,
    ],
    ['flushes that are overlooked', bugs.flushesAreOverlooked, /at a flush is sealed at once/, manyFlushes],
    ['a downstream that is not called', bugs.nobodyIsCalled, /asked for downstream/],
    ['items that go twice', bugs.itemsGoTwice, /twice in a call/],
    ['batches that succeed whatever their counts say', bugs.everyBatchSucceeds, /status is what its counts say/],
    ['results that go to the neighbour', bugs.resultsGoToTheNeighbour, /ends as was answered/],
    ['attempts without end', bugs.attemptsHaveNoEnd, /at most maxAttempts attempts/],
    ['tasks that are given up early', bugs.nobodyTriesAgain, /before the last attempt/],
    ['a Retry-After that is ignored', bugs.retryAfterIsIgnored, /a pause that was asked for/],
    ['attempts that overlap', bugs.attemptsOverlap, /do not overlap/],
    [
      'a start that is repeated and not recognised',
      bugs.repeatedStartsAreOverlooked,
      /that was started was made|asked for downstream/,
      requestsAreRepeated,
    ],
  ])('finds %s', async (_, steps, promise, where) => {
    expect(await finds(steps, where)).toMatch(promise);
  });
});
