import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, rawElements, rawMembers } from '../../src/util/json-text.ts';

describe('raw JSON', () => {
  it('keeps a number that a JavaScript number cannot hold', () => {
    expect(rawMembers('{"payload": {"n":12345678901234567890} , "id":"a"}').get('payload')).toBe(
      '{"n":12345678901234567890}',
    );
  });

  it('treats brackets, quotes and escapes inside strings as text', () => {
    const text = String.raw`{"a":"}\"]\\","b\u0063":[{"x":"]"}], "c":{}}`;
    expect(Object.fromEntries(rawMembers(text))).toEqual({ a: String.raw`"}\"]\\"`, bc: '[{"x":"]"}]', c: '{}' });
  });

  it('takes the last of two equal keys, as JSON.parse does', () => {
    expect(rawMembers('{"a":1,"a":2}').get('a')).toBe('2');
  });

  it('gives slices that parse to the same values as the whole text', () => {
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

  it('reads deep nesting and long strings without recursion', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const long = JSON.stringify('\\"'.repeat(200_000));
    const members = rawMembers(`{"deep":${deep},"long":${long}}`);
    expect(members.get('deep')).toBe(deep);
    expect(members.get('long')).toBe(long);
  });
});

describe('an unparsable text', () => {
  const reasonFor = (text: string): string => {
    const parsed = parseJson(text);
    return parsed.ok ? '' : (parsed.problems[0]?.reason ?? '');
  };

  it('is refused without a quotation, as reasons are logged', () => {
    const odd = [
      '{"password":hunter2}',
      '{"password":"hunter2",}',
      '{"password":"hunter2',
      '{"password":"hunter2" "x":1}',
      '{"password":"hunter2\n"}',
      '{"password":"hunter2"}x',
      "{'password':'hunter2'}",
      'hunter2',
      '"hunter2" is not valid JSON',
      '{"a":"\\hunter2"}',
      '{"a":"\\u00hunter2"}',
      '{"a":tru_hunter2}',
      '{"a":-hunter2}',
      'hunter2 '.repeat(100),
    ];
    for (const text of odd) {
      expect(reasonFor(text), text).toMatch(/^is not JSON: ./);
      expect(reasonFor(text), text).not.toMatch(/unter2|hunt/);
    }
  });

  it('is refused for too many brackets and commas, not for its length', () => {
    const tooMany = /more than 1000000 brackets and commas/;
    expect(reasonFor(`[${'[],'.repeat(1_000_000)}[]]`)).toMatch(tooMany);
    expect(reasonFor(`${'['.repeat(1_000_001)}${']'.repeat(1_000_001)}`)).toMatch(tooMany);
    expect(reasonFor(`[${'"\\",[",'.repeat(1_000_001)}1]`)).toMatch(tooMany);
    expect(parseJson(JSON.stringify('[{",\\'.repeat(1_000_000))).ok).toBe(true);
    expect(parseJson(`[${'1000000,'.repeat(700_000)}1]`).ok).toBe(true);
    expect(reasonFor(`"${'\\"'.repeat(1_000_000)}`)).toMatch(/^is not JSON/);
  });
});
