import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonTokens } from '../../../tools/console/page/src/model/json-tokens.ts';

const printed = (json: string): string =>
  jsonTokens(json)
    .map(({ text }) => text)
    .join('');

it('numbers, strings and keys stay verbatim, also if parsing would change them', () => {
  const json = '{"id":12345678901234567890,"x":1.50,"e":1E+2,"n":"caf\\u00e9 \\" {,}","10":[],"2":{},"b":[true,null]}';
  expect(printed(json)).toBe(
    '{\n  "id": 12345678901234567890,\n  "x": 1.50,\n  "e": 1E+2,\n  "n": "caf\\u00e9 \\" {,}",\n  "10": [],\n  "2": {},\n  "b": [\n    true,\n    null\n  ]\n}',
  );
});

it('each token has its kind', () => {
  expect(jsonTokens('{"a":"b","c":-1,"d":false}').filter(({ kind }) => kind !== 'mark')).toEqual([
    { kind: 'key', text: '"a"' },
    { kind: 'string', text: '"b"' },
    { kind: 'key', text: '"c"' },
    { kind: 'number', text: '-1' },
    { kind: 'key', text: '"d"' },
    { kind: 'word', text: 'false' },
  ]);
});

it('any JSON is laid out as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(printed(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
    }),
  );
});
