import { describe, expect, it } from 'vitest';
import { type FaultRates, NO_FAULTS } from '../../src/simulation/faults.ts';
import type { Steps } from '../../src/simulation/functions.ts';
import { scenarioOf } from '../../src/simulation/scenario.ts';
import { runSchedules } from '../../src/simulation/schedules.ts';
import { runSchedule } from '../../src/simulation/world.ts';
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

  it('does the same again for the same seed, to the letter', async () => {
    for (const each of [seed, 4_542]) {
      const [once, again] = [await runSchedule(scenarioOf(each), true), await runSchedule(scenarioOf(each), true)];
      expect(again.trace).toEqual(once.trace);
      expect(once.trace.length).toBeGreaterThan(10);
    }
  });
});

describe('the checker', () => {
  const finds = async (steps: Partial<Steps>, faults?: FaultRates): Promise<string | undefined> => {
    const summary = await runSchedules(
      1,
      8_000,
      (scenario) => ({ ...scenario, steps, patrol: false, faults: faults ?? scenario.faults }),
      (report) => !report.violation,
    );
    return summary.violations[0]?.message;
  };

  // Promises about time are made for schedules where nothing goes wrong, or nothing that may be noticed.
  const REPEATS = { ...NO_FAULTS, repeat: 0.05 };
  it.each<[string, Partial<Steps>, RegExp, FaultRates?]>([
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
    ['a release without a second look', bugs.noLookAfterRelease, /every registered task ends/],
    [
      'a message that is dropped because another one has its id',
      bugs.onlyTheFirstOfAnIdGoesOn,
      /every registered task ends|a task or is refused/,
    ],
    ['refused messages that vanish', bugs.refusedMessagesVanish, /becomes a task or is refused/],
    ['large payloads that are not stored', bugs.largePayloadsAreNotStored, /asked for downstream/],
    ['batches that are too large', bugs.batchesAreTooLarge, /at most max/],
    ['batches that hold one task', bugs.batchesHoldOneTask, /a full batch is full/],
    ['tasks that wait too long', bugs.tasksWaitTooLong, /longer than maxWait/],
    ['full batches that nobody notices', bugs.nobodyIsNudged, /a full batch does not wait/],
    [
      'full batches that came while the lock changed hands',
      bugs.nobodyLooksAgain,
      /a full batch does not wait/,
      NO_FAULTS,
    ],
    ['flushes that are overlooked', bugs.flushesAreOverlooked, /at a flush is sealed at once/, NO_FAULTS],
    ['a downstream that is not called', bugs.nobodyIsCalled, /asked for downstream/],
    ['items that go twice', bugs.itemsGoTwice, /twice in a call/],
    ['results that go to the neighbour', bugs.resultsGoToTheNeighbour, /ends as was answered/],
    ['attempts without end', bugs.attemptsHaveNoEnd, /at most maxAttempts attempts/],
    ['tasks that are given up early', bugs.nobodyTriesAgain, /before the last attempt/],
    ['a Retry-After that is ignored', bugs.retryAfterIsIgnored, /a pause that was asked for/],
    ['attempts that overlap', bugs.attemptsOverlap, /do not overlap/],
    ['a start that is repeated and not recognised', bugs.repeatedStartsAreOverlooked, /asked for downstream/, REPEATS],
  ])('finds %s', async (_, steps, promise, faults) => {
    expect(await finds(steps, faults)).toMatch(promise);
  });
});
