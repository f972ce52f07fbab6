import { describe, expect, it } from 'vitest';
import { claimLoop } from '../../src/client/lists.ts';
import { ApiRefused, createTestbed } from '../../src/testing/index.ts';
import { type Parcels, parcelBed, parcels, shipments } from './parcels.ts';

const TARGET = 'ship/depot=MUC';

describe('an operator', () => {
  it.each([
    ['an operation', 'ship'],
    ['a Target', TARGET],
  ])('pauses and resumes %s, and its tasks wait', async (_, of) => {
    const bed = parcelBed();
    await bed.sendAll(shipments(2));
    await bed.advance(0);
    await bed.pause(of, 'stocktaking');
    await bed.advance('1h');
    expect(bed.tasks.map(({ status }) => status)).toEqual(['created', 'created']);
    await expect(bed.settle()).rejects.toThrow(/paused since .*\(stocktaking\): call resume\(\)/);
    await bed.resume(of);
    await bed.settle();
    expect(bed.tasks.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  it('flushes waiting tasks', async () => {
    const bed = parcelBed({}, { batch: { maxSize: 10, maxWait: '1h' } });
    await bed.sendAll(shipments(2));
    await bed.advance('1m');
    await bed.flush(TARGET);
    await bed.advance(0);
    expect(bed.batches).toMatchObject([{ size: 2, sealedBy: 'flush', status: 'succeeded' }]);
  });

  it('cancels a task that no batch has', async () => {
    const bed = parcelBed();
    await bed.sendAll(shipments(2));
    await bed.advance('0s');
    await bed.cancel('p0');
    await bed.settle();
    expect(bed.task('p0')).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
    await expect(bed.cancel('p1')).rejects.toMatchObject({ name: 'ApiRefused', status: 409 });
    await expect(bed.cancel('p7')).rejects.toMatchObject({ status: 404 });
  });

  it('redrives failed tasks by ids or by Target', async () => {
    let isBroken = true;
    const failing = ({ items }: { items: readonly { id: string }[] }) =>
      isBroken ? { results: items.map(({ id }) => ({ id, status: 'failed' as const, error: 'broken' })) } : undefined;
    const bed = parcelBed({ downstreams: { ship: failing } });
    await bed.sendAll(shipments(3));
    await bed.settle();
    isBroken = false;
    expect(await bed.redrive({ ids: ['p0'] })).toBe(1);
    await bed.settle();
    expect(bed.tasks.map(({ status, run }) => `${status} ${run}`)).toEqual(['succeeded 2', 'failed 1', 'failed 1']);
    expect(await bed.redrive({ target: TARGET })).toBe(2);
    await bed.settle();
    expect(bed.tasks.every(({ status, run }) => status === 'succeeded' && run === 2)).toBe(true);
  });

  it("gets the API's refusals with their reasons", async () => {
    const bed = parcelBed();
    await expect(bed.pause('shop')).rejects.toThrow('there is no operation "shop": configured are ship');
    await expect(bed.flush('ship/depot=HAM')).rejects.toBeInstanceOf(ApiRefused);
    await expect(bed.complete('ship/depot=HAM#1#1')).rejects.toMatchObject({ status: 404 });
    await expect(bed.redrive({ ids: [] })).rejects.toThrow('must be a list of 1 to');
  });
});

describe('fan-outs', () => {
  const bedOfFanOuts = () => createTestbed<Parcels>({ ...parcels({ callbacks: {} }), fanOuts: { callback: 'ops' } });

  it('complete once, when their last task has ended', async () => {
    const bed = bedOfFanOuts();
    const fanOut = await bed.fanOuts.openFanOut({ userKey: 'catalog-7' });
    let n = 0;
    for await (const fanOutItem of fanOut.add(3)) {
      await bed.send({ operation: 'ship', payload: { depot: 'MUC', n }, fanOutItem });
      n += 1;
    }
    await bed.settle();
    expect(await bed.fanOuts.get(fanOut.id)).toMatchObject({ status: 'open', total: 3, succeeded: 3, pending: 0 });
    expect(await fanOut.seal()).toEqual({ complete: true });
    await bed.settle();
    expect(await bed.fanOuts.get(fanOut.id)).toMatchObject({ status: 'complete', userKey: 'catalog-7' });
    expect(bed.callbacks.map(({ event }) => event.type)).toEqual(['groupage.fan-out.completed']);
  });

  it('can be acked by hand, and expire if nothing happens', async () => {
    const bed = bedOfFanOuts();
    const fanOut = await bed.fanOuts.openFanOut();
    const items: string[] = [];
    for await (const item of fanOut.add(2)) items.push(item);
    await fanOut.seal();
    expect((await bed.fanOuts.ack(items.slice(0, 1))).fanOuts).toMatchObject([{ id: fanOut.id, complete: false }]);
    await bed.advance('8d');
    expect(bed.callbacks.map(({ event }) => event.type)).toEqual(['groupage.fan-out.expired']);
  });
});

describe('deferred lists', () => {
  it('become tasks when they are triggered', async () => {
    const bed = parcelBed();
    const list = await bed.lists.createList({ operation: 'ship' });
    await list.add(Array.from({ length: 30 }, (_, n) => ({ depot: 'MUC', n })));
    await list.seal();
    expect(await list.trigger({ count: 20 })).toEqual({ triggered: 20, left: 10 });
    await bed.settle();
    expect(bed.tasks).toHaveLength(20);
    expect(await list.trigger({ percent: 100 })).toMatchObject({ triggered: 10 });
    await bed.settle();
    expect(await list.get()).toMatchObject({ status: 'complete', total: 30, done: 30 });
  });

  it('give jobs under a lease in virtual time, and complete', async () => {
    const bed = parcelBed();
    const list = await bed.lists.createList<{ n: number }>();
    await list.add([{ n: 1 }, { n: 2 }]);
    await list.seal();
    const late = await list.claim({ count: 2, leaseSeconds: 60 });
    await bed.advance('10m');
    const claim = await list.claim({ count: 2, leaseSeconds: 60 });
    if (claim.kind !== 'claimed' || late.kind !== 'claimed') throw new Error('a claim has no jobs');
    expect(claim.jobs.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }]);
    await expect(late.complete()).rejects.toMatchObject({ status: 409 });
    expect(await claim.complete()).toEqual({ complete: true });
  });

  it("are worked off by the client's claimLoop", async () => {
    const bed = parcelBed();
    const list = await bed.lists.createList<{ n: number }>();
    await list.add([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await list.seal();
    const end = await claimLoop(list, ({ payload }) => payload.n * 2, { count: 2, leaseSeconds: 60 });
    expect(end).toMatchObject({ ended: 'complete', succeeded: 3 });
  });
});

it("the testbed's fetch serves the whole API", async () => {
  const bed = parcelBed();
  const sent = await bed.fetch('http://127.0.0.1/v1/tasks', {
    method: 'POST',
    body: JSON.stringify({ operation: 'ship', id: 'x', payload: { depot: 'MUC', n: 1 } }),
  });
  expect([sent.status, await sent.json()]).toEqual([202, { ids: ['x'] }]);
  await bed.settle();
  const task = await bed.fetch(new Request('http://127.0.0.1/v1/tasks/x'));
  expect(await task.json()).toMatchObject({ id: 'x', status: 'succeeded' });
  expect((await bed.fetch(new URL('http://127.0.0.1/v1/nothing'))).status).toBe(404);
});
