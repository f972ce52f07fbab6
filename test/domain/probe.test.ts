import { expect, it } from 'vitest';
import { mostPromising, probeAmong, yieldsUntil } from '../../src/domain/batches/probe.ts';
import { batchId, target } from '../factories/factories.ts';

const waits = (name: string, fields: object = {}) => ({
  target: target(`ship/depot=${name}`),
  at: 10,
  fence: 1,
  ...fields,
});
const named = (names: readonly string[]) => names.map((name) => `ship/depot=${name}`);
const CIRCUIT = { failures: 2, coolDown: 30_000 };

it('Targets that worked test a downstream first, those that only failed last and in turn', () => {
  const waiting = [
    waits('failed late', { failedAt: 60 }),
    waits('failed early', { failedAt: 50 }),
    waits('failed batch', { failedAt: 70, batch: batchId('ship/depot=MUC#1#1') }),
    waits('old'),
    waits('new', { at: 20 }),
    waits('middle', { at: 15 }),
    waits('failed after successes', { failedAt: 70, workedAt: 0 }),
    waits('had batches', { batches: 3 }),
    waits('worked', { workedAt: 40 }),
    waits('worked later', { workedAt: 45 }),
  ];
  expect(mostPromising(waiting).map((each) => each.target)).toEqual(
    named([
      'worked later',
      'worked',
      'had batches',
      'failed after successes',
      'new',
      'old',
      'middle',
      'failed batch',
      'failed early',
      'failed late',
    ]),
  );
});

it('every fourth test is made by any waiting Target, unless one is known to work', () => {
  const waiting = [waits('new', { at: 20 }), waits('failed', { failedAt: 1 })];
  const probe = (random: number) => probeAmong(waiting, random)?.target;
  expect([0.25, 0.99, 0, 0.12].map(probe)).toEqual(named(['new', 'new', 'new', 'new']));
  expect([0.125, 0.24].map(probe)).toEqual(named(['failed', 'failed']));
  expect(probeAmong([...waiting, waits('worked', { workedAt: 1 })], 0.24)?.target).toBe('ship/depot=worked');
  expect(probeAmong([], 0)).toBeUndefined();
});

it.each([
  ['was woken for the test', { attempt: 1, sealedAt: 1 }, true, false],
  ['was sealed after the pause', { attempt: 0, sealedAt: 100 }, false, false],
  ['was sealed before the pause', { attempt: 0, sealedAt: 99 }, false, true],
  ['failed', { attempt: 1, sealedAt: 100 }, false, true],
])('a batch that %s leaves the test to others: %#', (_, batch, isWoken, yields) => {
  const halfOpen = { failures: 2, resumedAt: 100 };
  const until = yieldsUntil(batch, isWoken, halfOpen, CIRCUIT);
  expect(until).toBe(yields ? 100 + CIRCUIT.coolDown / 2 : Number.NEGATIVE_INFINITY);
  const long = yieldsUntil(batch, isWoken, halfOpen, { ...CIRCUIT, coolDown: 900_000 });
  expect(long, 'at most half a minute').toBe(yields ? 100 + 30_000 : Number.NEGATIVE_INFINITY);
  expect(yieldsUntil(batch, isWoken, { ...halfOpen, failures: 1 }, CIRCUIT), 'closed').toBe(-Infinity);
  expect(yieldsUntil(batch, isWoken, halfOpen, null), 'no circuit').toBe(-Infinity);
});

it('a pause that is over but still stored counts as the last one', () => {
  const paused = { id: 'p', by: 'circuit', since: 0, until: 500 } as const;
  expect(yieldsUntil({ attempt: 0, sealedAt: 200 }, false, { failures: 2, resumedAt: 100, paused }, CIRCUIT)).toBe(
    500 + CIRCUIT.coolDown / 2,
  );
});
