import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemIdOf, parseStoredItem } from '../../src/domain/fan-out-ids.ts';
import {
  type ClaimId,
  type ClaimKey,
  claimId,
  claimKey,
  claimKeyOf,
  freeKeyOf,
  handleOf,
  itemOf,
  type ListId,
  leaseKeyOf,
  listId,
  listOf,
  parseHandle,
  parseLeaseKey,
  taskOf,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import { freed } from '../../src/domain/lists/list.ts';
import { LIST } from './kit.ts';
import { delivered, NEVER } from './pure-kit.ts';

const listIds = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/).map((text) => listId(text) as ListId);
const claimIds = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_@-]{0,63}$/);
const handedOut = fc.record({ first: fc.nat(999_999_999_999), count: fc.integer({ min: 1, max: 1_000 }) });

describe('a name', () => {
  it('of a claim that contains a range twice is none', () => {
    const handle = handleOf('l' as ListId, 'a' as never, [
      { first: 1, count: 2 },
      { first: 1, count: 2 },
    ]);
    expect(parseHandle('l' as ListId, handle)).toBe('no-handle');
  });

  it('of a claim is read back with all of its ranges, for its own list only', () => {
    fc.assert(
      fc.property(
        listIds,
        listIds,
        claimIds,
        fc.uniqueArray(handedOut, { minLength: 1, maxLength: 20, selector: ({ first }) => first }),
        (list, other, text, all) => {
          const claim = claimId(text);
          if (claim === undefined) throw new Error(`no claim's name: ${text}`);
          const handle = handleOf(list, claim, all);
          expect(parseHandle(list, handle)).toEqual({ claim, ranges: all });
          if (other !== list) expect(parseHandle(other, handle)).toBe('of-another-list');
          expect(claimKey(claimKeyOf(claim))).toBe(claimKeyOf(claim));
        },
      ),
    );
  });

  it('of a claim is refused in any other form', () => {
    const handle = handleOf(LIST, claimId('a') as never, [{ first: 0, count: 1 }]);
    const mark = handle.split('.').at(-1);
    for (const wrong of [
      '',
      'a',
      'a.0.1',
      `a.${mark}`,
      `a.0.${mark}`,
      `a.0.0.${mark}`,
      `a.00.1.${mark}`,
      `a.0.01.${mark}`,
      `a.-1.1.${mark}`,
      `a.0.1.2.${mark}`,
      `a.0.1.2.0.${mark}`,
      `.0.1.${mark}`,
      `-a.0.1.${mark}`,
      `a.b.0.1.${mark}`,
      `a${'.0.1'.repeat(33)}.${mark}`,
      `${handle}x`,
      ` ${handle}`,
      `${handle}\n`,
      `a.0.100000.${mark}`,
    ])
      expect(parseHandle(LIST, wrong), JSON.stringify(wrong)).toBe('no-handle');
    for (const wrong of ['', '.', 'a.b', '@a', '-a', '_a', 'ü', 'a b', 'a\n', 'x'.repeat(65), 7, undefined])
      expect(claimId(wrong)).toBeUndefined();
    for (const wrong of ['', 'short', 'too-long-1', 'a.b.c.d.', 'üüüüüüüü', '12345678\n'])
      expect(claimKey(wrong), JSON.stringify(wrong)).toBeUndefined();
    expect(parseHandle(LIST, `a.0.1.${'x'.repeat(6)}`)).toBe('of-another-list');
  });

  it('of a lease is read back with its claim, deliveries and mark', () => {
    const counts = fc.record({ deliveries: fc.integer({ min: 1, max: 100 }), isSuspect: fc.boolean() });
    fc.assert(
      fc.property(claimIds, fc.nat(20), fc.nat(999_999_999_999), counts, (text, place, first, how) => {
        const key = claimKeyOf(text as ClaimId);
        expect(parseLeaseKey(leaseKeyOf(key, place, how))).toEqual({ claim: key, ...how });
        expect(parseLeaseKey(freeKeyOf(first, how))).toEqual(how);
      }),
    );
  });

  it('of a lease in its first delivery is that of an older release', () => {
    const key = 'ab-_1234' as ClaimKey;
    for (const [name, place, how] of [
      ['ab-_1234', 0, delivered(1)],
      ['ab-_1234~2', 2, delivered(1)],
      ['ab-_1234*2', 0, delivered(2)],
      ['ab-_1234~1!12', 1, delivered(12, true)],
    ] as const)
      expect([leaseKeyOf(key, place, how), parseLeaseKey(name)]).toEqual([name, { claim: key, ...how }]);
    for (const [name, how] of [
      ['@7', NEVER],
      ['@7*1', delivered(1)],
      ['@7!3', delivered(3, true)],
    ] as const)
      expect([freeKeyOf(7, how), parseLeaseKey(name)]).toEqual([name, how]);
  });

  it('of a job is its place in the tracker, and names its task', () => {
    fc.assert(
      fc.property(listIds, fc.nat(99_999_999), fc.integer({ min: 1, max: 450 }), (list, token, width) => {
        const item = itemOf(list, token, width);
        expect(item.group * width + item.index).toBe(token);
        expect(item.index).toBeLessThan(width);
        expect(parseStoredItem(itemIdOf(item))).toEqual(item);
        expect(listOf(trackerOf(list))).toBe(list);
        expect(taskOf(list, token)).toBe(`${list}:${token}`);
        expect(listId(trackerOf(list)), 'no caller can name the tracker').toBeUndefined();
      }),
    );
  });

  it('of a free range is its first job', () => {
    expect(freed({ first: 7, count: 3 }, NEVER)).toEqual({ key: '@7', first: 7, count: 3, until: 0, ...NEVER });
  });
});
