/** Redrives of failed items (T11, T12), and the report of the first failure (T13). */
import { describe, expect, it } from 'vitest';
import { parseItemId } from '../../src/domain/fan-out-ids.ts';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { patrolFanOuts } from '../../src/steps/fan-outs/patrol.ts';
import { progressOf } from '../../src/steps/fan-outs/progress.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, type FanOutKit, fanOutKit, itemsOf } from './kit.ts';

const MINUTE = 60_000;

/** Acks items whose tasks were redriven with success. */
const redriven = (kit: FanOutKit, items: readonly string[]) =>
  ackItems(
    kit,
    items.map((each) => {
      const item = parseItemId(`${FAN_OUT}:${each}`);
      if (!item) throw new Error(`no item: ${each}`);
      return { item, outcome: 'succeeded', corrects: true };
    }),
  );
const types = (kit: FanOutKit) => kit.sentCallbacks().map(({ id, type }) => [id, type.replace('groupage.', '')]);

describe('a redrive that succeeds', () => {
  it('corrects the counts, and a late failure changes nothing', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(14));
    await kit.ack(items.slice(0, 3), 'failed');
    await kit.ack(items.slice(3, 13));
    await redriven(kit, ['0:1', '0:2']);
    await redriven(kit, ['0:1']);
    await kit.ack(['0:1'], 'failed');
    expect(await progressOf(kit.fanOuts, await kit.read())).toEqual({ succeeded: 12, failed: 1, pending: 1 });
    await seal(kit, FAN_OUT);
    await kit.ack(items.slice(13));
    expect(await kit.read()).toMatchObject({ status: 'complete', ended: { because: 'all-done', failed: 1 } });
    expect(await progressOf(kit.fanOuts, await kit.read())).toEqual({ succeeded: 13, failed: 1, pending: 0 });
  });

  it('makes room for other failures that are tolerated', async () => {
    const kit = fanOutKit();
    await kit.open({ failFast: { count: 2 } });
    await kit.add(30);
    await kit.ack(['0:0', '3:1'], 'failed');
    await redriven(kit, ['0:0', '3:1']);
    expect((await kit.read()).fails).toEqual([]);
    await kit.ack(['4:0', '5:0'], 'failed');
    // A late ack of the first run may have noted the corrected failure again.
    await kit.fanOuts.noteFails(FAN_OUT, ['0:0'], 9);
    await kit.ack(['4:0'], 'failed');
    expect(await kit.read()).toMatchObject({ status: 'open', fails: ['4:0', '5:0'] });
    await kit.ack(['6:0'], 'failed');
    expect(await kit.read()).toMatchObject({ ended: { because: 'too-many-failed', failed: 3 } });
  });

  it('is reported once, when the last failed item has succeeded', async () => {
    const kit = fanOutKit();
    await kit.open({ userKey: 'k' });
    const items = itemsOf(await kit.add(30));
    await seal(kit, FAN_OUT);
    const failed = ['0:0', '4:1', '4:2', '9:2'];
    await kit.ack(failed, 'failed');
    await kit.ack(items.filter((each) => !failed.includes(each)));
    const completed = [`f.${NOW}.completed`, 'fan-out.completed'];
    for (const each of ['4:1', '9:2', '0:0']) await redriven(kit, [each]);
    expect(types(kit)).toEqual([completed]);
    await redriven(kit, ['4:2']);
    await redriven(kit, ['4:2', '0:0']);
    expect(types(kit)).toEqual([completed, [`f.${NOW}.all-succeeded`, 'fan-out.all-succeeded']]);
    expect(kit.sentCallbacks()[1]?.data).toMatchObject({ id: FAN_OUT, total: 30, succeeded: 30, userKey: 'k' });
    const after = await kit.read();
    expect(after).toMatchObject({ status: 'complete', ended: { failed: 4 }, allSucceededAt: kit.now });
    expect(after.checkAt).toBe(kit.now + kit.config.fanOuts.keep);
  });

  it('is reported by the patrol if the function dies before', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.add(2);
    await seal(kit, FAN_OUT);
    await kit.ack(['0:0'], 'failed');
    await kit.ack(['0:1']);
    const { callbacks } = kit.queues;
    Object.assign(kit.queues, { callbacks: () => Promise.reject(new Error('dead')) });
    await expect(redriven(kit, ['0:0'])).rejects.toThrow('dead');
    Object.assign(kit.queues, { callbacks });
    kit.now += 2 * MINUTE;
    await patrolFanOuts(kit, () => true);
    expect(types(kit)[1]).toEqual([`f.${NOW}.all-succeeded`, 'fan-out.all-succeeded']);
    expect(await kit.fanOuts.node(FAN_OUT, { level: 0, n: 0 }), 'the rows are kept').toBeDefined();
  });
});

describe('the first failure', () => {
  it('is reported once, with its item, before the end', async () => {
    const kit = fanOutKit();
    await kit.open({ notifyFirstFailure: true });
    await kit.add(5);
    await kit.ack(['1:1', '0:2'], 'failed');
    await kit.ack(['0:1'], 'failed');
    expect(types(kit)).toEqual([[`f.${NOW}.first-failure`, 'fan-out.first-failure']]);
    const { firstFailure, checkAt, unsent } = await kit.read();
    expect(kit.sentCallbacks()[0]?.data).toMatchObject({ id: FAN_OUT, item: firstFailure?.item });
    expect([checkAt, unsent], 'the patrol comes as before').toEqual([NOW + 120_000, undefined]);
  });

  it('is found by the patrol if the function dies before it notes the item', async () => {
    const kit = fanOutKit();
    await kit.open({ notifyFirstFailure: true });
    await kit.add(5);
    const { read } = kit.fanOuts;
    kit.fanOuts.read = () => Promise.reject(new Error('dead'));
    await expect(kit.ack(['1:1'], 'failed')).rejects.toThrow('dead');
    kit.fanOuts.read = read;
    kit.now += 5 * MINUTE;
    await patrolFanOuts(kit, () => true);
    expect(kit.sentCallbacks()).toMatchObject([{ data: { item: `${FAN_OUT}:1:1` } }]);
  });

  it('is not reported unless the fan-out asks for it', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.add(5);
    await kit.ack(['1:1'], 'failed');
    expect(kit.sentCallbacks()).toEqual([]);
  });
});
