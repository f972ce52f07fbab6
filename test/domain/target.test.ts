import { describe, expect, it } from 'vitest';
import { operationOf } from '../../src/domain/ids.ts';
import { targetOf } from '../../src/domain/target.ts';
import { id, operationName, target } from '../factories/factories.ts';

const grouping = (keys: string[], shards = 1) => ({ operation: operationName('ship'), keys, shards });
const of = (keys: string[], payload: object, shards?: number, task = 'task-1') =>
  targetOf(grouping(keys, shards), payload, id(task));

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
