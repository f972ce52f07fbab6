import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { HTTP, problemsIn } from './problems.ts';

const ship = { target: ['account'], downstream: HTTP };
/** The problems of a limit that no operation names. Paths begin in the limit. */
const ofLimit = (api: unknown): string[] =>
  problemsIn({ operations: { ship }, limits: { api } }).map((each) => each.replace(/^limits\.api[. ]/, ''));
/** The problems of an operation that names limits. Paths begin in the operation. */
const ofOperation = (operation: object, limits: object): string[] =>
  problemsIn({ operations: { ship: { ...ship, ...operation } }, limits }).map((each) =>
    each.replace(/^operations\.ship[. ]/, ''),
  );

const WHOLE = (most: number, or = ', or null for no limit') => `must be a whole number from 1 to ${most}${or}, not`;
const WEIGHT = 'must be a number above 0 and at most 1000000000000, or null for no limit, not';
const PER = 'must be a duration from "1s" to "1d" (a number with ms, s, m, h or d), not';
const KEY = 'key must be a list of payload fields such as ["account"], "target", or null for one bucket, not';
const FIELDS = 'key must contain only names of payload fields, such as "account" or "route.origin"';
const NOTHING =
  'needs calls, weight, concurrency.calls or concurrency.weight: without them it limits nothing. Set one of them, or remove the limit';
const BURST = 'burst has an effect only with calls: set calls too, or leave burst out';
const LIMIT_KEYS = 'calls, weight, per, burst, key, concurrency';

describe('a limit is refused', () => {
  it.each<[unknown, string]>([
    [10, 'must be an object such as {"calls": 10, "per": "1m"}, not a number'],
    [{ calls: 0 }, `calls ${WHOLE(1_000_000)} 0`],
    [{ calls: 1_000_001 }, `calls ${WHOLE(1_000_000)} 1000001`],
    [{ calls: 0.5 }, `calls ${WHOLE(1_000_000)} 0.5`],
    [{ weight: 0 }, `weight ${WEIGHT} 0`],
    [{ weight: 1e13 }, `weight ${WEIGHT} 10000000000000`],
    [{ calls: 1, per: '999ms' }, `per ${PER} "999ms"`],
    [{ calls: 1, per: '2d' }, `per ${PER} "2d"`],
    [{ calls: 1, burst: 0 }, `burst ${WHOLE(1_000_000, '')} 0`],
    [{ calls: 1, key: 'Target' }, `${KEY} "Target"`],
    [{ calls: 1, key: {} }, `${KEY} an object`],
    [{ calls: 1, key: ['a..b'] }, FIELDS],
    [{ calls: 1, key: ['a', 7] }, FIELDS],
    [{ calls: 1, key: [] }, 'key must name at least one payload field: leave key out for one bucket of all calls'],
    [{ calls: 1, key: ['a', 'b', 'a'] }, 'key must not name a field twice: "a"'],
    [{ calls: 1, key: [...'abcdefghijk'] }, 'key must name at most ten payload fields, not 11'],
    [{ concurrency: 4 }, 'concurrency must be an object such as {"calls": 4}, not a number'],
    [{ concurrency: { calls: 1_001 } }, `concurrency.calls ${WHOLE(1_000)} 1001`],
    [{ concurrency: { weight: -1 } }, `concurrency.weight ${WEIGHT} -1`],
    [{ calls: 10, call: 10 }, 'call is unknown; did you mean "calls"?'],
    [{ calls: 10, window: '1m' }, `window is unknown; known are ${LIMIT_KEYS}`],
    [{ concurrency: { calls: 4, weigth: 10 } }, 'concurrency.weigth is unknown; did you mean "weight"?'],
    [{ concurrency: { calls: 4, perTarget: 1 } }, 'concurrency.perTarget is unknown; known are calls, weight'],
    [{}, NOTHING],
    [{ calls: null, concurrency: { weight: null } }, NOTHING],
    [{ per: '1m', burst: 5, key: 'target', concurrency: {} }, NOTHING],
    [
      { per: '1s', concurrency: { calls: 1 } },
      'per has an effect only with calls or weight: set one of them too, or leave per out',
    ],
    [{ burst: 1, concurrency: { calls: 1 } }, BURST],
    [{ weight: 5, burst: 2 }, BURST],
    [
      { calls: 10, burst: 11 },
      'burst must not be more than calls (10), which is reached first: lower burst or raise calls',
    ],
  ])('%#: %s', (limit, problem) => expect(ofLimit(limit)).toEqual([problem]));

  it('for its name, or together with all others', () => {
    expect(problemsIn({ operations: { ship }, limits: { 'a b': { calls: 1 } } })).toEqual([
      'limits.a b is not a valid name for a limit: begin with a letter, then up to 63 letters, digits, - or _',
    ]);
    expect(problemsIn({ operations: { ship }, limits: ['api'] })).toEqual([
      'limits must be an object with names of limits as keys, not a list',
    ]);
    expect(problemsIn({ operations: { ship }, limit: {} })).toEqual(['limit is unknown; did you mean "limits"?']);
  });
});

