import { expect, it } from 'vitest';
import { itemOf, trackerOf } from '../../src/domain/lists/ids.ts';
import type { Lease } from '../../src/domain/lists/list.ts';
import { NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { ALL, append, CHECK, free, lease, listsIn, TAKING, token, UNTIL } from './list-kit.ts';
import { storeKinds } from './stores.ts';

describeEach('deferred lists', storeKinds, (stores) => {
  const { store, newId, opened, holding, leased, change } = listsIn(stores);

  it('are opened once, with the fields of the first request', async () => {
    const id = newId();
    const said = { id: trackerOf(id), createdAt: NOW, userKey: 'büro', callback: 'ops', operation: 'distribute' };
    expect(await store().read(id)).toBeUndefined();
    const first = await store().open(said, CHECK);
    const { touchedAt, ...stored } = first.stored;
    expect(stored).toEqual({
      ...said,
      status: 'open',
      groups: 0,
      total: 0,
      version: 0,
      fails: [],
      checkAt: CHECK,
      head: 0,
      leases: [],
      holders: {},
    });
    expect(touchedAt).toBe(NOW);
    const again = await store().open({ id: trackerOf(id), createdAt: NOW + 9 }, CHECK + 9);
    expect(again).toEqual({ isNew: false, stored: first.stored });
    expect(await store().read(id)).toEqual(first.stored);
  });

  it('share a row with their tracker, and are sealed like fan-outs', async () => {
    const id = await holding(3);
    expect(await stores().fanOuts.read(trackerOf(id))).toMatchObject({ status: 'open', total: 3, groups: 1 });
    await stores().fanOuts.seal(trackerOf(id), NOW + 1);
    expect(await store().read(id)).toMatchObject({ status: 'sealed', total: 3, head: 0, leases: [] });
    const header = await store().read(id);
    const cancelled = { status: 'cancelled', from: ['open', 'sealed'], because: 'cancelled' } as const;
    await stores().fanOuts.end(trackerOf(id), { ...cancelled, at: NOW + 2, failed: 0, checkAt: NOW + 3 });
    expect(await store().read(id)).toMatchObject({
      status: 'cancelled',
      version: (header?.version ?? 0) + 1,
      total: 3,
    });
  });

  it('return all slots of a group after an ack of some', async () => {
    const id = await holding(3);
    const { fanOuts } = stores();
    const slots = (index: number) => ({ slots: new Map([[index, true]]), failed: 0, at: NOW });
    expect(await fanOuts.putNode(trackerOf(id), { level: 0, n: 0 }, slots(2))).toBe(true);
    const acked = await fanOuts.ack(trackerOf(id), { level: 0, n: 0 }, slots(0));
    expect(acked).toMatchObject({ isWritten: true, node: { left: 448, failed: 0 } });
    expect(acked.node?.slots?.slice(0, 4)).toEqual([true, null, true, null]);
  });

  it('note an addition once for each token', async () => {
    const id = await opened();
    expect(await store().append(id, token('a'))).toBeUndefined();
    expect(await store().beginAppend(id, token('a'), append())).toBe(true);
    expect(await store().beginAppend(id, token('a'), append({ hash: 'other' }))).toBe(false);
    expect(await store().append(id, token('a'))).toEqual(append());
  });

  it('publish all jobs of a token at once, and once only', async () => {
    const id = await opened();
    const add = (name: string, first: number) => store().publish(id, token(name), { first, count: 3, at: NOW + 1 });
    expect(await add('a', 0), 'that was not noted').toBe(false);
    await store().beginAppend(id, token('a'), append());
    expect(await store().read(id)).toMatchObject({ total: 0 });
    expect(await add('a', 0)).toBe(true);
    expect(await store().append(id, token('a'))).toEqual(append({ first: 0 }));
    expect(await store().read(id)).toMatchObject({ total: 3, groups: 1, version: 1 });
    expect(await add('a', 3), 'twice').toBe(false);
    await store().beginAppend(id, token('b'), append());
    expect(await add('b', 0), 'by a caller that saw fewer').toBe(false);
    await stores().fanOuts.seal(trackerOf(id), NOW);
    expect(await add('b', 3), 'once it is sealed').toBe(false);
    expect(await store().append(id, token('b'))).toEqual(append());
    expect(await store().read(id)).toMatchObject({ total: 3 });
  });

  it('return jobs by number, across additions', async () => {
    const id = await holding(25, 10);
    const jobs = (first: number, count: number) => store().jobs(id, [{ first, count }]);
    const expected = (first: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ token: first + n, payload: `{"n":${first + n}}` }));
    for (const [first, count] of [
      [0, 25],
      [0, 1],
      [3, 4],
      [9, 2],
      [10, 10],
      [8, 15],
      [24, 1],
    ] as const)
      expect(await jobs(first, count)).toEqual(expected(first, count));
    expect(await jobs(20, 10), 'as many as there are').toEqual(expected(20, 5));
  });

  it('return jobs of several ranges in their order', async () => {
    const id = await holding(25, 10);
    const ranges = [20, 3, 9].map((first) => ({ first, count: 3 }));
    const tokens = (await store().jobs(id, ranges)).map((job) => job.token);
    expect(tokens).toEqual([20, 21, 22, 3, 4, 5, 9, 10, 11]);
    const beyond = await store().jobs(id, [{ first: 23, count: 5 }, ...ranges]);
    expect(
      beyond.map((job) => job.token),
      'up to the first missing job',
    ).toEqual([23, 24]);
    expect(await store().jobs(id, [])).toEqual([]);
  });

  it('keep payloads as sent, small ones together and large ones alone', async () => {
    const id = await opened();
    const sizes = [10, 3_000, 2_000, 40_000, 5, 250_000, 7, 3_890];
    const payloads = sizes.map((size, n) => `{"n": ${n},  "text":"${'ü'.repeat(size / 2)}"}`);
    await store().beginAppend(id, token('a'), append({ count: payloads.length }));
    await store().putJobs(id, token('a'), payloads);
    await store().publish(id, token('a'), { first: 0, count: payloads.length, at: NOW });
    for (let first = 0; first < payloads.length; first += 1) {
      const jobs = await store().jobs(id, [{ first, count: payloads.length - first }]);
      expect(jobs.map(({ payload }) => payload)).toEqual(payloads.slice(first));
      const [one] = await store().jobs(id, [{ first, count: 1 }]);
      expect(one).toEqual({ token: first, payload: payloads[first] });
    }
  });

  it('accept any token of an addition or trigger, and clear its rows', async () => {
    const id = await opened();
    const names = ['r#0', 'ü', '~~', '#', 'a#b', '\uffff', '0000'].map(token);
    for (const [n, name] of names.entries()) {
      const first = 2 * n;
      await store().beginAppend(id, name, append({ count: 2 }));
      await store().putJobs(id, name, [`{"n":${first}}`, `{"n":${first + 1}}`]);
      expect(await store().publish(id, name, { first, count: 2, at: NOW })).toBe(true);
      await store().take(id, name, { ...TAKING, ranges: [], from: [], head: 0, fresh: 0 });
    }
    // A result must not share a key with jobs, whatever the token of their addition.
    await store().putResults(id, [{ token: 0, outcome: 'succeeded' }]);
    const range = { first: 0, count: 2 * names.length };
    const jobs = Array.from({ length: range.count }, (_, n) => ({ token: n, payload: `{"n":${n}}` }));
    expect(await store().jobs(id, [range])).toEqual(jobs);
    expect(await store().results(id, range)).toEqual([{ token: 0, outcome: 'succeeded' }]);
    expect(await store().clear(id, 1, 0, ALL)).toBeUndefined();
    for (const name of names)
      expect([name, await store().append(id, name), await store().trigger(id, name)]).toEqual([
        name,
        undefined,
        undefined,
      ]);
  });

  it('return the first jobs up to some megabytes', async () => {
    const id = await opened();
    const payloads = Array.from({ length: 25 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(250_000)}"}`);
    for (const [at, part] of [payloads.slice(0, 12), payloads.slice(12)].entries()) {
      const name = token(`a${at}`);
      await store().beginAppend(id, name, append({ count: part.length }));
      await store().putJobs(id, name, part);
      await store().publish(id, name, { first: 12 * at, count: part.length, at: NOW });
    }
    const jobs = await store().jobs(id, [{ first: 2, count: 23 }]);
    expect(jobs.length).toBeGreaterThanOrEqual(10);
    expect(jobs.length).toBeLessThan(18);
    expect(jobs.map((job) => job.token)).toEqual(jobs.map((_, n) => 2 + n));
    expect(await store().jobs(id, [{ first: 24, count: 1 }])).toHaveLength(1);
    const ranges = [20, 0].map((first) => ({ first, count: first === 0 ? 20 : 5 }));
    const several = await store().jobs(id, ranges);
    expect(several.length).toBeGreaterThanOrEqual(10);
    expect(several.length).toBeLessThan(18);
    expect(several.map((job) => job.token)).toEqual(several.map((_, n) => (n < 5 ? 20 + n : n - 5)));
  });

  it('return fewer jobs if quotes take two bytes in the answer', async () => {
    const id = await opened();
    const payloads = Array.from({ length: 15 }, (_, n) => `{"n":${n},"text":"${'\\"'.repeat(125_000)}"}`);
    await store().beginAppend(id, token('a'), append({ count: payloads.length }));
    await store().putJobs(id, token('a'), payloads);
    await store().publish(id, token('a'), { first: 0, count: payloads.length, at: NOW });
    const jobs = await store().jobs(id, [{ first: 0, count: 15 }]);
    const answer = JSON.stringify(JSON.stringify(jobs.map(({ payload }) => JSON.parse(payload))));
    expect(answer.length).toBeLessThan(6_000_000);
    expect(answer.length).toBeGreaterThan(3_000_000);
  });

  it('return jobs that were added one by one, in their order', async () => {
    const id = await holding(60, 1);
    const jobs = await store().jobs(id, [{ first: 7, count: 50 }]);
    expect(jobs).toEqual(Array.from({ length: 50 }, (_, n) => ({ token: 7 + n, payload: `{"n":${7 + n}}` })));
  });

  it('lease the next jobs, one lease for each key', async () => {
    const id = await holding(10);
    expect(await leased(id, 'a', 4)).toEqual(lease('a', 0, 4));
    expect(await leased(id, 'a', 4), 'that has some').toBeUndefined();
    expect(await leased(id, 'b', 3)).toEqual(lease('b', 4, 3));
    expect(await leased(id, 'c', 4), 'more than there are').toBeUndefined();
    expect(await leased(id, 'c', 3, { most: 2 }), 'as many have some as may').toBeUndefined();
    expect(await leased(id, 'c', 3)).toEqual(lease('c', 7, 3));
    expect(await store().read(id)).toMatchObject({
      head: 10,
      total: 10,
      leases: [lease('a', 0, 4), lease('b', 4, 3), lease('c', 7, 3)],
    });
    expect(await leased(newId(), 'a', 1)).toBeUndefined();
  });

  it('lease no more jobs once they are cancelled', async () => {
    const id = await holding(10);
    await stores().fanOuts.seal(trackerOf(id), NOW);
    expect(await leased(id, 'a', 1)).toEqual(lease('a', 0, 1));
    await stores().fanOuts.end(trackerOf(id), {
      status: 'cancelled',
      from: ['sealed'],
      because: 'cancelled',
      failed: 0,
      at: NOW,
      checkAt: NOW,
    });
    expect(await leased(id, 'b', 1)).toBeUndefined();
    const taken = [lease('b', 0, 1)];
    expect(await change(id, [lease('a', 0, 1)], taken, true)).toBe(false);
    expect(await change(id, [lease('a', 0, 1)], [])).toBe(true);
  });

  it('replace leases only if these are unchanged', async () => {
    const id = await holding(10);
    await leased(id, 'a', 4);
    await leased(id, 'b', 4);
    const [a, b] = [lease('a', 0, 4), lease('b', 4, 4)];
    const to = [lease('c', 0, 6), free(6, 2)];
    for (const wrong of [{ ...a, until: UNTIL + 1_000 }, { ...a, count: 3 }, { ...a, first: 1 }, lease('x', 0, 4)])
      expect(await change(id, [wrong, b], to, true)).toBe(false);
    expect(await change(id, [a], [{ ...a, key: b.key }]), 'a key that is taken').toBe(false);
    expect((await store().read(id))?.leases).toEqual([a, b]);
    expect(await change(id, [a, b], to, true)).toBe(true);
    expect((await store().read(id))?.leases).toEqual(to);
    const [c] = to as [Lease, Lease];
    const whenever = { key: c.key, first: c.first, count: c.count };
    const later = { ...c, until: UNTIL + 60_000 };
    expect(await change(id, [whenever], [later])).toBe(true);
    expect((await store().read(id))?.leases).toContainEqual(later);
    expect(await change(id, [whenever], [])).toBe(true);
    expect(await store().read(id)).toMatchObject({ leases: [free(6, 2)], head: 8 });
  });

  it('change forty leases at once', async () => {
    const id = await holding(41);
    for (let n = 0; n < 41; n += 1) await leased(id, `key-${n}`, 1, { total: 41 });
    const all = (await store().read(id))?.leases ?? [];
    expect(all).toHaveLength(41);
    const mine = lease('mine', 0, 40);
    expect(await change(id, all.slice(0, 40), [mine], true)).toBe(true);
    expect((await store().read(id))?.leases).toEqual([mine, all[40]]);
  });

  it('give jobs to a trigger once, and only if the list is unchanged', async () => {
    const id = await holding(10);
    await leased(id, 'a', 4);
    const a = lease('a', 0, 4);
    const rest = free(3, 1);
    const ranges = [
      { first: 0, count: 3 },
      { first: 4, count: 2 },
    ];
    const taking = { ...TAKING, ranges, from: [a], rest, head: 4, fresh: 2 };
    expect(await store().trigger(id, token('t'))).toBeUndefined();
    expect(await store().take(id, token('t'), { ...taking, head: 3 }), 'another head').toBe(false);
    expect(await store().take(id, token('t'), { ...taking, from: [{ ...a, count: 5 }] }), 'another lease').toBe(false);
    expect(await store().trigger(id, token('t'))).toBeUndefined();
    expect(await store().take(id, token('t'), taking)).toBe(true);
    expect(await store().trigger(id, token('t'))).toEqual({ ranges, started: 0, wanted: '5 jobs' });
    await store().goOn(id, token('t'), 4);
    await store().goOn(id, token('t'), 3);
    expect(await store().trigger(id, token('t'))).toEqual({ ranges, started: 4, wanted: '5 jobs' });
    await store().goOn(id, token('never'), 4);
    expect(await store().trigger(id, token('never'))).toBeUndefined();
    expect(await store().read(id)).toMatchObject({ head: 6, leases: [rest] });
    const more = { ...TAKING, ranges: [{ first: 6, count: 1 }], from: [], head: 6, fresh: 1 };
    expect(await store().take(id, token('t'), more), 'twice').toBe(false);
    expect(await store().read(id)).toMatchObject({ head: 6 });
    expect(await store().take(id, token('nothing'), { ...TAKING, ranges: [], from: [], head: 6, fresh: 0 })).toBe(true);
    expect(await store().trigger(id, token('nothing'))).toEqual({ ranges: [], started: 0, wanted: '5 jobs' });
  });

  it('keep the first amount of a trigger', async () => {
    const id = await holding(10);
    const { wanted: _, ...unknown } = TAKING;
    expect(await store().take(id, token('t'), { ...unknown, ranges: [], from: [], head: 0, fresh: 0 })).toBe(true);
    expect(await store().trigger(id, token('t'))).toEqual({ ranges: [], started: 0 });
    expect(await store().noteAmount(id, token('t'), '5 jobs')).toBe('5 jobs');
    expect(await store().noteAmount(id, token('t'), '6 jobs')).toBe('5 jobs');
    expect(await store().trigger(id, token('t'))).toEqual({ ranges: [], started: 0, wanted: '5 jobs' });
    // A deleted trigger is not stored again.
    expect(await store().noteAmount(id, token('gone'), '7 jobs')).toBe('7 jobs');
    expect(await store().trigger(id, token('gone'))).toBeUndefined();
  });

  it('keep the first result of each job', async () => {
    const id = await holding(10);
    const mine = { token: 3, outcome: 'succeeded', result: '{"a": 1.0}' } as const;
    const other = { token: 3, outcome: 'failed', error: { code: 'late', message: 'too late' } } as const;
    const last = { token: 449, outcome: 'failed' } as const;
    const next = { token: 450, outcome: 'failed', error: { code: 'x', message: 'y' } } as const;
    expect(await store().putResults(id, [mine, last])).toEqual([mine, last]);
    expect(await store().putResults(id, [next, other])).toEqual([next, mine]);
    expect(await store().results(id, { first: 0, count: 900 })).toEqual([mine, last, next]);
    expect(await store().results(id, { first: 4, count: 445 })).toEqual([]);
    expect(await store().results(id, { first: 449, count: 1 })).toEqual([last]);
  });

  it('are cleared, with the notes of additions last', async () => {
    const [id, other] = [await holding(25, 10), await holding(3)];
    await store().putResults(id, [{ token: 1, outcome: 'succeeded' }]);
    await store().take(id, token('t'), { ...TAKING, ranges: [], from: [], head: 0, fresh: 0 });
    expect(await store().clear(id, 1, 0, { mayGoOn: () => false, isSettled: true })).toBe(0);
    expect(await store().clear(id, 1, 0, { ...ALL, isSettled: false })).toBeUndefined();
    expect(await store().jobs(id, [{ first: 0, count: 25 }])).toEqual([]);
    expect(await store().results(id, { first: 0, count: 25 })).toEqual([]);
    expect(await store().trigger(id, token('t'))).toBeUndefined();
    expect(await store().append(id, token('add-0'))).toBeDefined();
    expect(await store().clear(id, 1, 0, ALL)).toBeUndefined();
    expect(await store().append(id, token('add-0'))).toBeUndefined();
    expect(await store().jobs(other, [{ first: 0, count: 3 }])).toHaveLength(3);
    expect(itemOf(other, 451, 450)).toEqual({ fanOut: trackerOf(other), group: 1, index: 1 });
  });
});
