import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Fifo, SortedRows } from '../../src/memory/ordered.ts';

it('a Fifo gives any element, and keeps the order of the others', () => {
  const act = fc.oneof(fc.record({ push: fc.nat() }), fc.record({ take: fc.nat() }));
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const [line, like]: [Fifo<number>, number[]] = [new Fifo(), []];
      for (const each of acts) {
        if ('push' in each) {
          line.push(each.push);
          like.push(each.push);
        } else if (like.length > 0) {
          const index = each.take % like.length;
          expect(line.take(index)).toBe(like.splice(index, 1)[0]);
        }
        expect([...line]).toEqual(like);
        expect(line.length).toBe(like.length);
      }
    }),
  );
});

it('a Fifo of many elements taken from the front keeps no taken element', () => {
  const line = new Fifo<number>();
  for (let n = 0; n < 10_000; n += 1) line.push(n);
  for (let n = 0; n < 9_990; n += 1) expect(line.take(0)).toBe(n);
  line.push(-1);
  expect([...line]).toEqual([9_990, 9_991, 9_992, 9_993, 9_994, 9_995, 9_996, 9_997, 9_998, 9_999, -1]);
});

it('SortedRows gives rows in key order after any puts and removals', () => {
  const key = fc.nat({ max: 40 }).map((n) => String(n).padStart(3, '0'));
  const act = fc.oneof(fc.record({ put: key }), fc.record({ remove: key }));
  fc.assert(
    fc.property(fc.array(act, { maxLength: 80 }), fc.nat({ max: 10 }), (acts, limit) => {
      const rows = new SortedRows<string>();
      const like = new Map<string, string>();
      for (const [index, each] of acts.entries()) {
        if ('put' in each) {
          rows.set(each.put, `${each.put} of ${index}`);
          like.set(each.put, `${each.put} of ${index}`);
        } else expect(rows.delete(each.remove)).toBe(like.delete(each.remove));
        const inTurn = [...like.keys()].sort().map((at) => like.get(at));
        expect(rows.first(limit)).toEqual(inTurn.slice(0, limit));
        expect(rows.size).toBe(like.size);
      }
    }),
  );
});

it('SortedRows does not keep removed rows, however many', () => {
  const rows = new SortedRows<number>();
  const key = (n: number): string => String(n).padStart(6, '0');
  for (let n = 0; n < 5_000; n += 1) rows.set(key(n), n);
  for (let n = 0; n < 4_999; n += 1) rows.delete(key(n));
  rows.set(key(1), 1);
  expect(rows.first(10)).toEqual([1, 4_999]);
});