describe('a limit is accepted', () => {
  it.each<[object]>([
    [{ calls: 1_000_000, burst: 1_000_000, per: '1d' }],
    [{ weight: 1e12, burst: 1 }],
    [{ weight: 1e-130 }],
    [{ concurrency: { calls: 1_000 } }],
    [{ concurrency: { weight: 1e12 } }],
    [{ calls: 1, key: [...'abcdefghij'] }],
    [{ calls: 1, key: 'target' }],
    [{ calls: 1, weight: null, key: null }],
  ])('%#: %s', (limit) => expect(ofLimit(limit)).toEqual([]));
});

const CALLS = { calls: 1 };
const ALONE = 'otherwise one call could exceed the limit alone.';

describe('the limits of an operation are refused', () => {
  it.each<[object, object, string]>([
    [{ limits: 'api' }, {}, 'limits must be a list of names of "limits", [] for none, not "api"'],
    [{ limits: [''] }, {}, 'limits.0 must be the name of one of the "limits", not ""'],
    [{ limits: ['api'] }, {}, 'limits.0 names an unknown limit, "api": none is configured under "limits"'],
    [
      { limits: ['api', 'constructor'] },
      { api: CALLS, vendor: CALLS },
      'limits.1 names an unknown limit, "constructor": configured are api, vendor',
    ],
    [
      { limits: ['vendor-apo'] },
      { api: CALLS, 'vendor-api': CALLS },
      'limits.0 names an unknown limit, "vendor-apo": configured are api, vendor-api; did you mean "vendor-api"?',
    ],
    [
      { concurrency: { calls: 4 } },
      {},
      'concurrency.calls belongs to a limit: write limits: {"NAME": {"concurrency": …}} beside operations, and name the limit in the operation. Here are perTarget and total, which count batches',
    ],
    [{ limits: ['b', 'a', 'b'] }, { a: CALLS, b: CALLS }, 'limits must not name a limit twice: "b"'],
    [
      { limits: [...'abcdef'] },
      Object.fromEntries([...'abcdef'].map((name) => [name, CALLS])),
      'limits must name at most five limits, not 6',
    ],
    [
      { target: ['a.b'], limits: ['z', 'api'] },
      { api: { calls: 1, key: ['a.b', 'account'] }, z: CALLS },
      'limits.1 names the limit "api", whose key has the field "account", which is not in target: add it to target, or remove it from limits.api.key',
    ],
    [
      { limits: ['api'], shards: 2 },
      { api: { calls: 1, key: 'target' } },
      'shards must be 1 with the limit "api", whose key is "target": each shard would have a bucket of its own. Leave shards out, or list the fields of target in limits.api.key',
    ],
    [
      { limits: ['api'] },
      { api: { weight: 90 } },
      `batch.maxWeight must be set, to at most 90 (limits.api.weight): ${ALONE} Set it, or remove the limit from limits`,
    ],
    [
      { limits: ['api', 'low'], batch: { maxWeight: 91 } },
      { api: { weight: 100 }, low: { weight: 95, concurrency: { weight: 90.5 } } },
      `batch.maxWeight must not be more than 90.5 (limits.low.concurrency.weight): ${ALONE} Lower maxWeight, or raise the limit`,
    ],
    [
      { limits: ['api'], batch: { maxWeight: 5 }, downstream: { ...HTTP, usageHeader: 'x-usage' } },
      { api: { calls: 1, concurrency: { weight: 5 } } },
      'downstream.usageHeader has an effect only with a limit that has weight: name one in limits, or leave usageHeader out',
    ],
  ])('%#: %s', (operation, limits, problem) => expect(ofOperation(operation, limits)).toEqual([problem]));

  it('for each field of a key that is not in the target', () => {
    const problems = ofOperation({ limits: ['api'] }, { api: { calls: 1, key: ['a', 'account', 'b'] } });
    expect(problems.map((each) => each.replace(/, which.*/, ''))).toEqual([
      'limits.0 names the limit "api", whose key has the field "a"',
      'limits.0 names the limit "api", whose key has the field "b"',
    ]);
  });
});

