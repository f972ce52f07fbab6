import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ROUGH } from '../../src/testing/index.ts';
import { parcelBed, shipments } from './parcels.ts';

const run = async (seed: number) => {
  // A lost answer counts as an attempt, and 20 lost answers in a row do not occur.
  const bed = parcelBed({ seed, chaos: ROUGH }, { retry: { maxAttempts: 20 } });
  await bed.sendAll(shipments(25));
  await bed.settle();
  return bed;
};

it('under random faults no task is lost or in two batches, and each has one event id', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
      const bed = await run(seed);
      expect(bed.tasks.map(({ status }) => status)).toEqual(Array(25).fill('succeeded'));
      const members = bed.batches.flatMap((batch) => batch.members);
      expect(new Set(members).size).toBe(members.length);
      expect(new Set(bed.callbacks.map(({ event }) => event.id)).size).toBe(25);
    }),
    { numRuns: 20 },
  );
});

it('the same seed gives the same faults', async () => {
  const reportOf = async (seed: number): Promise<string> => {
    const { events, calls, now } = await run(seed);
    return JSON.stringify([events, calls, now]);
  };
  expect(await reportOf(7)).toBe(await reportOf(7));
  expect(await reportOf(7)).not.toBe(await reportOf(8));
});

it('faults end when the test calls calm()', async () => {
  const bed = parcelBed({ chaos: { throttle: 1 } });
  await bed.sendAll(shipments(1));
  await bed.advance('10m');
  expect(bed.tasks).toEqual([]);
  bed.calm();
  await bed.settle();
  expect(bed.task('p0')?.status).toBe('succeeded');
});
