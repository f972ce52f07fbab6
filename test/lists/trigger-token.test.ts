/** The token of a trigger belongs to the amount that was requested first. */
import { describe, expect, it } from 'vitest';
import { takeJobs } from '../../src/steps/lists/trigger.ts';
import { atEachCut, gateAt } from './cuts.ts';
import { expectWhole, holding, LIST, listKit, token } from './kit.ts';

describe('the token of a trigger', () => {
  it('belongs to its amount', async () => {
    const kit = await holding(9, { claimsMax: 1 });
    expect(await kit.trigger(4)).toEqual({ kind: 'triggered', count: 4 });
    expect(await kit.trigger(5)).toEqual({ kind: 'other-amount', wanted: '4 jobs' });
    expect(await kit.trigger({ percent: 4 })).toEqual({ kind: 'other-amount', wanted: '4 jobs' });
    expect(await kit.trigger({ percent: 12.5 }, 'u')).toEqual({ kind: 'triggered', count: 2 });
    expect(await kit.trigger({ percent: 12 }, 'u')).toEqual({ kind: 'other-amount', wanted: '12.5 percent' });
    expect(await kit.start()).toHaveLength(6);
    expect(await kit.lists.trigger(LIST, token('t'))).toMatchObject({ wanted: '4 jobs' });
    expectWhole(kit);
  });

  it('belongs to the first of two amounts that come at once', async () => {
    const cuts = await atEachCut(async (n) => {
      const kit = await holding(9, { claimsMax: 1 });
      let first: unknown;
      const { gate, isReached } = gateAt(n, 'before', async () => {
        first = await kit.trigger(2);
      });
      const answer = await kit.behind(gate).trigger(3);
      const taken = kit.tables.listTriggers.get(`${LIST}#t`);
      const isFirst = taken?.wanted === '2 jobs';
      expect(answer).toEqual(isFirst ? { kind: 'other-amount', wanted: '2 jobs' } : { kind: 'triggered', count: 3 });
      if (isReached())
        expect(first).toEqual(isFirst ? { kind: 'triggered', count: 2 } : { kind: 'other-amount', wanted: '3 jobs' });
      expect(await kit.start(), 'as many tasks as jobs were triggered').toHaveLength(isFirst ? 2 : 3);
      return isReached();
    });
    expect(cuts).toBeGreaterThan(3);
  });

  it('has its amount also if the register function was faster', async () => {
    const kit = listKit();
    await kit.open();
    await kit.add(5);
    const { lists } = kit;
    // The message is handled before the API function takes the jobs.
    const { register } = kit.queues;
    kit.queues.register = async (...sent) => {
      await register(...sent);
      await takeJobs(kit, { list: LIST, token: token('t'), count: 2 });
    };
    expect(await kit.trigger(2)).toEqual({ kind: 'triggered', count: 2 });
    expect(await lists.trigger(LIST, token('t'))).toMatchObject({ wanted: '2 jobs' });
    expect(await kit.trigger(2)).toEqual({ kind: 'triggered', count: 2 });
    expect(await kit.trigger(3)).toEqual({ kind: 'other-amount', wanted: '2 jobs' });
  });
});
