import { describe, expect, it } from 'vitest';
import { downstreamFrom, QUICK } from '../../tools/simulate/downstream.ts';
import { arrivalsOf, type Load, loadFrom, loadProblems } from '../../tools/simulate/load.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';

const operationOf = (fields: object) => {
  const ship = { ...operationAt('http://127.0.0.1:1/batch'), ...fields };
  const [operation] = Object.values(configFrom({ operations: { ship } }).operations);
  if (!operation) throw new Error('no operation');
  return operation;
};
const byRoute = operationOf({ target: ['carrier', 'route.origin', 'route.to'] });

const loadOf = (text: string): Load => {
  const parsed = loadFrom(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};
const all = (text: string, operation = byRoute, seed = 1) => [...arrivalsOf(loadOf(text), operation, seed)];

describe('a described load', () => {
  it('has its rate and duration, is in order, and is the same for the same seed', () => {
    const arrivals = all('rate=100/s targets=5 duration=60s');
    // Poisson: 6,000 with a deviation of 77.
    expect(Math.abs(arrivals.length - 6_000)).toBeLessThan(400);
    const moments = arrivals.map(({ at }) => at);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(moments.every((at) => Number.isInteger(at) && at < 60_000)).toBe(true);
    expect(all('rate=100/s targets=5 duration=60s')).toEqual(arrivals);
    expect(all('rate=100/s targets=5 duration=60s', byRoute, 2)).not.toEqual(arrivals);
  });

  it('fills every grouping field, nested ones too, and has the payload size', () => {
    const [first] = all('rate=100/s targets=5 payload=300 duration=1s');
    const payload = JSON.parse(first?.payload ?? '') as Record<string, unknown>;
    expect(payload.carrier).toMatch(/^t[1-5]$/);
    expect(payload.route).toEqual({ origin: payload.carrier, to: payload.carrier });
    expect(Buffer.byteLength(first?.payload ?? '')).toBe(300);
  });

  it('gives the n-th Target a share of 1/n^skew', () => {
    const arrivals = all('rate=1000/s targets=4 skew=1 duration=20s', operationOf({ target: ['depot'] }));
    const shares = [1, 2, 3, 4].map(
      (n) => arrivals.filter(({ payload }) => payload.includes(`"t${n}"`)).length / arrivals.length,
    );
    const sum = 1 + 1 / 2 + 1 / 3 + 1 / 4;
    for (const [index, share] of shares.entries()) expect(share).toBeCloseTo(1 / (index + 1) / sum, 1);
  });

  it('has bursts, each within 0.2 s, in order even if they overlap', () => {
    const moments = all('bursts=50x/100ms duration=10s').map(({ at }) => at);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(Math.abs(moments.length - 5_000)).toBeLessThan(2_500);
    const few = all('bursts=50x/10s duration=10m').map(({ at }) => at);
    const gaps = few.filter((at, index) => at - (few[index - 1] ?? at) > 200);
    expect(gaps.length).toBeLessThan(few.length / 25);
  });

  it.each([
    ['', 'rate or bursts must be given'],
    ['rate=100', 'rate takes a rate'],
    ['rate=100/s rate=1/s', 'rate is given twice'],
    ['rate=100/s target=5', 'target is unknown; did you mean "targets"?'],
    ['rate=100/s targets=0', 'targets takes a whole number from 1'],
    ['rate=100/s skew=-1', 'skew takes a number from 0 to 5'],
    ['bursts=0x/1s', 'bursts takes a number of tasks'],
    ['rate=1/s duration=0s', 'duration must be above 0'],
  ])('reports the fault in %j', (text, message) => {
    const parsed = loadFrom(text);
    const said = parsed.ok ? [] : parsed.problems.map(({ path, reason }) => `${path} ${reason}`);
    expect(said.join()).toContain(message);
  });

  it('is refused if its operation cannot have it', () => {
    expect(loadProblems(loadOf('rate=1/s targets=2'), operationOf({ target: [] }))).toHaveLength(1);
    expect(loadProblems(loadOf('rate=1/s'), operationOf({ target: [] }))).toEqual([]);
    expect(loadProblems(loadOf('rate=1/s'), operationOf({ merge: { keys: 'inputs[].id' } }))).toHaveLength(1);
  });
});

describe('a described downstream', () => {
  it('is quick by default', () => {
    expect(downstreamFrom('')).toEqual({ ok: true, value: QUICK });
    const [down, spent] = [
      { from: 3_600_000, until: 25_200_000 },
      { from: 0, until: 60_000 },
    ];
    expect(downstreamFrom('takes=200ms perItem=1ms limit=600/min down=1h..7h spent=0s..1m')).toEqual({
      ok: true,
      value: { takes: 200, perItem: 1, callsPerSecond: 10, down, spent },
    });
  });

  it.each(['takes=fast', 'limit=10', 'limit=1/h', 'down=1h', 'down=2h..1h', 'spent=1h', 'timeout=1s'])(
    'is refused: %s',
    (text) => {
      expect(downstreamFrom(text).ok).toBe(false);
    },
  );
});
