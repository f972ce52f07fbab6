/** Properties of every plan, for all fleets of 1 to 40 partitions and nodes, with weights, pins and older views. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balance, type Placed } from '../../src/domain/fleets/balance.ts';
import type { NodeKey } from '../../src/domain/fleets/ids.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { key, partition } from './records.ts';

const SIDE = 40;
const nodes = (count: number): NodeKey[] => Array.from({ length: count }, (_, n) => key(`n${n}`));
const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** The node that has each partition, by the partition's number, or undefined if it is free. */
type Places = readonly (NodeKey | undefined)[];

const placedAt = (places: Places, random?: Random): Placed[] =>
  places.map((at, n) => ({
    partition: partition(n),
    weight: 1,
    at,
    pin: undefined,
    mayMove: true,
    since: random?.int(0, 5) ?? 0,
  }));

/** Executes a plan as the nodes would: free partitions are taken, and partitions that are asked for are handed over. */
const applied = (placed: readonly Placed[], { deals, moves }: ReturnType<typeof balance>): Placed[] => {
  const to = new Map([...deals, ...moves].map((each) => [each.partition, each.to]));
  expect(to.size, 'a plan contains each partition at most once').toBe(deals.length + moves.length);
  return placed.map((each) => ({ ...each, at: to.get(each.partition) ?? each.at }));
};

interface Run {
  readonly end: readonly Placed[];
  readonly deals: number;
  readonly moves: number;
  /** The number of plans until one was empty. */
  readonly rounds: number;
}

const settle = (members: readonly NodeKey[], start: readonly Placed[], most = 50): Run => {
  let run: Run = { end: start, deals: 0, moves: 0, rounds: 0 };
  for (;;) {
    const plan = balance(members, run.end);
    if (plan.deals.length + plan.moves.length === 0) return run;
    if (run.rounds === most) throw new Error(`no end after ${most} rounds`);
    run = {
      end: applied(run.end, plan),
      deals: run.deals + plan.deals.length,
      moves: run.moves + plan.moves.length,
      rounds: run.rounds + 1,
    };
  }
};

const loads = (members: readonly NodeKey[], placed: readonly Placed[]): number[] =>
  members.map((member) => placed.reduce((sum, { at, weight }) => sum + (at === member ? weight : 0), 0));

/**
 * The fewest moves if free partitions go where they are missing: all partitions above a node's quota, where the nodes with the most have the
 * larger quotas.
 */
const fewestMoves = (members: readonly NodeKey[], placed: readonly Placed[]): number => {
  const [floor, ceilings] = [Math.floor(placed.length / members.length), placed.length % members.length];
  return loads(members, placed)
    .toSorted((a, b) => b - a)
    .reduce((sum, count, rank) => sum + Math.max(0, count - floor - (rank < ceilings ? 1 : 0)), 0);
};

const expectEven = (members: readonly NodeKey[], placed: readonly Placed[]): void => {
  const counts = loads(members, placed);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  expect(
    counts.reduce((sum, count) => sum + count, 0),
    'every partition has an owner',
  ).toBe(placed.length);
};

/** The even places that a fleet of `count` nodes has settled on. */
const evenly = (count: number, partitions: number): Places => range(partitions).map((n) => nodes(count)[n % count]);

const STARTS: Readonly<Record<string, (count: number, partitions: number, random: Random) => Places>> = {
  'all free': (_, partitions) => range(partitions).map(() => undefined),
  'all at one node': (_, partitions) => range(partitions).map(() => nodes(1)[0]),
  'at random': (count, partitions, random) => range(partitions).map(() => random.pick(nodes(count))),
  'at random, some free': (count, partitions, random) =>
    range(partitions).map(() => (random.chance(0.3) ? undefined : random.pick(nodes(count)))),
  'after a join': (count, partitions) => evenly(Math.max(1, count - 1), partitions),
  'after as many joined as there were': (count, partitions) => evenly(Math.max(1, count >> 1), partitions),
  'after a crash': (count, partitions) =>
    evenly(count + 1, partitions).map((at) => (at === key(`n${count}`) ? undefined : at)),
};

describe('with up to 40 partitions and nodes,', () => {
  it.each(Object.entries(STARTS))('%s: one plan evens the loads with the fewest moves', (_, start) => {
    const random = seeded(9);
    let plans = 0;
    for (const partitions of range(SIDE).map((n) => n + 1))
      for (const count of range(SIDE).map((n) => n + 1)) {
        const members = nodes(count);
        const placed = placedAt(start(count, partitions, random), random);
        const run = settle(members, placed);
        expectEven(members, run.end);
        const isDone = run.deals + run.moves === 0;
        if (run.rounds !== (isDone ? 0 : 1) || run.moves !== fewestMoves(members, placed))
          expect({ partitions, count, ...run }).toMatchObject({ rounds: 1, moves: fewestMoves(members, placed) });
        plans += 1;
      }
    expect(plans).toBe(SIDE * SIDE);
  });
});

