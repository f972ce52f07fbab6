/** The work on many partitions, which are assigned, dropped and assigned again. */
import { describe, expect, it } from 'vitest';
import { PartitionLost } from '../../src/fleet/partition.ts';
import { held } from './records.ts';
import { begun, lost, P0, Thread } from './working-thread.ts';

describe('a dropped partition', () => {
  it.each(['evicted', 'taken', 'drain-timeout'] as const)(
    'for %s has both signals aborted, and its work is not called again',
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

  it('that comes back begins after its last call has ended, never twice', async () => {
    const hanging = Promise.withResolvers<void>();
    const thread = await begun(() => hanging.promise);
    thread.workers.drop(P0, 'evicted');
    const later = held(0, 'a@2', 3);
    thread.workers.begin(later, 'of another one');
    thread.workers.begin(held(1, 'a@2', 1), undefined);
    await thread.pass(60_000);
    expect(
      thread.calls.map((call) => call.partition.id),
      'no other partition waits for it',
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

  it('that waits for its last call never begins, and delays no other', async () => {
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

  it('that comes back beside an endless call is given away when asked for', async () => {
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

  it('is dropped only under the fence that it has', async () => {
    const thread = await begun();
    thread.workers.drop(held(0, 'a', 2), 'taken');
    thread.workers.drain(held(0, 'b', 1));
    await thread.pass(0);
    expect(thread.last.partition.signal.aborted).toBe(false);
  });
});

describe('workers', () => {
  const three = async (work?: Thread['work']): Promise<Thread> => {
    const thread = new Thread();
    if (work) thread.work = work;
    for (const name of [0, 1, 2]) thread.workers.begin(held(name, 'a'), undefined);
    await thread.pass(0);
    return thread;
  };

  it('that give up stop all work and give it away, whether it ends or not', async () => {
    const thread = await three(() => new Promise(() => {}));
    for (const name of [0, 1]) thread.workers.drain(held(name, 'a'));
    thread.workers.giveUp();
    await thread.pass(0);
    expect(thread.calls.map((call) => (call.partition.lost.reason as PartitionLost).reason)).toEqual(
      Array(3).fill('drain-timeout'),
    );
    expect(thread.drained.map((each) => each.partition).sort()).toEqual(['0', '1', '2']);
  });

  it('that gave up give away later partitions without beginning them', async () => {
    const thread = await three();
    thread.workers.giveUp();
    thread.workers.begin(held(3, 'a'), undefined);
    await thread.pass(0);
    expect(thread.calls.map((call) => call.partition.id)).toEqual(['0', '1', '2']);
    expect(thread.drained.map((each) => each.partition).sort()).toEqual(['0', '1', '2', '3']);
  });

  it('that give up do not give away again what has ended', async () => {
    const thread = await three();
    for (const name of [0, 1, 2]) thread.workers.drain(held(name, 'a'));
    await thread.pass(0);
    thread.workers.giveUp();
    expect(thread.drained).toHaveLength(3);
  });

  it('that give up report a dropped partition once, even if its work never ends', async () => {
    const thread = await three(() => new Promise(() => {}));
    thread.workers.drop(held(0, 'a'), 'taken');
    thread.workers.giveUp();
    await thread.pass(0);
    expect(thread.reported.flatMap((each) => (each.event === 'dropped' ? [each.partition] : []))).toEqual(['1', '2']);
    expect(thread.drained.map((each) => each.partition)).toEqual(['1', '2']);
  });

  it('without heartbeats drop all work, and never resume it', async () => {
    const thread = await three();
    thread.workers.dropAll();
    thread.extend(2_000_000);
    await thread.pass(600_000);
    expect([thread.calls.length, thread.calls.every(({ isOver }) => isOver), thread.drained]).toEqual([3, true, []]);
  });
});
