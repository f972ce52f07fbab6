import { describe, expect, it } from 'vitest';
import type { Range } from '../../src/domain/lists/ids.ts';
import { countOf } from '../../src/domain/lists/ranges.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { JOBS_AT_ONCE, startJobs } from '../../src/steps/lists/trigger.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { expectWhole, LIST, type ListKit, listKit, MINUTE, result, token, tokensIn } from './kit.ts';

const TRACKER = `~${LIST}` as never;
const OVER = MINUTE + 2 * CLOCK_SKEW;
const holding = async (count: number, size = {}): Promise<ListKit> => {
  const kit = listKit(size);
  await kit.open();
  for (let left = count, n = 0; left > 0; left -= 1_000, n += 1) await kit.add(Math.min(left, 1_000), `add${n}-`);
  return kit;
};
const taken = (kit: ListKit, name = 't'): readonly Range[] | undefined =>
  kit.tables.listTriggers.get(`${LIST}#${name}`)?.ranges;
/** The position from which the next message goes on. */
const nextOf = ({ reached, goesOn }: Awaited<ReturnType<typeof startJobs>>) => (goesOn ? reached : undefined);
const items = (kit: ListKit, ...jobs: readonly number[]): string[] =>
  jobs.map((job) => `~${LIST}:${Math.floor(job / kit.fanOuts.width)}:${job % kit.fanOuts.width}`);