const anyWeighted = fc
  .record({
    count: fc.integer({ min: 1, max: 8 }),
    parts: fc.array(
      fc.record({
        weight: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1_000_000 })),
        at: fc.option(fc.nat({ max: 9 }), { nil: undefined, freq: 4 }),
        pin: fc.option(fc.nat({ max: 9 }), { nil: undefined, freq: 1 }),
        mayMove: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
        since: fc.nat({ max: 3 }),
      }),
      { maxLength: 24, size: 'max' },
    ),
  })
  .map(({ count, parts }) => ({
    members: nodes(count),
    // Keys numbered from `count` on are no members: those nodes are gone, leaving or draining.
    placed: parts.map(
      ({ at, pin, ...part }, n): Placed => ({
        ...part,
        partition: partition(n),
        at: at === undefined ? undefined : key(`n${at}`),
        pin: pin === undefined ? undefined : key(`n${pin}`),
      }),
    ),
  }));

const RUNS = { numRuns: 800 };

/** The partition may move: no change of it is under way, and it is not pinned to its node. */
const isLoose = ({ mayMove, pin, at }: Placed): boolean => mayMove && pin !== at;

describe('for any fleet,', () => {
  it('plans end, and no further move would make two nodes more even', () => {
    fc.assert(
      fc.property(anyWeighted, ({ members, placed }) => {
        const { end } = settle(members, placed);
        const loose = members.map((member) => {
          const its = end.filter((each) => each.at === member && isLoose(each));
          return Math.min(...its.map(({ weight }) => weight));
        });
        // Without pinned partitions or changes under way, no two loads differ by more than the lightest partition of the larger one.
        const all = loads(members, end);
        const tooMuch = all.filter((load, n) => load - Math.min(...all) > (loose[n] as number));
        expect(tooMuch).toEqual([]);
      }),
      RUNS,
    );
  });

  it('a plan moves a partition at most once, if it may move and has an owner', () => {
    fc.assert(
      fc.property(anyWeighted, ({ members, placed }) => {
        const plan = balance(members, placed);
        applied(placed, plan);
        const by = new Map(placed.map((each) => [each.partition, each]));
        for (const { partition: name, from, to } of plan.moves) {
          const each = by.get(name) as Placed;
          expect([each.at, each.mayMove, members.includes(from), members.includes(to)]).toEqual([
            from,
            true,
            true,
            true,
          ]);
          expect(from).not.toBe(to);
          if (each.pin && members.includes(each.pin)) expect(to).toBe(each.pin);
        }
        for (const { partition: name, to } of plan.deals) {
          const each = by.get(name) as Placed;
          expect([each.at, members.includes(to)]).toEqual([undefined, true]);
          if (each.pin && members.includes(each.pin)) expect(to).toBe(each.pin);
        }
        expect(plan.deals).toHaveLength(placed.filter(({ at }) => at === undefined).length);
      }),
      RUNS,
    );
  });

  it('pinned partitions end at their nodes, unless a change is under way', () => {
    fc.assert(
      fc.property(anyWeighted, ({ members, placed }) => {
        for (const { at, pin, mayMove } of settle(members, placed).end)
          if (pin && members.includes(pin) && mayMove && at && members.includes(at)) expect(at).toBe(pin);
      }),
      RUNS,
    );
  });

  it('the plan does not depend on the order of the rows', () => {
    const shuffled = fc.tuple(anyWeighted, fc.infiniteStream(fc.nat({ max: 1_000 })));
    const inOrder = (plan: ReturnType<typeof balance>) => ({
      deals: plan.deals.map((each) => JSON.stringify(each)).sort(),
      moves: plan.moves.map((each) => JSON.stringify(each)).sort(),
    });
    fc.assert(
      fc.property(shuffled, ([{ members, placed }, numbers]) => {
        const mixed = <T>(all: readonly T[]): T[] =>
          all
            .map((each): [number, T] => [numbers.next().value as number, each])
            .sort(([a], [b]) => a - b)
            .map(([, each]) => each);
        expect(inOrder(balance(mixed(members), mixed(placed)))).toEqual(inOrder(balance(members, placed)));
      }),
      RUNS,
    );
  });
});
