import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Limit } from '../../src/domain/config/limits.ts';
import { attemptTime, type Config, type Operation, operationFor } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { isObject } from '../../src/util/json-text.ts';
import { operationName } from '../factories/factories.ts';
import { committed, faultsOf, validator } from '../published/ajv.ts';

/** Leaves out any of the members. */
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(members: T) => fc.record(members, { requiredKeys: [] });
const pick = fc.constantFrom;
/**
 * Rarely values that are valid in few combinations: with such values alone, hardly any configuration would be valid.
 */
const mostly = <T>(usual: readonly T[], odd: readonly T[]) =>
  fc.oneof({ weight: 9, arbitrary: pick(...usual) }, { weight: 1, arbitrary: pick(...odd) });
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const timeout = mostly(['100ms', '10s'], ['4m']);
const secret = pick({ ssm: '/prod/key' }, { secretsManager: 'key' });
const headers = pick({}, { 'x-team': 'a' }, { authorization: { ssm: 'key' } });
const deadline = mostly(['1m', '1h'], ['7d']);
const requireResults = pick(true, false, null);
const http = { kind: 'http', url: 'https://parcels.example/batch' };
const withSome = (fixed: object, more: Record<string, fc.Arbitrary<unknown>>) =>
  some(more).map((each) => ({ ...fixed, ...each }));

const downstream = fc.oneof(
  withSome(http, {
    headers,
    secret: orNull(secret),
    usageHeader: mostly([null], ['x-usage']),
    timeout,
    deadline,
    requireResults,
  }),
  withSome({ kind: 'lambda', function: 'f' }, { timeout: mostly(['10s'], ['14m']), deadline, requireResults }),
  withSome({ kind: 'step-functions', stateMachine: 'm' }, { timeout, deadline, requireResults }),
  withSome({ kind: 'queue', name: 'q' }, { timeout }),
);
const destination = fc.oneof(
  pick({ kind: 'queue', name: 'q' }, { kind: 'topic', name: 't' }, { kind: 'event-bus', name: 'b' }),
  withSome({ ...http, secret: { ssm: 'key' } }, { headers, timeout }),
);

const limit = some({
  calls: mostly([10], [null, 1]),
  weight: mostly([null, 1e12], [0.5]),
  per: mostly(['1s', '1m'], ['1d']),
  burst: mostly([1], [5, 1_000_000]),
  key: mostly<unknown>([null, ['depot']], ['target', ['a.b', 'c']]),
  concurrency: some({ calls: orNull(pick(1, 1_000)), weight: mostly([null], [0.5, 1e12]) }),
});

const operation = fc
  .record({
    target: mostly([[], ['depot'], ['a.b', 'c']], [['x'.repeat(600)]]),
    downstream,
    more: some({
      batch: some({
        maxSize: mostly([50, 1_000], [1]),
        maxBytes: mostly([1_000, 240_000], [900_000, 6_000_000]),
        maxWeight: pick(0, 0.5, 1e9),
        maxWait: pick('0s', '1s', '7d'),
        quietPeriod: mostly(['0s', '500ms'], ['1d']),
        minSize: mostly([1], [5, 50, 1_000]),
        window: orNull(pick('1s', '1d')),
      }),
      merge: mostly([null, { keys: 'inputs[].id' }], [{ keys: 'a[]' }]),
      bypass: mostly([null], [{ bytes: 1 }, { bytes: 262_144 }]),
      concurrency: some({ perTarget: mostly([null, 1], [25]), total: orNull(pick(1, 25)) }),
      retry: some({
        immediate: mostly([0, 1], [10]),
        maxAttempts: mostly([1, 5], [100]),
        minDelay: mostly(['0s', '1s'], ['1d']),
        maxDelay: pick('1s', '1d'),
        bisect: fc.boolean(),
      }),
      callbacks: some({ failed: mostly([null], ['ops', 'gone']), succeeded: mostly([null], ['ops']) }),
      rateLimit: orNull(pick(0.001, 1_000)),
      limits: mostly([[], ['api']], [['db'], ['db', 'api']]),
      circuit: orNull(some({ failures: pick(1, 5), coolDown: pick('1s', '15m') })),
      shards: mostly([1], [4]),
      keepTasks: mostly(['30d', '3650d'], ['1h']),
    }),
  })
  .map(({ more, ...rest }) => ({ ...rest, ...more }));

const config = fc
  .record({ ship: operation, ops: orNull(destination), limits: some({ api: limit, db: limit }) })
  .map(({ ship, ops, limits }) => ({ operations: { ship }, limits, ...(ops ? { destinations: { ops } } : {}) }));

/** Whether a path leads to a value in the file, or to an absent key of a section in it. Lists are only at its end. */
const leadsSomewhere = (input: unknown, path: string): boolean => {
  const above = path.split('.').slice(0, -1);
  // An absent section counts with its defaults.
  const reached = above.reduce<unknown>((at, name) => (isObject(at) ? (at[name] ?? {}) : undefined), input);
  return isObject(reached) || Array.isArray(reached);
};

