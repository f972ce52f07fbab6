import { expect, it } from 'vitest';
import { NotSettled, type Unsettled } from '../../src/testing/index.ts';
import { parcelBed, shipments } from './parcels.ts';

const unsettled = async (settling: Promise<void>): Promise<readonly Unsettled[]> => {
  const cause = await settling.catch((error: unknown) => error);
  if (!(cause instanceof NotSettled)) throw new Error(`settle() ended with ${String(cause)}`);
  return cause.unsettled;
};

it('an idle testbed is settled', async () => {
  const bed = parcelBed();
  const { now } = bed;
  await bed.settle();
  expect(bed.now).toEqual(now);
});

it("settle() fails, and says what each Target's tasks wait for", async () => {
  const bed = parcelBed({ downstreams: { ship: () => ({ pending: true }) } });
  await bed.sendAll(shipments(4));
  await bed.advance('1s');
  await bed.pause('ship/depot=MUC');
  await bed.send({ operation: 'ship', id: 'later', payload: { depot: 'MUC', n: 9 } });
  expect(await unsettled(bed.settle())).toEqual([
    {
      of: 'ship/depot=MUC',
      count: 4,
      first: ['p0', 'p1', 'p2'],
      waitsFor: expect.stringMatching(
        /^the report of its job: without one by .*: call complete\(\) for its batch, or advance\(\) past that time$/,
      ),
    },
    { of: 'ship/depot=MUC', count: 1, first: ['later'], waitsFor: expect.stringContaining('its Target, paused') },
  ]);
});

it('settle() fails after the given time if the downstream is never available', async () => {
  const retry = { maxAttempts: 10 };
  const bed = parcelBed({ downstreams: { ship: () => ({ status: 503 }) } }, { retry });
  await bed.sendAll(shipments(1));
  const [first] = await unsettled(bed.settle({ within: '10m' }));
  expect(first?.waitsFor).toContain('answered 503');
  expect(bed.now.toISOString()).toBe('2026-01-01T00:10:00.000Z');
});

it('settle() fails if a destination takes no events', async () => {
  const bed = parcelBed();
  bed.inject({ destination: 'ops', for: '30d' });
  await bed.sendAll(shipments(1));
  const left = await unsettled(bed.settle({ within: '1h' }));
  expect(left).toMatchObject([{ of: 'the callback queue', count: 1 }]);
  expect(bed.task('p0')?.status).toBe('succeeded');
});