describe('the limits of an operation are accepted', () => {
  it.each<[object, object]>([
    [{}, { api: { weight: 1, key: ['other'] } }],
    [{ limits: [...'abcde'] }, Object.fromEntries([...'abcde'].map((name) => [name, CALLS]))],
    [{ limits: ['api'], shards: 2 }, { api: { calls: 1, key: ['account'] } }],
    [{ limits: ['api'], shards: 2 }, { api: { calls: 1 } }],
    [{ limits: ['api'], target: [] }, { api: { calls: 1, key: 'target' } }],
    [{ limits: ['api'], batch: { maxWeight: 90 } }, { api: { weight: 90, concurrency: { weight: 90 } } }],
    [{ limits: ['api'], rateLimit: 1, concurrency: { total: 1 } }, { api: CALLS }],
    [
      { limits: ['api'], batch: { maxWeight: 5 }, downstream: { ...HTTP, usageHeader: 'x-usage' } },
      { api: { weight: 5 } },
    ],
    [{ downstream: { ...HTTP, usageHeader: null } }, {}],
  ])('%#: %s', (operation, limits) => expect(ofOperation(operation, limits)).toEqual([]));
});

it('limits that operations share are resolved with their defaults', () => {
  const parsed = parseConfig({
    limits: {
      'vendor-api': {
        ...{ calls: 10, weight: 90_000, per: '1m', burst: 2, key: ['account'] },
        concurrency: { calls: 4, weight: 2_000_000 },
      },
      database: { concurrency: { calls: 8 } },
      // No operation names it.
      spare: { calls: 1, key: 'target' },
    },
    operations: {
      'send-mail': { ...ship, limits: ['vendor-api', 'database'], batch: { maxWeight: 30_000 } },
      'send-fax': { ...ship, limits: ['vendor-api'], batch: { maxWeight: 90_000 } },
    },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const none = { calls: null, weight: null };
  expect(parsed.value.limits).toEqual({
    'vendor-api': {
      ...{ calls: 10, weight: 90_000, per: 60_000, burst: 2, key: ['account'] },
      concurrency: { calls: 4, weight: 2_000_000 },
    },
    database: { ...none, per: 1_000, burst: 1, key: null, concurrency: { calls: 8, weight: null } },
    spare: { calls: 1, weight: null, per: 1_000, burst: 1, key: 'target', concurrency: none },
  });
  expect(Object.values(parsed.value.operations).map(({ limits }) => limits)).toEqual([
    ['database', 'vendor-api'],
    ['vendor-api'],
  ]);
  // The functions read the configuration as JSON.
  expect(JSON.parse(JSON.stringify(parsed.value))).toEqual(parsed.value);
});