/** The conditions of the limits that an operation names. */
const fitsItsLimits = ({ limits }: Config, { keys, shards, batch, limits: names }: Operation): void => {
  expect(names).toEqual(names.toSorted());
  for (const name of names) {
    const { calls, weight, burst, key, concurrency } = limits[name] as Limit;
    expect([calls, weight, concurrency.calls, concurrency.weight].some((each) => each !== null)).toBe(true);
    expect(burst).toBeLessThanOrEqual(calls ?? 1);
    if (key === 'target') expect(shards).toBe(1);
    else expect(keys).toEqual(expect.arrayContaining([...(key ?? [])]));
    for (const most of [weight, concurrency.weight])
      if (most !== null) expect(batch.maxWeight > 0 && batch.maxWeight <= most).toBe(true);
  }
};

/** The conditions that every step relies on. */
const keepsItsPromises = ({
  batch,
  concurrency,
  downstream: called,
  retry,
  merge,
  shards,
  keepTasks,
}: Operation): void => {
  expect(batch.minSize).toBeLessThanOrEqual(batch.maxSize);
  expect(batch.maxWait).toBe(batch.window ?? batch.maxWait);
  expect(batch.quietPeriod === 0 || batch.quietPeriod < batch.maxWait).toBe(true);
  expect(batch.bypass ?? 0).toBeLessThanOrEqual(batch.maxBytes);
  expect(batch.bypass === null || batch.window !== null).toBe(true);
  expect(batch.maxBytes).toBeLessThanOrEqual(
    { http: 6e6, lambda: 6e6, 'step-functions': 25e4, queue: 1e6 }[called.kind],
  );
  expect(merge === null || (concurrency.perTarget === 1 && shards === 1)).toBe(true);
  expect(concurrency.perTarget === null || shards === 1).toBe(true);
  expect(concurrency.perTarget ?? 0).toBeLessThanOrEqual(concurrency.total ?? 1_000);
  expect(retry.minDelay).toBeLessThanOrEqual(retry.maxDelay);
  expect(attemptTime(called.timeout, retry.immediate)).toBeLessThanOrEqual(900_000);
  expect(keepTasks).toBeGreaterThanOrEqual(retry.maxAttempts * (retry.maxDelay + called.timeout));
};

/** The published schema, for editors. */
const validate = validator(committed('config.schema.json'));

it('a configuration of valid parts is valid, or each problem has a path and a reason', () => {
  const seen = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(config, (input) => {
      const parsed = parseConfig(input);
      seen[parsed.ok ? 'right' : 'wrong'] += 1;
      // A schema cannot check combinations: each part is valid alone.
      expect(faultsOf(validate, input)).toEqual([]);
      if (parsed.ok) {
        const resolved = operationFor(parsed.value, operationName('ship'));
        fitsItsLimits(parsed.value, resolved);
        return keepsItsPromises(resolved);
      }
      expect(parsed.problems.length).toBeGreaterThan(0);
      for (const { path, reason } of parsed.problems) {
        expect([path, leadsSomewhere(input, path)]).toEqual([path, true]);
        // No message of zod, which begin with a capital, and no problem of a key, since all keys are known.
        expect(reason).toMatch(
          /^(?:must|needs|has an effect only|has names so long|is too long|cannot be combined|is \d+\w+: it must|names)\b/,
        );
      }
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(100);
});

it('any value in any place of a configuration is refused with a readable reason', () => {
  const places = fc.constantFrom<readonly string[]>(
    [],
    ['operations'],
    ['operations', 'ship'],
    ...[
      'target',
      'batch',
      'merge',
      'bypass',
      'concurrency',
      'retry',
      'callbacks',
      'rateLimit',
      'limits',
      'circuit',
      'keepTasks',
    ].map((name) => ['operations', 'ship', name]),
    ['operations', 'ship', 'downstream'],
    ['operations', 'ship', 'downstream', 'headers'],
    ['operations', 'ship', 'downstream', 'secret'],
    ['operations', 'ship', 'batch', 'maxWait'],
    ['limits'],
    ['limits', 'api'],
    ['limits', 'api', 'key'],
    ['limits', 'api', 'concurrency'],
    ['destinations'],
    ['destinations', 'ops'],
  );
  const put = (path: readonly string[], value: unknown): unknown => {
    const [name, ...rest] = path;
    if (name === undefined) return value;
    const around: Record<string, object> = {
      operations: { ship: { target: [], downstream: http } },
      ship: { target: [], downstream: http },
      downstream: http,
    };
    const inside = { ...around[name] };
    const below = rest[0];
    return { [name]: below === undefined ? value : { ...inside, ...(put(rest, value) as object) } };
  };
  fc.assert(
    fc.property(
      places,
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
      (path, value) => {
        const parsed = parseConfig(put(path, value));
        if (parsed.ok) {
          expect(faultsOf(validate, put(path, value))).toEqual([]);
          return;
        }
        for (const { reason } of parsed.problems)
          expect(reason).toMatch(/^(?:must|is|has|needs|only|names|leaves|does not)\b/);
      },
    ),
    { numRuns: 3_000 },
  );
});
