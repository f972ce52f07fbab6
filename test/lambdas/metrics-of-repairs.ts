/** Tests of the metrics of repairs and of sweeps. They run in metrics.test.ts, which checks all metrics. */
import { expect, it } from 'vitest';
import { printElect } from '../../src/domain/batches/messages.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { type ClaimId, claimKeyOf, type ListId, listId } from '../../src/domain/lists/ids.ts';
import { leased } from '../../src/domain/lists/list.ts';
import { claimRow } from '../../src/rows/list-rows.ts';
import { anItem, aTask, batchId, candidate, id, NOW, target, token } from '../factories/factories.ts';
import { bundles, configured, sealed, stores, writeListRows } from './metrics-bundles.ts';
import { of, recordOf } from './metrics-kit.ts';

export const testMetricsOfRepairs = (): void => {
  it("count the sweep's repairs: dead letters by queue, locks by operation", async () => {
    const { locks, waiting } = stores();
    for (const n of [1, 2])
      await bundles.send('electDeadLetters', printElect({ kind: 'elect', target: target(`ship/depot=${n}`) }));
    await bundles.send('groupDeadLetters', 'by hand');
    const task = { id: id('waits'), run: 1, createdAt: NOW, bytes: 10, target: target('ship/depot=stranded') };
    await waiting.put([task]);
    await locks.skipFence(task.target, 1, 0, NOW);
    for (const depot of ['expired', 'leaderless'] as const) {
      const where = target(`ship/depot=${depot}`);
      const mine = { fence: 1, token: token('gone') };
      await locks.acquire(where, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW });
      const open = { batch: batchId(`${where}#1#1`), round: 1, by: token('gone'), until: NOW };
      if (depot === 'leaderless') await locks.openBatch(where, mine, open);
    }

    expect(await bundles.measured('SweepHandler', { source: 'aws.events' })).toEqual([
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersUnreadable', of('queue=group'), 1],
      ['ExpiredLocksRepaired', of('operation=ship'), 1],
      ['LeaderlessBatchesRepaired', of('operation=ship'), 1],
      ...['fragile', 'merge', 'paced', 'ship'].map((operation) => [
        'OldestWaiting',
        of(`operation=${operation}`),
        'ms',
      ]),
      ...Array.from({ length: 3 }, () => ['Repairs', of(), 1]),
      ['StrandedRepaired', of('operation=ship'), 1],
    ]);
  });

  it('count ended fan-outs, unsent events and unknown items', async () => {
    const { fanOuts } = stores();
    const [left, gone] = [fanOutId('left') as FanOutId, fanOutId('gone') as FanOutId];
    for (const each of [left, gone]) await fanOuts.open({ id: each, createdAt: NOW, callback: 'ops' }, NOW);
    await fanOuts.seal(left, NOW);
    const failed = fanOutId('failed') as FanOutId;
    await fanOuts.open({ id: failed, createdAt: NOW, callback: 'ops', failFast: { count: 0 } }, NOW);
    const groups = { first: 0, count: 2, groups: 1, openedAt: NOW, at: NOW };
    await fanOuts.reserve(failed, token('a'), groups);
    await fanOuts.putGroups(failed, [{ n: 0, size: 2 }], NOW);
    await fanOuts.ack(failed, { level: 0, n: 0 }, { slots: new Map([[0, false]]), failed: 1, at: NOW });
    // The destinations were removed from the configuration since.
    const nobody = { ...configured(), destinations: {} };
    const swept = await bundles.measured('SweepHandler', { source: 'aws.events' }, nobody);
    // The repairs of the earlier test repeat, since no function took their messages.
    expect(
      swept.filter(([name, dimensions]) => dimensions === of() && name !== 'Repairs' && name !== 'OldestFanOut'),
    ).toEqual([
      ['EventsUntold', of(), 1],
      ['EventsUntold', of(), 1],
      ['EventsUntold', of(), 1],
      ['FanOutsCompleted', of(), 1],
      ['FanOutsCompleted', of(), 1],
      ['FanOutsExpired', of(), 1],
      ['FanOutsFailed', of(), 1],
      ['FanOutsOpen', of(), 3],
      ['FanOutsRepaired', of(), 1],
    ]);
    const where = target('ship/depot=items');
    const item = aTask({ id: id('item'), target: where, fanOutItem: anItem('unknown:0:0'), callback: 'ops' });
    const Records = [recordOf(await sealed(where, 1, [item]))];
    const ended = await bundles.measured('BatchHandler', { Records }, nobody);
    expect(ended.filter(([, dimensions]) => dimensions === of())).toEqual([
      ['EventsUntold', of(), 1],
      ['ItemsUnknown', of(), 1],
    ]);
  });

  it('count repairs by the API, and nothing for a GET', async () => {
    const { batches } = stores();
    const where = target('ship/depot=overdue');
    const forming = {
      id: batchId(`${where}#1#1`),
      target: where,
      sealedBy: 'full' as const,
      candidates: [candidate('a')],
    };
    await batches.seal(await batches.form({ ...forming, oldestAt: NOW, createdAt: NOW }), [], NOW, 3_600_000);
    await bundles.send('batchDeadLetters', '{"b":"unknown"}');
    const query = `target=${encodeURIComponent(where)}`;
    expect(await bundles.ask('GET', '/v1/doctor/batches', { query })).toEqual([]);
    expect(await bundles.ask('POST', '/v1/doctor/batches', { query })).toEqual([
      ['OverdueBatchesRepaired', of('operation=ship'), 1],
      ['Repairs', of(), 1],
    ]);
    expect(await bundles.ask('POST', '/v1/dead-letters/batch/redrive')).toEqual([
      ['DeadLettersRevived', of('queue=batch'), 1],
    ]);
  });

  it('count repairs of forgotten Targets and of stuck slots', async () => {
    const { locks } = stores();
    const mine = { fence: 1, token: token('gone') };
    for (const depot of ['forgotten', 'stuck']) {
      const where = target(`fragile/depot=${depot}`);
      await locks.acquire(where, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW });
      if (depot === 'forgotten') await locks.block(where, mine, { round: 0, at: NOW });
      else {
        const batch = batchId(`${where}#1#1`);
        await locks.openBatch(where, mine, { batch, round: 1, by: token('gone'), until: NOW, perTarget: 1 });
        await locks.closeBatch(where, batch);
        await locks.release(where, mine);
      }
    }
    expect(await bundles.ask('POST', '/v1/doctor/targets', { query: 'operation=fragile' })).toEqual([
      ['ForgottenRepaired', of('operation=fragile'), 1],
      ['Repairs', of(), 1],
      ['Repairs', of(), 1],
      ['StuckSlotsRepaired', of('operation=fragile'), 1],
    ]);
  });

  it('count lists, jobs without an outcome, and claims that were ended or refused', async () => {
    const { lists } = stores();
    const list = listId('parcels') as ListId;
    const ask = (path: string, body: object = {}, method = 'POST') => bundles.ask(method, `/v1/lists${path}`, { body });
    await ask('', { id: list, maxDeliveries: 1 });
    await ask('/parcels/jobs', { jobs: Array.from({ length: 80 }, () => ({ payload: {} })) });
    const claimed = { count: 1, leaseSeconds: 43_200 };
    for (const claimId of ['a', 'b']) await ask('/parcels/claims', { ...claimed, claimId });
    expect(await ask('/parcels/claims/a/release', {})).toEqual([]);
    expect(await ask('/parcels/claims/b/release', { attempted: [{ token: 1 }] })).toEqual([
      ['JobsUndeliverable', of(), 1],
    ]);
    // The job that was released without a report is found by the next claim.
    expect(await ask('/parcels/claims', { ...claimed, claimId: 'c' })).toEqual([['JobsUndeliverable', of(), 1]]);
    expect(await ask('/parcels/claims/c', {}, 'DELETE')).toEqual([['ClaimsBroken', of(), 1]]);
    const inADay = 1_000 * Math.ceil(Date.now() / 1_000) + 86_400_000;
    const first = { first: 0, count: 1, deliveries: 1, isSuspect: false };
    const take = { total: 80, most: 100, apart: 'none' } as const;
    for (let n = 0; n < 64; n += 1)
      await lists.leaseFresh(list, leased(claimKeyOf(`d-${n}` as ClaimId), 0, first, inADay), take);
    await ask('/parcels/claims', { ...claimed, claimId: 'apart' });
    const { apart: was } = (await lists.read(list)) ?? {};
    expect(was?.count).toBe(1);
    // With this number the next claim counts the rows again, and as many are there as a list can have.
    const rows = Array.from({ length: 999 }, (_, n) => {
      const key = claimKeyOf(`e-${n}` as ClaimId);
      return claimRow(list, { key, leases: [leased(key, 0, first, inADay)] });
    });
    await writeListRows(rows);
    if (was) await lists.gather(list, [], [], { was, becomes: { ...was, count: 1_000 } });
    expect(await ask('/parcels/claims', { ...claimed, claimId: 'f' })).toEqual([['ClaimsRefused', of(), 1]]);
    const swept = await bundles.measured('SweepHandler', { source: 'aws.events' });
    expect(swept.filter(([name]) => /List|^Jobs|MostDeliveries/.test(name))).toEqual([
      ['JobsAvailable', of(), 12],
      ['JobsLeased', of(), 64],
      ['ListsOpen', of(), 1],
      ['MostDeliveries', of(), 1],
      ['OldestList', of(), 'ms'],
    ]);
    await ask('/parcels', {}, 'DELETE');
  });

  it('count each part of a sweep that had no time left', async () => {
    const cut = await bundles.measured('SweepHandler', { source: 'aws.events' }, undefined, 4_000);
    expect(cut).toEqual(Array.from({ length: 2 }, () => ['SweepsCut', of(), 1]));
  });
};
