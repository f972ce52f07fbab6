import { describe, expect, it } from 'vitest';
import { operationOf } from '../../src/domain/ids.ts';
import { targetOf } from '../../src/domain/target.ts';
import { id, operationName, target } from '../factories/factories.ts';

const grouping = (keys: string[], shards = 1) => ({ operation: operationName('ship'), keys, shards });
const of = (keys: string[], payload: object, shards?: number, task = 'task-1') =>
  targetOf(grouping(keys, shards), payload, id(task), JSON.stringify(payload));

describe('a Target', () => {
  it('is the operation and the grouping values, in the configured order', () => {
    expect(of(['carrier', 'depot'], { depot: 'MUC', carrier: 'DHL', weight: 3 })).toBe('ship/carrier=DHL/depot=MUC');
  });

  it('is the operation alone without grouping keys', () => {
    expect(of([], { depot: 'MUC' })).toBe('ship');
  });

  it('percent-encodes its own punctuation in values', () => {
    expect(of(['depot'], { depot: 'a/b=c#d~e ü' })).toBe('ship/depot=a%2Fb%3Dc%23d%7Ee%20%C3%BC');
  });

  it('reads nested values by dots, and accepts numbers and booleans', () => {
    expect(of(['route.origin', 'express', 'zone'], { route: { origin: 'MUC' }, express: true, zone: 1.5 })).toBe(
      'ship/route.origin=MUC/express=true/zone=1.5',
    );
  });

  it('reports every value that is missing or cannot be grouped by', () => {
    const problems = of(['a', 'b', 'c', 'd', 'e'], { b: null, c: { x: 1 }, d: 2 ** 60, e: JSON.parse('1e400') });
    expect(problems).toMatchObject([
      { path: 'payload.a' },
      { path: 'payload.b' },
      { path: 'payload.c' },
      { path: 'payload.d' },
      { path: 'payload.e' },
    ]);
  });

  it.each([
    '0.1000000000000000055',
    '1.00000000000000000001',
    '9007199254740991.4',
    '-9007199254740990.6',
    '1e-400',
    '123456789.123456789123',
  ])('refuses a number that would be rounded: %s', (number) => {
    const text = `{"list": [1, ${number}], "zone": {"at": ${number}}}`;
    const reason = 'is a number with too many digits to be read exactly; send it as a string';
    expect(targetOf(grouping(['zone.at', 'list.1', 'list.0', 'list.length']), JSON.parse(text), id('t'), text)).toEqual(
      [
        { path: 'payload.zone.at', reason },
        { path: 'payload.list.1', reason },
      ],
    );
  });

  it.each([
    ['1', ['1', '1.0', '1e0', '10E-1', '0.1e+1', '1.00000000000000000000']],
    ['0', ['0', '-0', '0.0', '0e999', '-0.00000000000000000000']],
    ['0.1', ['0.1', '1e-1', '0.10000000000000000']],
    ['9007199254740991', ['9007199254740991', '9007199254740991.0', '9.007199254740991e15']],
    ['5e-324', ['5e-324', '0.5e-323']],
  ])('is the same for equal numbers: %s', (value, written) => {
    for (const number of written) {
      const text = `{"zone":${number}}`;
      expect([number, targetOf(grouping(['zone']), JSON.parse(text), id('t'), text)]).toEqual([
        number,
        `ship/zone=${value}`,
      ]);
    }
  });

  it('ignores inherited properties', () => {
    expect(of(['constructor'], {})).toMatchObject([{ path: 'payload.constructor' }]);
    expect(of(['__proto__'], JSON.parse('{"__proto__":"x"}') as object)).toBe('ship/__proto__=x');
  });

  it('refuses half a surrogate pair', () => {
    expect(of(['depot'], { depot: '\ud800' })).toMatchObject([{ path: 'payload.depot' }]);
  });

  it('has at most 512 bytes', () => {
    const room = 512 - 'ship/depot='.length;
    expect(of(['depot'], { depot: 'x'.repeat(room) })).toHaveLength(512);
    expect(of(['depot'], { depot: 'x'.repeat(room + 1) })).toMatchObject([{ path: 'payload' }]);
  });

  it('is split into shards by the task; one task always has the same shard', () => {
    const shards = new Set(Array.from({ length: 200 }, (_, n) => of(['depot'], { depot: 'MUC' }, 4, `task-${n}`)));
    expect([...shards].sort()).toEqual([
      'ship/depot=MUC~0',
      'ship/depot=MUC~1',
      'ship/depot=MUC~2',
      'ship/depot=MUC~3',
    ]);
    expect(of(['depot'], { depot: 'MUC' }, 4, 'task-7')).toBe(of(['depot'], { depot: 'MUC' }, 4, 'task-7'));
  });

  it('contains its operation, sharded or not', () => {
    expect(operationOf(target('ship/depot=MUC~3'))).toBe('ship');
    expect(operationOf(target('ship~3'))).toBe('ship');
  });
});
