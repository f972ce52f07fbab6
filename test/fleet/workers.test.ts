/** The work on many partitions, which come and go and come back. */
import { describe, expect, it } from 'vitest';
import { PartitionLost } from '../../src/fleet/partition.ts';
import { held } from './records.ts';
import { begun, lost, P0, Thread } from './working-thread.ts';

describe('a partition that is dropped', () => {
  it.each(['evicted', 'taken', 'drain-timeout'] as const)(
    'for %s has both its signals aborted, and is not called again',
    async (why) => {
      const thread = await begun();
      thread.workers.drop(P0, why);
      thread.workers.drop(P0, 'deadline');
      await thread.pass(600_000);
      const { signal, lost: gone } = thread.last.partition;
      expect([signal.reason, gone.reason, thread.calls.length, thread.drained]).toEqual([lost(why), lost(why), 1, []]);
      expect(() => thread.last.partition.assertOwned()).toThrow(PartitionLost);
    },
  );

  it('and comes back is begun once the last call has ended: never twice at a time', async () => {
    const hanging = Promise.withResolvers<void>();
    const thread = await begun(() => hanging.promise);
    thread.workers.drop(P0, 'evicted');
    const later = held(0, 'a@2', 3);
    thread.workers.begin(later, 'of another one');
    thread.workers.begin(held(1, 'a@2', 1), undefined);
    await thread.pass(60_000);
    expect(
      thread.calls.map((call) => call.partition.id),
      'no other one waits for it',
    ).toEqual(['0', '1']);
    hanging.resolve();
    await thread.pass(0);
    expect(thread.calls.map((call) => [call.partition.id, call.partition.fence])).toEqual([
      ['0', 1],
      ['1', 1],
      ['0', 3],
    ]);
    expect(thread.last.partition.from).toBe('of another one');
  });

  it('while it waits for its last call to end is not begun at all, and neither holds up the next', async () => {
    const hanging = Promise.withResolvers<void>();
    const thread = await begun(() => hanging.promise);
    thread.workers.drop(P0, 'taken');
    thread.workers.begin(held(0, 'a', 3), undefined);
    thread.workers.drop(held(0, 'a', 3), 'taken');
    thread.workers.begin(held(0, 'a', 5), undefined);
    hanging.resolve();
    await thread.pass(0);
    expect(thread.calls.map((call) => call.partition.fence)).toEqual([1, 5]);
  });

  it('and comes back beside a call that never ends is given away when it is asked for', async () => {
    const thread = await begun(() => new Promise(() => {}));
    thread.workers.drop(P0, 'taken');
    const back = held(0, 'a', 3);
    thread.workers.begin(back, undefined);
    await thread.pass(0);
    expect([thread.calls.length, thread.drained]).toEqual([1, []]);
    thread.workers.drain(back);
    await thread.pass(0);
    expect([thread.calls.length, thread.drained]).toEqual([1, [back]]);
  });

  it('by its name only under that fence', async () => {
    const thread = await begun();
    thread.workers.drop(held(0, 'a', 2), 'taken');
    thread.workers.drain(held(0, 'b', 1));
    await thread.pass(0);
    expect(thread.last.partition.signal.aborted).toBe(false);
  });
});

describe('all at once', () => {
  const three = async (work?: Thread['work']): Promise<Thread> => {
    const thread = new Thread();
    if (work) thread.work = work;
    for (const name of [0, 1, 2]) thread.workers.begin(held(name, 'a'), undefined);
    await thread.pass(0);
    return thread;
  };

  it('what has no more time is told to stop, and given away whether it does or not', async () => {
    const thread = await three(() => new Promise(() => {}));
    for (const name of [0, 1]) thread.workers.drain(held(name, 'a'));
    thread.workers.giveUp();
    await thread.pass(0);
    expect(thread.calls.map((call) => (call.partition.lost.reason as PartitionLost).reason)).toEqual(
      Array(3).fill('drain-timeout'),
    );
    expect(thread.drained.map((each) => each.partition).sort()).toEqual(['0', '1', '2']);
  });

  it('what comes after that is given away, and not begun', async () => {
    const thread = await three();
    thread.workers.giveUp();
    thread.workers.begin(held(3, 'a'), undefined);
    await thread.pass(0);
    expect(thread.calls.map((call) => call.partition.id)).toEqual(['0', '1', '2']);
    expect(thread.drained.map((each) => each.partition).sort()).toEqual(['0', '1', '2', '3']);
  });

  it('what has ended before is not given away a second time', async () => {
    const thread = await three();
    for (const name of [0, 1, 2]) thread.workers.drain(held(name, 'a'));
    await thread.pass(0);
    thread.workers.giveUp();
    expect(thread.drained).toHaveLength(3);
  });

  it('what was dropped before is told of once, also if it never ends', async () => {
    const thread = await three(() => new Promise(() => {}));
    thread.workers.drop(held(0, 'a'), 'taken');
    thread.workers.giveUp();
    await thread.pass(0);
    expect(thread.told.flatMap((each) => (each.event === 'dropped' ? [each.partition] : []))).toEqual(['1', '2']);
    expect(thread.drained.map((each) => each.partition)).toEqual(['1', '2']);
  });

  it('without heartbeats nothing may be worked on, and nothing is begun again', async () => {
    const thread = await three();
    thread.workers.dropAll();
    thread.extend(2_000_000);
    await thread.pass(600_000);
    expect([thread.calls.length, thread.calls.every(({ isOver }) => isOver), thread.drained]).toEqual([3, true, []]);
  });
});
