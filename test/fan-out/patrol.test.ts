import { describe, expect, it } from 'vitest';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts } from '../../src/steps/fan-outs/patrol.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, type FanOutKit, fanOutKit, itemsOf, reportingOps } from './kit.ts';

const MINUTE = 60_000;
const [HOUR, DAY] = [60 * MINUTE, 24 * 60 * MINUTE];
const patrol = (kit: FanOutKit): Promise<void> => patrolFanOuts(kit, () => true);
/** Runs the patrol each minute for this time. */
const patrolFor = async (kit: FanOutKit, span: number): Promise<void> => {
  for (const until = kit.now + span; kit.now < until; kit.now += MINUTE) await patrol(kit);
};
/** Lets these calls of the store fail from now on, as if the process had died. */
const dead = (kit: FanOutKit, ...names: (keyof FanOutKit['fanOuts'])[]): (() => void) => {
  const inner = kit.fanOuts;
  const gone = Object.fromEntries(names.map((name) => [name, () => Promise.reject(new Error('gone'))]));
  kit.fanOuts = { ...inner, ...gone };
  return () => {
    kit.fanOuts = inner;
  };
};

describe('the patrol', () => {
  it('completes a fan-out that stopped between the last ack and the roll-up', async () => {
    for (const count of [2, 11, 40]) {
      const kit = fanOutKit();
      await kit.open();
      const items = itemsOf(await kit.add(count));
      await seal(kit, FAN_OUT);
      const redrive = dead(kit, 'read', 'putNode');
      for (const item of items) await kit.ack([item]).catch(() => {});
      redrive();
      expect(await kit.read()).toMatchObject({ status: 'sealed' });
      await patrol(kit);
      expect(await kit.read(), 'it is not due yet').toMatchObject({ status: 'sealed' });
      await patrolFor(kit, 5 * MINUTE);
      expect(await kit.read()).toMatchObject({ status: 'complete', ended: { because: 'all-done', failed: 0 } });
      expect(kit.sentCallbacks()).toMatchObject([
        { id: `f.${NOW}.completed`, data: { total: count, succeeded: count } },
      ]);
      expect(kit.events).toContainEqual({ event: 'fan-out-repaired', fanOut: FAN_OUT });
    }
  });

  it('sends the event of a function that stopped before it sent the event', async () => {
    const kit = fanOutKit();
    await kit.open();
    const { queues } = kit;
    const mute = { ...kit, queues: { ...queues, callbacks: () => Promise.reject(new Error('gone')) } };
    await expect(seal(mute, FAN_OUT)).rejects.toThrow('gone');
    expect(await kit.read()).toMatchObject({ status: 'complete', event: { to: 'ops' } });
    expect(kit.sentCallbacks()).toEqual([]);
    await patrolFor(kit, 3 * MINUTE);
    expect(kit.sentCallbacks()).toMatchObject([{ id: `f.${NOW}.completed` }]);
    expect(await kit.read()).not.toHaveProperty('event');
  });

  it('completes a fan-out with too many failures that were not noted', async () => {
    const kit = fanOutKit();
    await kit.open({ failFast: { count: 1 } });
    await kit.add(20);
    const redrive = dead(kit, 'noteFails');
    for (const item of ['0:0', '3:1']) await kit.ack([item], 'failed').catch(() => {});
    redrive();
    await patrolFor(kit, 5 * MINUTE);
    expect(await kit.read()).toMatchObject({ ended: { because: 'too-many-failed', failed: 2 } });
  });

  it('expires an open fan-out after two idle hours, and a sealed one after a week', async () => {
    for (const [isSealed, idle] of [
      [false, 2 * HOUR],
      [true, 7 * DAY],
    ] as const) {
      const kit = fanOutKit();
      await kit.open({ userKey: 'u' });
      await kit.add(8);
      if (isSealed) await seal(kit, FAN_OUT);
      kit.now += idle - HOUR;
      await kit.ack(['1:1']);
      kit.now += HOUR + MINUTE;
      await patrol(kit);
      expect(await kit.read(), 'one of its items was acked an hour ago').not.toHaveProperty('ended');
      await patrolFor(kit, idle + HOUR);
      expect(await kit.read()).toMatchObject({ status: 'expired', ended: { because: 'idle', failed: 0 } });
      const data = {
        id: FAN_OUT,
        status: 'expired',
        because: 'idle',
        total: 8,
        succeeded: 1,
        failed: 0,
        pending: 7,
        userKey: 'u',
      };
      expect(kit.sentCallbacks()).toMatchObject([{ id: `f.${NOW}.expired`, type: 'groupage.fan-out.expired', data }]);
      expect(await kit.ack(['0:0']), 'late').toMatchObject({ fanOuts: [], unknown: [`${FAN_OUT}:0:0`] });
      expect(await kit.fanOuts.node(FAN_OUT, { level: 0, n: 0 })).toBeUndefined();
      expect(await kit.add(1)).toEqual({ kind: 'closed', status: 'expired' });
      expect(await seal(kit, FAN_OUT)).toEqual({ kind: 'expired' });
    }
  });

  it('spares a fan-out that gets items between its read and its write', async () => {
    const kit = fanOutKit();
    await kit.open();
    kit.now += 3 * HOUR;
    const inner = kit.fanOuts;
    kit.fanOuts = {
      ...inner,
      end: async (id, ending) => {
        kit.fanOuts = inner;
        await kit.add(1);
        return inner.end(id, ending);
      },
    };
    await patrol(kit);
    expect(await kit.read()).toMatchObject({ status: 'open', total: 1 });
  });

  it('checks a fan-out at growing intervals, up to one hour', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.add(1);
    await seal(kit, FAN_OUT);
    const looks = new Set<number | undefined>();
    await patrolFor(kit, DAY).then(() => {});
    for (let minute = 0; minute < 600; minute += 1, kit.now += MINUTE) {
      looks.add((await kit.read()).checkAt);
      await patrol(kit);
    }
    expect(looks.size).toBeLessThanOrEqual(12);
    expect(looks.size).toBeGreaterThanOrEqual(9);
  });

  it('deletes the rows of a complete fan-out when `keep` is over, and not before', async () => {
    const kit = fanOutKit(reportingOps({ keep: DAY }));
    await kit.open();
    const items = itemsOf(await kit.add(11));
    await seal(kit, FAN_OUT);
    await kit.ack(items);
    await patrolFor(kit, DAY - HOUR);
    expect((await kit.ack(items)).fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
    await patrolFor(kit, 2 * HOUR);
    expect((await kit.ack(items)).unknown).toHaveLength(11);
    for (const position of [
      { level: 0, n: 3 },
      { level: 1, n: 1 },
      { level: 2, n: 0 },
    ])
      expect(await kit.fanOuts.node(FAN_OUT, position)).toBeUndefined();
    expect(await kit.fanOuts.due(kit.now + 99 * DAY, 10)).toEqual([]);
    expect(await kit.read(), 'its header remains readable').toMatchObject({ status: 'complete' });
  });

  it('continues in the next minute if its time is over', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(60));
    await seal(kit, FAN_OUT);
    const redrive = dead(kit, 'read');
    for (const item of items) await kit.ack([item]).catch(() => {});
    redrive();
    kit.now += 3 * MINUTE;
    let minutes = 0;
    for (; (await kit.read()).status === 'sealed' && minutes < 30; minutes += 1, kit.now += MINUTE) {
      const steps = [1, 2, 3, 4];
      await patrolFanOuts(kit, () => steps.pop() !== undefined);
    }
    expect(await kit.read()).toMatchObject({ status: 'complete' });
    expect(minutes).toBeGreaterThan(1);
  });

  it('throws if one fan-out fails, after it has handled the others', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.fanOuts.open({ id: 'g' as typeof FAN_OUT, createdAt: NOW }, NOW);
    kit.now += 3 * HOUR;
    const inner = kit.fanOuts;
    kit.fanOuts = {
      ...inner,
      read: (id) => (id === FAN_OUT ? Promise.reject(new Error('throttled')) : inner.read(id)),
    };
    await expect(patrol(kit)).rejects.toThrow('throttled');
    expect(await inner.read('g' as typeof FAN_OUT)).toMatchObject({ status: 'expired' });
  });
});

