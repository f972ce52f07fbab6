/**
 * The local runtime killed at random moments, with its engine, while producers send and the downstream misbehaves:
 * docs/how-to/test-groupage.md, "Real faults".
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { DOWNSTREAM_FAULTS } from './faulty-downstream.ts';
import { KILLED } from './lives.ts';
import { PRODUCER_DEEDS } from './producers.ts';
import { type Ending, runFaults } from './run.ts';

const KILLS = Number(process.env.GROUPAGE_FAULT_KILLS ?? 4);
const SEED = Number(process.env.GROUPAGE_FAULT_SEED ?? Math.floor(Math.random() * 1e6));
/** Among this many kills, some surely happen during a start. */
const MANY = 20;

const counted = <T>(all: readonly T[]): Map<T, number> => {
  const counts = new Map<T, number>();
  for (const each of all) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
};

/** Prints the counts of a run. */
const printSummary = ({ ledger, faults, lives, done, left }: Ending, seconds: number): void => {
  const counts = [
    ['tasks acknowledged', ledger.acknowledged.size],
    ['tasks stored', [...ledger.shown.values()].filter((shown) => shown !== undefined).length],
    ['calls', ledger.calls.length],
    ...Object.entries(faults).map(([what, ids]) => [what, ids.length]),
    ...[...counted(lives.kills.map(({ of }) => of))].map(([of, count]) => [`killed: ${of}`, count]),
    ['the engine was restarted', lives.restarts()],
    ...[...done].map(([what, count]) => [what, count]),
    ...Object.entries(left).map(([queue, count]) => [`left in ${queue}`, count]),
  ];
  const lines = counts.map(([what, count]) => `  ${String(count).padStart(6)}  ${what}`);
  console.log(`Real faults, seed ${SEED}, ${seconds.toFixed(0)} s:\n${lines.join('\n')}`);
};

describe(`${KILLS} kills at random (GROUPAGE_FAULT_SEED=${SEED})`, () => {
  let ending: Ending;
  beforeAll(async () => {
    const from = performance.now();
    ending = await runFaults({ seed: SEED, kills: KILLS, toTheLastMessage: KILLS >= MANY });
    printSummary(ending, (performance.now() - from) / 1_000);
  }, 3_600_000);

  const explained = (): string =>
    [`seed ${SEED}; the data as it was: .cache/faults-${SEED}`, ...ending.histories].join('\n');

  it('lose no registered task', () => {
    expect(ending.ledger.acknowledged.size).toBeGreaterThan(KILLS);
    expect(ending.faults.lost, explained()).toEqual([]);
  });
  it('put no task into two batches', () => {
    expect(ending.faults.doubled, explained()).toEqual([]);
    expect(ending.faults.misplaced, explained()).toEqual([]);
  });
  it('show only results of the downstream', () => expect(ending.faults.different, explained()).toEqual([]));
  it('pass every payload on unchanged', () => expect(ending.faults.altered, explained()).toEqual([]));
  it('prevent no start of the runtime', () => expect(ending.lives.failures).toEqual([]));
  if (KILLS >= MANY) it('leave no message behind', () => expect(ending.left).toEqual({}));

  it('cover every kind of kill', () => {
    const counts = counted(ending.lives.kills.map(({ of }) => of));
    const [starting, working, engine] = KILLED.map((of) => counts.get(of) ?? 0);
    expect((starting ?? 0) + (working ?? 0)).toBe(KILLS);
    expect(Math.min(working ?? 0, engine ?? 0, ending.lives.restarts())).toBeGreaterThan(0);
    if (KILLS >= MANY) expect(starting).toBeGreaterThan(0);
  });
  it.each(DOWNSTREAM_FAULTS)('include a downstream that %s', (fault) =>
    expect(ending.done.get(fault)).toBeGreaterThan(0),
  );
  it.each(PRODUCER_DEEDS)('include a producer that %s', (deed) => expect(ending.done.get(deed)).toBeGreaterThan(0));
});
