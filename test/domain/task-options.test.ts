import { describe, expect, it } from 'vitest';
import type { Destination } from '../../src/domain/config/endpoints.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { parseRegisterMessage, registeredAt, type SentTask } from '../../src/domain/register/register-message.ts';
import { describeProblem } from '../../src/util/problems.ts';
import { aConfig, aPolicy, NOW } from '../factories/factories.ts';

const ops: Destination = { kind: 'queue', name: 'ops' };
const config: Config = { ...aConfig({ batch: aPolicy({ maxWeight: 50, maxWait: 2_000 }) }), destinations: { ops } };
const good = { operation: 'ship', payload: { depot: 'MUC' } };
const parse = (fields: object | string, within = config) =>
  parseRegisterMessage(within, {
    messageId: 'message-1',
    body: typeof fields === 'string' ? fields : JSON.stringify({ ...good, ...fields }),
  });
const taken = (fields: object, within = config): SentTask => {
  const parsed = parse(fields, within);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};
const problems = (fields: object | string, within = config): string[] => {
  const parsed = parse(fields, within);
  return parsed.ok ? [] : parsed.problems.map(describeProblem);
};

const PRIORITY = 'priority must be a whole number from 0 to 9 (9 is the most urgent)';
const WEIGHT = 'weight must be a number from 1e-130 to 1,000,000,000';
const KEY = 'coalesceKey must be well-formed text of 1 to 128 characters; leave it out for none';
const EXPIRES = 'expiresIn must be a duration from "1s" to "30d", such as "10m"';
const ITEM =
  'fanOutItem must be the id of an item, such as "01J9ZQ4:0:17" (fanOutId:groupId:index), with or without its token';
const CALLBACK = 'callback must be the name of a configured destination';

describe('a task option', () => {
  it('is accepted at both ends of its range', () => {
    expect(taken({ priority: 9, weight: 50, coalesceKey: 'k', expiresIn: '1s', callback: 'ops' })).toMatchObject({
      priority: 9,
      ahead: 18_000,
      weight: 50,
      coalesceKey: 'k',
      expiresIn: 1_000,
      callback: 'ops',
    });
    expect(taken({ priority: 1, weight: 1e-9, coalesceKey: '\u{1f600}'.repeat(64), expiresIn: '30d' })).toMatchObject({
      priority: 1,
      ahead: 2_000,
      weight: 1e-9,
      coalesceKey: '\u{1f600}'.repeat(64),
      expiresIn: 2_592_000_000,
    });
    expect(taken({ weight: 1e9 }, aConfig()).weight).toBe(1e9);
    for (const fanOutItem of ['f:0:0', `${'f'.repeat(64)}:999999999:9999`])
      expect(taken({ fanOutItem }).fanOutItem).toBe(fanOutItem);
  });

  it('is not stored if it has its default value', () => {
    const plain = Object.keys(taken({})).toSorted();
    expect(plain).toEqual(['bytes', 'hasAge', 'id', 'operation', 'payload', 'payloadHash', 'target']);
    expect(Object.keys(taken({ priority: 0, weight: 1 })).toSorted()).toEqual(plain);
  });

  it('`priority` counts at least one second a step, even if `maxWait` is 0', () => {
    const brisk = aConfig({ batch: aPolicy({ maxWait: 0 }) });
    expect(taken({ priority: 3 }, brisk).ahead).toBe(3_000);
  });

  it('`expiresIn` counts from the registration', () => {
    expect(registeredAt(taken({ expiresIn: '10m' }), {}, NOW)).toMatchObject({
      createdAt: NOW,
      startBy: NOW + 600_000,
    });
    expect(registeredAt(taken({ expiresIn: '10m' }), {}, NOW)).not.toHaveProperty('expiresIn');
    expect(registeredAt(taken({}), {}, NOW)).not.toHaveProperty('startBy');
  });

  it.each<[object, string]>([
    ...[-1, 10, 0.5, '5', null, true, []].map((priority): [object, string] => [{ priority }, PRIORITY]),
    ...[0, -1, 1_000_000_001, '5', null, {}].map((weight): [object, string] => [{ weight }, WEIGHT]),
    ...['', 'x'.repeat(129), '\ud800', 7, null].map((coalesceKey): [object, string] => [{ coalesceKey }, KEY]),
    ...['0s', '999ms', '31d', '10', '1.5m', '999999999999d', 600, null].map((expiresIn): [object, string] => [
      { expiresIn },
      EXPIRES,
    ]),
    ...[7, null, {}].map((callback): [object, string] => [{ callback }, CALLBACK]),
    [{ weight: 50.5 }, 'weight is 50.5; a batch of this operation has at most 50 (batch.maxWeight)'],
    [{ callback: 'gone' }, 'callback is unknown: "gone"; configured are ops'],
    [{ callback: 'constructor' }, 'callback is unknown: "constructor"; configured are ops'],
    [{ callback: '__proto__' }, `${CALLBACK.replace('configured ', '')}; configured are ops`],
    [{ callback: '' }, `${CALLBACK.replace('configured ', '')}; configured are ops`],
    [{ callback: 'https://hooks.example/s3cret' }, `${CALLBACK.replace('configured ', '')}; configured are ops`],
    ...[
      '',
      'f',
      'f:0',
      'f:00:1',
      'f:0:-1',
      'f:0:1:2',
      ':0:1',
      'f:0:10000',
      'f g:0:1',
      `${'f'.repeat(65)}:0:1`,
      7,
      null,
    ].map((fanOutItem): [object, string] => [{ fanOutItem }, ITEM]),
    [{ ahead: 5 }, 'ahead is not a field of a register message'],
    [{ startBy: 5 }, 'startBy is not a field of a register message'],
  ])('is refused with a reason if invalid, %#: %s', (fields, problem) => expect(problems(fields)).toEqual([problem]));

  it('is refused if JSON has a number that is too large', () => {
    const body = (field: string) => `{"operation":"ship","payload":{"depot":"MUC"},${field}}`;
    expect(problems(body('"priority":1e400'))).toEqual([PRIORITY]);
    expect(problems(body('"weight":1e400'))).toEqual([WEIGHT]);
    expect(problems(body('"weight":1e-400'))).toEqual([WEIGHT]);
  });

  it('`callback` is refused if no destination is configured', () => {
    const none = { ...config, destinations: {} };
    expect(problems({ callback: 'ops' }, none)).toEqual(['callback is unknown: "ops"; none is configured']);
  });

  it('`weight` counts as 1 if it is left out, and may be refused then', () => {
    const light = aConfig({ batch: aPolicy({ maxWeight: 0.5 }) });
    expect(problems({}, light)).toEqual([
      'weight is 1 by default; a batch of this operation has at most 0.5 (batch.maxWeight)',
    ]);
    expect(problems({ weight: 'x' }, light)).toEqual([WEIGHT]);
    expect(problems({ weight: 0.5 }, light)).toEqual([]);
  });

  it('is refused with all reasons at once, also those of the configuration', () => {
    const wrong = {
      priority: 10,
      weight: 99,
      coalesceKey: '',
      expiresIn: 'soon',
      callback: 'gone',
      fanOutItem: 'f',
      payload: {},
      more: 1,
    };
    expect(problems(wrong).map((each) => each.split(' ')[0])).toEqual([
      'priority',
      'coalesceKey',
      'expiresIn',
      'fanOutItem',
      'more',
      'payload.depot',
      'weight',
      'callback',
    ]);
    const unknown = { operation: 'none', priority: 10, callback: 'gone' };
    expect(problems(unknown).map((each) => each.split(' ')[0])).toEqual(['priority', 'operation', 'callback']);
  });
});
