/** Plans for single cases. Properties of all plans: balance-properties.test.ts. */
import { describe, expect, it } from 'vitest';
import { balance, type Placed } from '../../src/domain/fleets/balance.ts';
import { key, partition } from './records.ts';

interface PlacedFields extends Omit<Partial<Placed>, 'at' | 'pin'> {
  readonly at?: string;
  readonly pin?: string;
}

const placed = (name: string | number, { at, pin, ...fields }: PlacedFields = {}): Placed => ({
  partition: partition(name),
  weight: 1,
  mayMove: true,
  since: 0,
  ...fields,
  at: at === undefined ? undefined : key(at),
  pin: pin === undefined ? undefined : key(pin),
});

const members = (...names: string[]) => names.map(key);

/** Partitions for each node in the given numbers, numbered consecutively. */
const having = (counts: Readonly<Record<string, number>>, fields: PlacedFields = {}): Placed[] =>
  Object.entries(counts)
    .flatMap(([at, count]) => Array<string>(count).fill(at))
    .map((at, name) => placed(name, { at, ...fields }));

const moved = (nodes: readonly string[], all: readonly Placed[]) =>
  balance(members(...nodes), all).moves.map((each) => `${each.partition}: ${each.from} → ${each.to}`);
const dealt = (nodes: readonly string[], all: readonly Placed[]) =>
  balance(members(...nodes), all).deals.map((each) => `${each.partition} → ${each.to}`);

describe('free partitions', () => {
  it('are dealt to the node with the least, and no partition moves for it', () => {
    const all = [...having({ a: 2, b: 1 }), placed(7), placed(8), placed(9)];
    expect(dealt(['a', 'b'], all)).toEqual(['7 → b@1', '8 → a@1', '9 → b@1']);
    expect(moved(['a', 'b'], all)).toEqual([]);
  });

  it('are dealt the heaviest first', () => {
    const all = [placed('light', { weight: 1 }), placed('heavy', { weight: 3 }), placed('middle', { weight: 2 })];
    expect(dealt(['a', 'b'], all)).toEqual(['heavy → a@1', 'middle → b@1', 'light → b@1']);
  });

  it('are not dealt if there is no node', () => {
    expect(balance([], [placed(0), placed(1, { at: 'a' })])).toEqual({ deals: [], moves: [] });
  });
});

describe('moves', () => {
  it('go from the most to the least loaded node, the latest partition first', () => {
    const all = [placed(0, { at: 'a', since: 5 }), placed(1, { at: 'a', since: 9 }), placed(2, { at: 'a', since: 7 })];
    expect(moved(['a', 'b'], all)).toEqual(['1: a@1 → b@1']);
  });

  it.each([
    { what: 'a difference of one', counts: { a: 3, b: 2, c: 2 } },
    { what: 'more nodes than partitions', counts: { a: 1, b: 1, c: 0 } },
    { what: 'no partition at all', counts: { a: 0, b: 0 } },
  ])('are not needed with $what', ({ counts }) => {
    expect(moved(Object.keys(counts), having(counts))).toEqual([]);
  });

  it('leave the larger shares with the nodes that have the most', () => {
    expect(moved(['a', 'b', 'c'], having({ a: 2, b: 5, c: 1 }))).toEqual(['6: b@1 → c@1', '5: b@1 → a@1']);
  });

  it('skip partitions with a change under way, and count them at their next node', () => {
    expect(moved(['a', 'b'], having({ a: 4, b: 0 }, { mayMove: false }))).toEqual([]);
    const asked = having({ b: 2 }, { mayMove: false });
    expect(moved(['a', 'b'], [...asked, placed(7, { at: 'a' }), placed(8, { at: 'a' })])).toEqual([]);
  });

  it('neither take from nor give to a node that is not a member', () => {
    const all = having({ a: 0, b: 1, gone: 9 });
    expect(balance(members('a', 'b'), all)).toEqual({ deals: [], moves: [] });
  });
});

describe('a pinned partition', () => {
  it('goes to its node first, and the rest is evened out around it', () => {
    const all = [
      placed('p', { at: 'a', pin: 'b' }),
      placed(1, { at: 'a' }),
      placed(2, { at: 'b' }),
      placed(3, { at: 'b' }),
    ];
    expect(moved(['a', 'b'], all)).toEqual(['p: a@1 → b@1', '3: b@1 → a@1']);
  });

  it('is dealt to its node, however much that node has', () => {
    expect(dealt(['a', 'b'], [...having({ a: 9, b: 0 }, { pin: 'a' }), placed('p', { pin: 'a' })])).toEqual([
      'p → a@1',
    ]);
  });

  it('stays at its node, even if that is uneven', () => {
    expect(moved(['a', 'b'], having({ a: 5, b: 0 }, { pin: 'a' }))).toEqual([]);
  });

  it('may go to any node if its node is gone', () => {
    expect(moved(['a', 'b'], having({ a: 2, b: 0 }, { pin: 'gone' }))).toEqual(['1: a@1 → b@1']);
    expect(dealt(['a', 'b'], [placed(0, { pin: 'gone' }), placed(1, { pin: 'gone' })])).toEqual(['0 → a@1', '1 → b@1']);
  });

  it('waits while a change of it is under way', () => {
    expect(moved(['a', 'b'], [placed('p', { at: 'a', pin: 'b', mayMove: false }), placed(1, { at: 'b' })])).toEqual([]);
  });
});

describe('weights', () => {
  it('even out loads and not numbers', () => {
    const all = [placed('big', { at: 'a', weight: 4 }), ...[1, 2, 3, 4].map((name) => placed(name, { at: 'a' }))];
    expect(moved(['a', 'b'], all)).toEqual(['big: a@1 → b@1']);
  });

  it('move no partition that would only swap the larger load', () => {
    expect(moved(['a', 'b'], [placed('big', { at: 'a', weight: 9 }), placed(1, { at: 'b' })])).toEqual([]);
  });

  it('move the partition that evens two nodes out best, and no other', () => {
    const all = [9, 5, 4, 1].map((weight) => placed(`w${weight}`, { at: 'a', weight }));
    expect(moved(['a', 'b'], all)).toEqual(['w9: a@1 → b@1']);
  });
});
