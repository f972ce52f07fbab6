/** A cancelled list hands out no more jobs, and its rows are deleted later. The id of an ended list stays taken. */
import { describe, expect, it } from 'vitest';
import { SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { NOW } from '../factories/factories.ts';
import { cancel, DAY, holding, items, looks, remove, TRACKER } from './ends-kit.ts';
import { expectWhole, type ListKit, listKit, MINUTE, reportingOps, result, rowsLeft, tokensIn } from './kit.ts';

describe('a cancelled list', () => {
  it('hands out nothing more, and claimed or triggered jobs go on', async () => {
    const kit = await holding(9);
    const { handle } = await kit.got('a', 2);
    const over = await kit.got('b', 1);
    await kit.release(over.handle);
    await kit.trigger(3);
    expect(await cancel(kit)).toMatchObject({ status: 'cancelled' });
    expect(await kit.claim('c', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await kit.trigger(1, 'u')).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await kit.add(1)).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await seal(kit, TRACKER)).toMatchObject({ complete: false, fanOut: { status: 'cancelled' } });
    expect(tokensIn(await kit.claim('a', 2)), 'the claim keeps its jobs').toEqual([0, 1]);
    expect(await kit.renew(handle)).toMatchObject({ kind: 'renewed' });
    const tasks = await kit.start();
    expect(tasks).toHaveLength(3);
    await kit.end(tasks);
    expect(await kit.complete(handle, [result(0), result(1, { outcome: 'failed' })])).toMatchObject({ kind: 'done' });
    expect(await looks(kit)).toEqual({ available: 0, leased: 0, started: 0, succeeded: 4, failed: 1 });
    expect([await kit.read(), kit.sentCallbacks()]).toMatchObject([{ status: 'cancelled' }, []]);
    expectWhole(kit);
  });

  it('loses its rows when its time is over', async () => {
    const kit = await holding(9);
    await kit.end(items(kit, 0, 4));
    await cancel(kit);
    await kit.patrolFor(DAY - MINUTE);
    expect(rowsLeft(kit)).toBeGreaterThan(10);
    kit.now += 2 * MINUTE;
    await kit.patrol();
    expect(rowsLeft(kit)).toBe(0);
    expect(await kit.read(), 'the header remains').toMatchObject({ status: 'cancelled' });
  });

  it('gets no ack row shortly before or after its rows are deleted', async () => {
    const kit = await holding(9);
    await kit.trigger(9);
    // Three groups, one task of each.
    const [early, late, tooLate] = (await kit.start()).filter((_, job) => job % 3 === 0) as [string, string, string];
    await cancel(kit);
    kit.now += DAY - SETTLED - 1;
    const before = rowsLeft(kit);
    await kit.end([early]);
    expect(rowsLeft(kit)).toBe(before + 1);
    kit.now += 1;
    await kit.end([late]);
    expect(rowsLeft(kit)).toBe(before + 1);
    await kit.patrolFor(DAY);
    await kit.end([tooLate]);
    expect(rowsLeft(kit)).toBe(0);
  });

  it('is unknown to claims once its rows are gone, and reports no stale counts', async () => {
    const kit = await holding(9);
    await kit.got('a', 3);
    await cancel(kit);
    kit.now += 24 * 60 * MINUTE;
    await kit.patrolFor(2 * MINUTE);
    expect(rowsLeft(kit)).toBe(0);
    expect(await kit.claim('a', 3)).toEqual({ kind: 'unknown' });
    expect(await looks(kit)).toEqual({ available: 0, leased: 0, failed: 0 });
  });
});

describe('the id of an ended list', () => {
  const freeAt = async (end: (kit: ListKit) => Promise<unknown>, keepTasks: number): Promise<number | undefined> => {
    const config = reportingOps();
    const operations = Object.entries(config.operations).map(([name, each]) => [name, { ...each, keepTasks }]);
    const kit = listKit({}, { ...config, operations: Object.fromEntries(operations) });
    await kit.open();
    await end(kit);
    const { bury } = kit.fanOuts;
    let free: number | undefined;
    kit.fanOuts.bury = (id, expires) => {
      free = expires;
      return bury(id, expires);
    };
    await kit.patrol();
    kit.now += DAY + MINUTE;
    await kit.patrol();
    return free;
  };

  it('stays taken while tasks named after it are stored', async () => {
    for (const end of [remove, cancel, (kit: ListKit) => seal(kit, TRACKER)])
      expect(await freeAt(end, 30 * DAY)).toBe(NOW + 30 * DAY);
  });

  it('stays taken while the list can be read, if that is longer', async () => {
    expect(await freeAt(cancel, MINUTE)).toBe(NOW + DAY + MINUTE);
  });
});
