import { describe, expect, it } from 'vitest';
import { aimFrom, isMet, missedBy } from '../../tools/simulate/aims.ts';
import { costOf } from '../../tools/simulate/cost.ts';
import { QUICK } from '../../tools/simulate/downstream.ts';
import type { Figures } from '../../tools/simulate/figures.ts';
import { frontOf, kneeOf, type Point } from '../../tools/simulate/knee.ts';
import { loadFrom } from '../../tools/simulate/load.ts';
import { AWS } from '../../tools/simulate/platform.ts';
import { PRICES, sqsRequestsFor } from '../../tools/simulate/prices.ts';
import { recommend } from '../../tools/simulate/recommend.ts';
import { axesFrom, policiesOf, stepsOf, vary } from '../../tools/simulate/vary.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';

const FIGURES: Figures = {
  wait: { mean: 900, p50: 1_000, p95: 3_000, p99: 4_000, max: 6_000 },
  calls: 10,
  callsPerHour: 900,
  fill: 0.5,
  size: 50,
  perDay: 2,
  perMillion: 4,
};

const aim = (text: string) => {
  const parsed = aimFrom(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

describe('an aim', () => {
  it.each([
    ['p99 wait < 5s', 0],
    ['max wait < 5s', 0.2],
    ['wait p50<=500ms', 1],
    ['mean wait < 1s', 0],
    ['p95 wait < 2s', 0.5],
    ['calls < 1000/h', 0],
    ['calls < 0.2/s', 0.25],
    ['cost < $1.60/day', 0.25],
    ['cost < 4/million', 0],
    ['fill > 0.5', 0],
    ['fill > 80%', 0.375],
  ])('is missed by its share: %s by %d', (text, by) => {
    expect(missedBy(aim(text), FIGURES)).toBeCloseTo(by);
    expect(isMet(aim(text), FIGURES)).toBe(by === 0);
  });

  it.each([
    ['p98 wait < 5s', 'is not a valid aim. Valid: mean wait'],
    ['p99 wait < 5', 'is not a valid aim. Valid: p99 wait < a duration'],
    ['p99 wait > 5s', 'is not a valid aim. Valid: p99 wait <'],
    ['calls < 1000', 'is not a valid aim. Valid: calls <'],
    ['cost < $3', 'is not a valid aim. Valid: cost < an amount in dollars'],
    ['fill > 2', 'is not a valid aim. Valid: fill > a share'],
    ['', 'is not a valid aim'],
  ])('is refused with the possible aims: %j', (text, message) => {
    const parsed = aimFrom(text);
    expect(parsed.ok ? '' : parsed.problems[0]?.reason).toContain(message);
  });
});

const at = (wait: number, calls: number): Point => ({ wait, calls, cost: calls / 10 });

describe('a trade-off', () => {
  it('has its knee where the curve bends', () => {
    const elbow = [at(0, 100), at(1, 20), at(5, 15), at(10, 10)];
    expect(kneeOf(elbow)).toBe(elbow[1]);
    const hyperbola = Array.from({ length: 100 }, (_, n) => at(n + 1, 100 / (n + 1)));
    // On scaled axes the tangent of 100/x is parallel to the chord at 10.
    expect(kneeOf(hyperbola)?.wait).toBe(10);
    expect(kneeOf(hyperbola.toReversed())?.wait).toBe(10);
  });

  it('has no knee on a straight line or without a curve', () => {
    expect(kneeOf(Array.from({ length: 11 }, (_, n) => at(n, 10 - n)))).toBeUndefined();
    expect(kneeOf([at(1, 5)])).toBeUndefined();
    expect(kneeOf([at(1, 5), at(2, 5)])).toBeUndefined();
    expect(kneeOf([])).toBeUndefined();
  });

  it('is not changed by dominated policies', () => {
    const elbow = [at(0, 100), at(1, 20), at(10, 10)];
    expect(kneeOf([...elbow, at(1, 90), at(9, 80)])).toBe(elbow[1]);
    expect(frontOf([...elbow, at(1, 90), at(9, 80)])).toEqual(elbow);
    // Of two equal policies neither dominates the other.
    expect(frontOf([at(1, 1), at(1, 1)])).toHaveLength(2);
  });
});

describe('a varied setting', () => {
  it('is a list, or a range in equal factors with both ends', () => {
    expect(axesFrom('maxSize=10,50,100')).toEqual({ ok: true, value: { maxSize: [10, 50, 100] } });
    expect(stepsOf(10, 1_000, 3)).toEqual([10, 100, 1_000]);
    const zero = stepsOf(0, 60_000, 5);
    expect([zero[0], zero[1], zero.at(-1)]).toEqual([0, 60, 60_000]);
    const parsed = axesFrom('maxWait=0s..60s maxSize=10..500');
    if (!parsed.ok) throw new Error('refused');
    expect(policiesOf(parsed.value)).toHaveLength(36);
  });

  it.each([
    ['', 'give one or two settings'],
    ['maxWait=1s,2s maxSize=1,2 total=1,2', 'give one or two settings'],
    ['maxWait=60s..1s', 'maxWait takes a range such as'],
    ['maxWait=5', 'maxWait takes a range such as'],
    ['maxSizes=5', 'did you mean "maxSize"?'],
    ['maxWait=1s,2s window=1s,2s', 'exclude each other'],
    [
      `maxSize=${Array.from({ length: 21 }, (_, n) => n + 1)} maxWait=${Array.from({ length: 21 }, (_, n) => `${n}s`)}`,
      '441',
    ],
  ])('is refused: %j', (text, message) => {
    const parsed = axesFrom(text);
    const said = parsed.ok ? [] : parsed.problems.map(({ path, reason }) => `${path} ${reason}`);
    expect(said.join()).toContain(message);
  });
});

describe('policies over one load', () => {
  const input = {
    operations: { ship: operationAt('http://127.0.0.1:1/batch', { batch: { maxSize: 50, maxWait: '1s' } }) },
  };
  const [operation] = Object.values(configFrom(input).operations);
  const subject = { input, operation: 'ship' };
  const load = loadFrom('rate=20/s targets=2 duration=15s');
  if (!load.ok || !operation) throw new Error('refused');
  const setting = {
    source: { kind: 'load', load: load.value, operation: 'ship' },
    downstream: QUICK,
    surroundings: AWS,
    seed: 1,
  } as const;

  it('trade waits for calls, and refused ones are reported', async () => {
    const varied = await vary(subject, setting, { maxWait: [200, 1_000, 5_000], quietPeriod: [0, 300] });
    expect(varied.refused).toEqual([
      {
        policy: { maxWait: 200, quietPeriod: 300 },
        reason: expect.stringContaining('operations.ship.batch.quietPeriod'),
      },
    ]);
    const patient = varied.tried.filter(({ policy }) => policy.quietPeriod === 0);
    expect(patient).toHaveLength(3);
    const calls = patient.map((each) => each.calls);
    expect(calls).toEqual(calls.toSorted((a, b) => b - a));
    const waits = patient.map(({ wait }) => wait.p99);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(varied.front.length).toBeGreaterThanOrEqual(2);
  });

  it('are found for an aim, and cost less than policies without waits', async () => {
    const found = await recommend(subject, operation, setting, [aim('p99 wait < 3s')], {
      tasks: 300,
      onDone: () => {},
    });
    expect(found.proposed?.wait.p99).toBeLessThan(3_000);
    const { tried } = await vary(subject, setting, { maxWait: [0, 500, 1_000] });
    // Among policies whose cost differs by less than 1%, the search takes the one with the shorter wait.
    for (const { perDay } of tried) expect((found.proposed?.perDay ?? Infinity) * 0.99).toBeLessThan(perDay);
  });

  it('are not found for contradicting aims, which are named', async () => {
    const [wait, calls, fill, cost] = [
      aim('p99 wait < 1s'),
      aim('calls < 2000/h'),
      aim('fill > 0.01'),
      aim('cost < $0.01/million'),
    ];
    const found = await recommend(subject, operation, setting, [wait, calls, fill, cost], {
      tasks: 300,
      onDone: () => {},
    });
    expect(found.proposed).toBeUndefined();
    expect(found.contradicting).toEqual([wait, calls]);
    expect(found.unmet).toEqual([cost]);
    expect(found.nearest).toBeDefined();
  });
});

describe('the cost of a trace', () => {
  const usage = {
    writeUnits: 1e6,
    readUnits: 2e6,
    sqsRequests: 1e6,
    invocations: { register: 5e5, group: 5e5 },
    lambdaMillis: 1e6,
  };

  it('uses list prices, per day and per million tasks', () => {
    const produced = { messages: 10, oneByOne: 20, tenAtOnce: 3 };
    const cost = costOf({ usage, operations: [], sentOver: 43_200_000, produced }, { memory: 0.5 });
    expect(cost.dynamodb).toBeCloseTo(PRICES.dynamodb.perMillionWriteUnits + 2 * PRICES.dynamodb.perMillionReadUnits);
    expect(cost.sqs).toBeCloseTo(PRICES.sqs.perMillionRequests);
    expect(cost.lambda).toBeCloseTo(PRICES.lambda.perMillionInvocations + 500 * PRICES.lambda.perGigabyteSecond);
    expect(cost.perDay).toBeCloseTo(2 * cost.total);
    expect(cost.perMillion).toBeNull();
    expect(cost.producersPerMillion.oneByOne).toBeCloseTo(2 * PRICES.sqs.perMillionRequests);
    expect(cost.producersPerMillion.tenAtOnce).toBeCloseTo(0.3 * PRICES.sqs.perMillionRequests);
  });

  it.each([
    ['a message without a payload', [0], 1],
    ['64 KB in one message', [65_536], 1],
    ['a byte more', [65_537], 2],
    ['ten messages of 10 KB, which are sent together', Array.from({ length: 10 }, () => 10_240), 2],
    ['eleven small messages', Array.from({ length: 11 }, () => 100), 2],
    ['a message of 1 MiB', [1_048_576], 16],
    ['no message', [], 0],
  ])('counts each 64 KB of an SQS request as a request: %s', (_, sizes, requests) =>
    expect(sqsRequestsFor(sizes)).toBe(requests),
  );
});
