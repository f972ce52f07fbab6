import { expect, it } from 'vitest';
import { isPromising, mostPromising, yieldsUntil } from '../../src/domain/batches/probe.ts';
import { target } from '../factories/factories.ts';

const waits = (name: string, fields: object = {}) => ({
  target: target(`ship/depot=${name}`),
  at: 10,
  fence: 1,
  ...fields,
});
const CIRCUIT = { failures: 2, coolDown: 30_000 };

it('Targets that worked test a downstream first, those that only failed last and in turn', () => {
  const waiting = [
    waits('failed late', { failedAt: 60 }),
    waits('failed early', { failedAt: 50 }),
    waits('old'),
    waits('new', { at: 20 }),
    waits('failed after successes', { failedAt: 70, workedAt: 0 }),
    waits('had batches', { batches: 3 }),
    waits('worked', { workedAt: 40 }),
    waits('worked later', { workedAt: 45 }),
  ];
  expect(mostPromising(waiting).map((each) => each.target)).toEqual(
    [
      'worked later',
      'worked',
      'had batches',
      'failed after successes',
      'new',
      'old',
      'failed early',
      'failed late',
    ].map((name) => `ship/depot=${name}`),
  );
});

it.each([
  ['was woken for the test', { attempt: 0, sealedAt: 1 }, {}, true, false],
  ['was sealed after the pause', { attempt: 0, sealedAt: 100 }, {}, false, false],
  ['was sealed before the pause', { attempt: 0, sealedAt: 99 }, {}, false, true],
  ['failed', { attempt: 1, sealedAt: 1 }, {}, true, true],
  ['failed, but its Target has worked', { attempt: 1, sealedAt: 1 }, { workedAt: 0 }, true, false],
])('a batch that %s leaves the test to others: %#', (_, batch, lock, isWoken, yields) => {
  const halfOpen = { failures: 2, resumedAt: 100 };
  const until = yieldsUntil(batch, lock, isWoken, halfOpen, CIRCUIT);
  expect(until).toBe(yields ? 100 + CIRCUIT.coolDown / 2 : Number.NEGATIVE_INFINITY);
  expect(yieldsUntil(batch, lock, isWoken, { ...halfOpen, failures: 1 }, CIRCUIT), 'closed').toBe(-Infinity);
  expect(yieldsUntil(batch, lock, isWoken, halfOpen, null), 'no circuit').toBe(-Infinity);
});

it('a pause that is over but still stored counts as the last one', () => {
  const paused = { id: 'p', by: 'circuit', since: 0, until: 500 } as const;
  expect(yieldsUntil({ attempt: 0, sealedAt: 200 }, {}, false, { failures: 2, resumedAt: 100, paused }, CIRCUIT)).toBe(
    500 + CIRCUIT.coolDown / 2,
  );
});

it('a batch is promising before its first attempt, or if its Target has worked', () => {
  expect([isPromising({ attempt: 0 }, {}), isPromising({ attempt: 1 }, {})]).toEqual([true, false]);
  expect(isPromising({ attempt: 1 }, { workedAt: 0 })).toBe(true);
});