describe('a trigger', () => {
  it('makes tasks of the next jobs, and returns their number', async () => {
    const kit = await holding(10);
    expect(await kit.trigger(4)).toEqual({ kind: 'triggered', count: 4 });
    expect(await kit.start()).toEqual(items(kit, 0, 1, 2, 3));
    expect(await kit.trigger(4, 'u')).toEqual({ kind: 'triggered', count: 4 });
    expect(await kit.start()).toEqual(items(kit, 4, 5, 6, 7));
    expect(await kit.trigger(4, 'v')).toEqual({ kind: 'triggered', count: 2 });
    expectWhole(kit);
  });

  it('takes jobs once for a token, however often it is repeated', async () => {
    const kit = await holding(10);
    await kit.trigger(4);
    expect(await kit.trigger(4)).toEqual({ kind: 'triggered', count: 4 });
    expect(await kit.start()).toEqual(items(kit, 0, 1, 2, 3));
    expect(await kit.trigger(4)).toEqual({ kind: 'triggered', count: 4 });
    expect(await kit.read()).toMatchObject({ head: 4 });
    expectWhole(kit);
  });

  it('without jobs left takes none, also when it is repeated later', async () => {
    const kit = await holding(3);
    await kit.claim('a', 3);
    expect(await kit.trigger(2)).toEqual({ kind: 'triggered', count: 0 });
    await kit.add(5, 'more');
    expect(await kit.trigger(2), 'the token keeps its first answer').toEqual({ kind: 'triggered', count: 0 });
    expect(await kit.start()).toEqual([]);
    expect(await kit.trigger(2, 'u')).toEqual({ kind: 'triggered', count: 2 });
    expectWhole(kit);
  });

  it('rounds a share up, exactly in decimals: four times 25 percent are all jobs', async () => {
    for (const [count, percent, each] of [
      [10, 25, 3],
      [100, 7, 7],
      [100, 29, 29],
      [100, 0.5, 1],
      [3, 100, 3],
      [1_000, 55.3, 553],
      [0, 50, 0],
    ] as const) {
      const kit = await holding(count, { width: 450, acksAtOnce: 150 });
      expect(await kit.trigger({ percent }), `${percent}% of ${count}`).toEqual({ kind: 'triggered', count: each });
    }
    for (let hundredths = 1; hundredths <= 10_000; hundredths += 7) {
      const kit = await holding(0);
      const total = 100 * hundredths;
      kit.tables.fanOuts.set(TRACKER, { ...(await kit.read()), total });
      const count = Math.ceil((hundredths * total) / 10_000);
      expect(await kit.trigger({ percent: hundredths / 100 }), `${hundredths / 100}%`).toMatchObject({ count });
    }
    const kit = await holding(10);
    for (const name of ['a', 'b', 'c', 'd']) await kit.trigger({ percent: 25 }, name);
    expect(await kit.read()).toMatchObject({ head: 10 });
    expect(await kit.start()).toHaveLength(10);
    expectWhole(kit);
  });

  it('takes free jobs first, across gaps, and a part of the last range', async () => {
    const kit = await holding(12);
    const [a, , c] = [await kit.got('a', 3), await kit.got('b', 3), await kit.got('c', 3)];
    await kit.release(a.handle);
    await kit.release(c.handle);
    await kit.trigger(4);
    expect(taken(kit)).toEqual([
      { first: 0, count: 3 },
      { first: 6, count: 1 },
    ]);
    expectWhole(kit);
    await kit.trigger(4, 'u');
    expect(taken(kit, 'u')).toEqual([
      { first: 7, count: 2 },
      { first: 9, count: 2 },
    ]);
    expect(await kit.start()).toEqual(items(kit, 0, 1, 2, 6, 7, 8, 9, 10));
    expectWhole(kit);
  });

  it('does not take claimed jobs until their lease has ended', async () => {
    const kit = await holding(4);
    const { handle } = await kit.got('a', 3);
    kit.now += OVER;
    await kit.trigger(1);
    expect(taken(kit)).toEqual([{ first: 3, count: 1 }]);
    kit.now += 1;
    await kit.trigger(9, 'u');
    expect(taken(kit, 'u')).toEqual([{ first: 0, count: 3 }]);
    expect(await kit.complete(handle)).toEqual({ kind: 'lost' });
    expect(tokensIn(await kit.claim('a', 1))).toEqual([]);
    expectWhole(kit);
  });

  it('skips jobs that are done, and counts tasks', async () => {
    const kit = await holding(12);
    const [a, b] = [await kit.got('a', 5), await kit.got('b', 2)];
    await kit.complete(a.handle, [result(0), result(2), result(3)]);
    await kit.release(a.handle);
    await kit.end(items(kit, 5, 6));
    kit.now += OVER + 1;
    expect(await kit.trigger(1)).toEqual({ kind: 'triggered', count: 1 });
    expect(taken(kit)).toEqual([{ first: 1, count: 1 }]);
    expectWhole(kit);
    expect(await kit.trigger(3, 'u')).toEqual({ kind: 'triggered', count: 3 });
    expect(await kit.start()).toEqual(items(kit, 1, 4, 7, 8));
    expect(await kit.complete(b.handle)).toEqual({ kind: 'done', complete: false });
    expectWhole(kit);
  });

  for (const when of ['before', 'after'] as const)
    it(`that died ${when} any call is done once by its message or a repeat`, async () => {
      for (const how of ['message', 'again', 'again and message', 'message and again'] as const) {
        const cuts = await atEachCut(async (n) => {
          const kit = await holding(7);
          const { handle } = await kit.got('a', 2);
          await kit.release(handle);
          const { gate, isReached } = dyingAt(n, when);
          await kit
            .behind(gate)
            .trigger(4)
            .catch(() => {});
          expectWhole(kit);
          const wasSent = kit.sent.registered.length > 0;
          const started: string[] = [];
          if (how.startsWith('message')) started.push(...(await kit.start()));
          if (how.includes('again')) expect(await kit.trigger(4)).toEqual({ kind: 'triggered', count: 4 });
          started.push(...(await kit.start()));
          expect(new Set(started)).toEqual(new Set(wasSent || how !== 'message' ? items(kit, 0, 1, 2, 3) : []));
          expectWhole(kit);
          return isReached();
        });
        expect(cuts).toBeGreaterThanOrEqual(6);
      }
    });

  it('and its own message at the same time take the jobs once', async () => {
    await atEachCut(async (n) => {
      const kit = await holding(7);
      let started: readonly string[] = [];
      const { gate, isReached } = gateAt(n, 'before', async () => {
        started = await kit.start();
      });
      expect(await kit.behind(gate).trigger(4)).toEqual({ kind: 'triggered', count: 4 });
      expect(new Set([...started, ...(await kit.start())])).toEqual(new Set(items(kit, 0, 1, 2, 3)));
      expect(await kit.read()).toMatchObject({ head: 4 });
      expectWhole(kit);
      return isReached();
    });
  });

  it('on a closed list checks again whether its message was first', async () => {
    const kit = await holding(7);
    const { gate } = gateAt(5, 'before', async (call) => {
      expect(call).toBe('lists.read');
      await kit.start();
      await cancelRest(kit, await kit.read());
    });
    expect(await kit.behind(gate).trigger(4)).toEqual({ kind: 'triggered', count: 4 });
  });

  it('beside others at the same time takes jobs of its own', async () => {
    const kit = await holding(40);
    const { handle } = await kit.got('a', 7);
    await kit.release(handle);
    const names = Array.from({ length: 9 }, (_, n) => `t${n}`);
    await Promise.all(names.map((name) => kit.trigger(5, name)));
    expect(names.map((name) => countOf(taken(kit, name) ?? [])).sort()).toEqual([0, 5, 5, 5, 5, 5, 5, 5, 5]);
    const started = await kit.start();
    expect(new Set(started).size).toBe(40);
    expect(started).toHaveLength(40);
    expectWhole(kit);
  });

  it('on a closed list takes nothing, but returns what its token took before', async () => {
    const kit = await holding(5);
    await kit.trigger(2);
    await cancelRest(kit, await kit.read());
    expect(await kit.trigger(2)).toEqual({ kind: 'triggered', count: 2 });
    expect(await kit.trigger(2, 'u')).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(kit.sent.registered, 'no message is sent').toHaveLength(1);
    expect(await kit.start(), 'taken jobs become tasks').toEqual(items(kit, 0, 1));
    await discard(kit, await kit.read());
    expect(await kit.trigger(2)).toEqual({ kind: 'closed', status: 'expired' });
    const none = await holding(0);
    await seal(none, TRACKER);
    expect(await none.trigger(2)).toEqual({ kind: 'closed', status: 'complete' });
    expect(await listKit().trigger(2)).toEqual({ kind: 'unknown' });
  });

  it('on a list without an operation is refused', async () => {
    const kit = listKit();
    const { operation: _, ...list } = await kit.open();
    kit.tables.fanOuts.set(list.id, list);
    await kit.add(3);
    expect(await kit.trigger(2)).toEqual({ kind: 'no-operation' });
    expect(kit.sent.registered).toEqual([]);
    expect(taken(kit)).toBeUndefined();
  });
});