describe('a deleted fan-out', () => {
  it('is unknown to late acks, and sends no event', async () => {
    const kit = fanOutKit();
    const fanOut = await kit.open();
    await kit.add(4);
    await kit.ack(['0:0']);
    expect(await discard(kit, fanOut)).toMatchObject({ status: 'expired', ended: { because: 'deleted' } });
    await patrol(kit);
    expect((await kit.ack(['0:1'])).unknown).toHaveLength(1);
    expect(kit.sentCallbacks()).toEqual([]);
  });
});

describe('a fan-out without a callback', () => {
  it('completes without an event', async () => {
    const kit = fanOutKit(reportingOps({ callback: null }));
    await kit.open();
    await seal(kit, FAN_OUT);
    expect(await kit.read()).toMatchObject({ status: 'complete' });
    expect(await kit.read()).not.toHaveProperty('event');
    expect(kit.sentCallbacks()).toEqual([]);
  });

  it('reports that its destination is no longer configured', async () => {
    const kit = fanOutKit({ ...reportingOps({ callback: null }), destinations: {} });
    await kit.open({ callback: 'gone' });
    await seal(kit, FAN_OUT);
    expect(kit.sentCallbacks()).toEqual([]);
    expect(kit.events).toContainEqual({ event: 'fan-out-untold', fanOut: FAN_OUT, destination: 'gone' });
  });
});
