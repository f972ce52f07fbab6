import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawElements, rawMembers } from '../../src/batching/json-text.ts';

describe('raw JSON', () => {
  it('keeps a number that a JavaScript number cannot hold', () => {
    expect(rawMembers('{"payload": {"n":12345678901234567890} , "id":"a"}').get('payload')).toBe(
      '{"n":12345678901234567890}',
    );
  });

  it('is not misled by brackets, quotes and escapes inside strings', () => {
    const text = String.raw`{"a":"}\"]\\","b\u0063":[{"x":"]"}], "c":{}}`;
    expect(Object.fromEntries(rawMembers(text))).toEqual({ a: String.raw`"}\"]\\"`, bc: '[{"x":"]"}]', c: '{}' });
  });

  it('takes the last of two equal keys, as JSON.parse does', () => {
    expect(rawMembers('{"a":1,"a":2}').get('a')).toBe('2');
  });

  it('gives slices that parse to what the whole parses to', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2, '\t'), (object, space) => {
        const text = JSON.stringify(object, null, space);
        const members = [...rawMembers(text)].map(([key, raw]) => [key, JSON.parse(raw)] as const);
        expect(Object.fromEntries(members)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 3), (array, space) => {
        const text = JSON.stringify(array, null, space);
        expect(rawElements(text).map((raw) => JSON.parse(raw))).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('walks deep nesting and long strings without recursion', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const long = JSON.stringify('\\"'.repeat(200_000));
    const members = rawMembers(`{"deep":${deep},"long":${long}}`);
    expect(members.get('deep')).toBe(deep);
    expect(members.get('long')).toBe(long);
  });
});