describe('a trigger message', () => {
  const message = (from = 0, count = 9_999) => ({ list: LIST, token: token('t'), count, from });

  it('makes some jobs into tasks and goes on with the next, until all are', async () => {
    const kit = await holding(1_203, { width: 450, acksAtOnce: 150 });
    const { handle } = await kit.got('a', 700);
    await kit.release(handle);
    await kit.trigger({ percent: 100 });
    const parts: number[] = [];
    let next: Parameters<typeof startJobs>[1] | undefined = message();
    const all: string[] = [];
    while (next) {
      const started = await startJobs(kit, next);
      parts.push(started.jobs.length);
      all.push(...started.jobs.map(({ item }) => item));
      next = nextOf(started);
    }
    expect(parts).toEqual([JOBS_AT_ONCE, JOBS_AT_ONCE, 203]);
    expect(all).toEqual(items(kit, ...Array.from({ length: 1_203 }, (_, job) => job)));
  });

  it('starts fewer jobs beside other messages, or if they are far apart', async () => {
    const kit = await holding(1_203, { width: 450, acksAtOnce: 150 });
    await kit.trigger(1_203);
    expect(nextOf(await startJobs(kit, message(), 10))).toEqual(message(JOBS_AT_ONCE / 10));
    const odd = Array.from({ length: 600 }, (_, n) => ({ first: 2 * n + 1, count: 1 }));
    kit.tables.listTriggers.set(`${LIST}#u`, { ranges: odd, started: 0 });
    let reads = 0;
    const { jobs } = kit.lists;
    kit.lists = {
      ...kit.lists,
      jobs: (...args) => {
        reads += 1;
        return jobs(...args);
      },
    };
    const far = await startJobs(kit, { ...message(), token: token('u') });
    expect(reads).toBeLessThanOrEqual(50);
    expect(far.jobs.map(({ item }) => item)).toEqual(items(kit, ...odd.slice(0, reads).map(({ first }) => first)));
    expect(nextOf(far)).toEqual({ ...message(reads), token: token('u') });
  });

  it('goes on if the jobs are too large for one read', async () => {
    const kit = await holding(9, { pageBytes: 120 });
    expect(tokensIn(await kit.claim('a', 7)), 'four jobs are given back').toEqual([0, 1, 2]);
    await kit.trigger(9);
    const first = await startJobs(kit, message());
    expect(first.jobs).toHaveLength(3);
    expect(nextOf(first)).toEqual(message(3));
    expect(await kit.start()).toEqual(items(kit, 3, 4, 5, 6, 7, 8));
  });

  it('that is repeated makes no task of a job that is done', async () => {
    const kit = await holding(4);
    await kit.trigger(4);
    await kit.end(items(kit, 0, 3));
    expect((await startJobs(kit, message())).jobs.map(({ item }) => item)).toEqual(items(kit, 1, 2));
  });

  it('that is repeated goes on only once, so that messages do not multiply', async () => {
    const kit = await holding(8, { pageBytes: 50 });
    await kit.trigger(8);
    const [first] = kit.sent.registered;
    await kit.start();
    expect(await startJobs(kit, message())).toEqual({ jobs: [], goesOn: false });
    kit.sent.registered.push(first as string, first as string);
    expect(await kit.start()).toEqual([]);
    const amid = await holding(8, { pageBytes: 50 });
    await amid.trigger(8);
    const part = await startJobs(amid, message());
    expect(nextOf(part), 'a run that died before its note is repeated').toEqual(
      nextOf(await startJobs(amid, message())),
    );
  });

  it('of a deleted list makes no task', async () => {
    const kit = await holding(4);
    await kit.trigger(4);
    await discard(kit, await kit.read());
    expect(await startJobs(kit, message())).toEqual({ jobs: [], goesOn: false });
    await kit.patrol();
    expect(await startJobs(kit, message())).toEqual({ jobs: [], goesOn: false });
    expect(await startJobs(listKit(), message())).toEqual({ jobs: [], goesOn: false });
  });

  it('keeps the payload unchanged', async () => {
    const kit = await holding(0);
    await kit.add(['ü'], 'a');
    await kit.trigger(1);
    const [job] = (await startJobs(kit, message())).jobs;
    expect(job?.body).toBe('{"operation":"ship","id":"l:0","payload":{"depot":"MUC","job":"ü"}}');
  });
});
