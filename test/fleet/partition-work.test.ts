/** The work on one partition: working, suspended, draining, dropped. */
import { describe, expect, it } from 'vitest';
import { CheckpointTooLarge, PartitionDraining, PartitionLost } from '../../src/fleet/partition.ts';
import { partition } from './records.ts';
import { aborted, begun, lost, P0, Thread } from './working-thread.ts';

describe('the work on a partition', () => {
  it("begins with the partition's name, fence and latest checkpoint", async () => {
    const { last } = await begun(undefined, 'so far');
    expect(last.partition).toMatchObject({ id: partition(0), fence: 1, from: 'so far' });
    expect([last.partition.signal.aborted, last.partition.lost.aborted]).toEqual([false, false]);
    expect(() => last.partition.assertOwned()).not.toThrow();
  });

  it('may return; the partition is kept, and given away when asked for', async () => {
    const thread = await begun(async () => {});
    await thread.pass(600_000);
    expect([thread.calls.length, thread.events, thread.drained]).toEqual([1, ['finished'], []]);
    thread.workers.drain(P0);
    await thread.pass(0);
    expect(thread.drained).toEqual([P0]);
  });

  it('that returns is called again after 1, 2, … 60 s, if chosen', async () => {
    const thread = await begun(async () => {}, undefined, 'again');
    thread.extend(Number.MAX_SAFE_INTEGER);
    await thread.pass(200_000);
    const at = thread.calls.map((call) => call.at / 1_000);
    expect(at.slice(0, 8)).toEqual([0, 1, 3, 7, 15, 31, 63, 123]);
    expect(thread.reported[0]).toMatchObject({ event: 'finished', partition: '0', fence: 1, whenFinished: 'again' });
    expect(thread.drained).toEqual([]);
  });

  it('that runs for longer than the pause is called again after a second', async () => {
    const thread = new Thread('again');
    thread.work = () => thread.scheduler.wait(10_000);
    thread.workers.begin(P0, undefined);
    await thread.pass(0);
    await thread.pass(34_000);
    expect(thread.calls.map((call) => call.at / 1_000)).toEqual([0, 11, 22, 33]);
  });

  it('that returns is released, if the user chose that', async () => {
    const thread = await begun(async () => {}, undefined, 'release');
    await thread.pass(60_000);
    expect([thread.calls.length, thread.events, thread.drained, thread.released]).toEqual([
      1,
      ['finished'],
      [P0],
      [P0],
    ]);
  });

  it.each(['keep', 'release', 'again'] as const)(
    'that returns because it is drained has not finished: %s',
    async (how) => {
      const thread = await begun(undefined, undefined, how);
      thread.workers.drain(P0);
      await thread.pass(60_000);
      expect([thread.calls.length, thread.events, thread.drained, thread.released]).toEqual([1, [], [P0], []]);
    },
  );

  it('that runs 10 s after the loss is reported once', async () => {
    const hanging = Promise.withResolvers<void>();
    const thread = await begun(() => hanging.promise);
    thread.workers.drop(P0, 'taken');
    await thread.pass(9_999);
    expect(thread.events).toEqual([]);
    await thread.pass(100_000);
    expect(thread.reported).toEqual([
      { event: 'still-running', partition: '0', fence: 1, reason: 'taken', span: 10_000 },
    ]);
    hanging.resolve();
    await thread.pass(0);
    expect(thread.events).toEqual(['still-running']);
  });

  it('that returns soon after the loss of the partition is not reported', async () => {
    const thread = await begun();
    thread.workers.drop(P0, 'taken');
    await thread.pass(0);
    await thread.pass(100_000);
    expect(thread.events).toEqual([]);
  });

  it('is called again after an error: after 1, 2, 4, … 60 s', async () => {
    const thread = await begun(async () => {
      throw new Error('broken');
    });
    thread.extend(Number.MAX_SAFE_INTEGER);
    await thread.pass(400_000);
    const pauses = thread.reported.flatMap((each) => (each.event === 'work-failed' ? [each.pause] : []));
    expect(pauses.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
    const at = thread.calls.map((call) => call.at);
    expect(at.slice(1).map((each, n) => each - (at[n] ?? 0))).toEqual(pauses.slice(0, at.length - 1));
    expect(thread.reported[0]).toMatchObject({
      event: 'work-failed',
      partition: '0',
      fence: 1,
      cause: new Error('broken'),
    });
  });

  it('is called again also after a synchronous error', async () => {
    const thread = await begun(() => {
      throw new Error('at once');
    });
    await thread.pass(1_500);
    expect([thread.calls.length, thread.events]).toEqual([2, ['work-failed', 'work-failed']]);
  });

  it('goes on from its newest checkpoint after an error', async () => {
    const thread = await begun(async (given) => {
      await given.checkpoint(`after ${given.from}`);
      throw new Error('broken');
    }, 'none');
    await thread.pass(1_000);
    expect(thread.last.partition.from).toBe('after none');
  });
});

describe('a checkpoint', () => {
  it('that is answered after a later one is not used to continue', async () => {
    const answers = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()] as const;
    const thread = new Thread();
    thread.stores = () => (answers[thread.stored.length - 1] as (typeof answers)[0]).promise;
    thread.work = async (given) => {
      if (given.from !== undefined) return aborted(given.signal);
      await Promise.all(['first', 'second'].map((text) => given.checkpoint(text)));
      throw new Error('broken');
    };
    thread.workers.begin(P0, undefined);
    await thread.pass(0);
    answers[1].resolve(true);
    await thread.pass(0);
    answers[0].resolve(true);
    await thread.pass(0);
    await thread.pass(1_000);
    expect([thread.calls.length, thread.last.partition.from]).toEqual([2, 'second']);
  });

  it('that is refused loses the partition, and its work is not called again', async () => {
    let failed: unknown;
    const thread = new Thread();
    thread.stores = async () => false;
    thread.work = async (given) => {
      failed = await given.checkpoint('late').catch((cause: unknown) => cause);
      expect(given.signal.aborted && given.lost.aborted).toBe(true);
      expect(() => given.assertOwned()).toThrow(PartitionLost);
      throw failed;
    };
    thread.workers.begin(P0, undefined);
    await thread.pass(0);
    await thread.pass(600_000);
    expect(failed).toEqual(lost('taken'));
    expect([thread.calls.length, thread.events, thread.drained]).toEqual([1, [], []]);
  });

  it('of 4,096 bytes is stored; a longer one is refused before it is sent', async () => {
    const thread = await begun();
    await thread.last.partition.checkpoint('é'.repeat(2_048));
    await expect(thread.last.partition.checkpoint('é'.repeat(2_048).concat('!'))).rejects.toThrow(CheckpointTooLarge);
    expect(thread.stored).toHaveLength(1);
    expect(() => thread.last.partition.assertOwned(), 'the partition is still its own').not.toThrow();
  });

  it("that fails is the worker's to retry, since it may be stored", async () => {
    const thread = await begun();
    thread.stores = async () => {
      throw new Error('no answer');
    };
    await expect(thread.last.partition.checkpoint('again')).rejects.toThrow('no answer');
    expect(thread.last.partition.signal.aborted).toBe(false);
  });

  it('is sent to the table also past the deadline, which decides by the fence', async () => {
    const thread = await begun(({ signal }) => aborted(signal).then(() => new Promise(() => {})));
    await thread.passDeadline();
    await thread.last.partition.checkpoint('still mine');
    expect(thread.stored).toEqual(['still mine']);
  });
});

describe('a partition past its deadline', () => {
  it('is not to be worked on: assertOwned throws before any check', async () => {
    const thread = await begun();
    await thread.pass(1_000_000 - 1);
    expect(() => thread.last.partition.assertOwned()).not.toThrow();
    await thread.pass(1);
    expect(() => thread.last.partition.assertOwned()).toThrow(PartitionLost);
    expect(thread.last.partition.signal.reason).toEqual(lost('deadline'));
  });

  it('has aborted signals, and resumes later with its checkpoint', async () => {
    const thread = await begun();
    await thread.last.partition.checkpoint('here');
    await thread.passDeadline();
    expect([thread.last.partition.signal.reason, thread.last.partition.lost.reason]).toEqual([
      lost('deadline'),
      lost('deadline'),
    ]);
    await thread.pass(60_000);
    expect([thread.calls.length, thread.drained, thread.events]).toEqual([1, [], []]);
    thread.extend(2_000_000);
    await thread.pass(0);
    expect([thread.calls.length, thread.last.partition.from, thread.last.partition.signal.aborted]).toEqual([
      2,
      'here',
      false,
    ]);
  });

  it('does not resume at a later deadline that has passed, too', async () => {
    const thread = await begun();
    await thread.passDeadline();
    await thread.pass(10_000);
    thread.extend(1_005_000);
    await thread.pass(0);
    expect(thread.calls).toHaveLength(1);
    thread.extend(1_020_000);
    await thread.pass(0);
    expect(thread.calls).toHaveLength(2);
  });

  it('does not resume before the last call has ended', async () => {
    const hanging = Promise.withResolvers<void>();
    const thread = await begun(() => hanging.promise);
    await thread.passDeadline();
    thread.extend(2_000_000);
    await thread.pass(60_000);
    expect(thread.calls).toHaveLength(1);
    expect(() => thread.last.partition.assertOwned(), 'a stopped call stays stopped').toThrow(PartitionLost);
    hanging.resolve();
    await thread.pass(0);
    expect(thread.calls).toHaveLength(2);
  });

  it('begins late if its work was assigned past the deadline', async () => {
    const thread = new Thread();
    thread.extend(0);
    thread.workers.begin(P0, undefined);
    await thread.pass(60_000);
    expect(thread.calls).toEqual([]);
    thread.extend(1_000_000);
    await thread.pass(0);
    expect(thread.calls).toHaveLength(1);
  });

  it('is given away at once when asked for, and never resumed', async () => {
    const thread = await begun();
    await thread.passDeadline();
    thread.workers.drain(P0);
    thread.extend(2_000_000);
    await thread.pass(60_000);
    expect([thread.calls.length, thread.drained]).toEqual([1, [P0]]);
  });

  it('that is dropped is never resumed', async () => {
    const thread = await begun();
    await thread.passDeadline();
    thread.workers.drop(P0, 'taken');
    thread.extend(2_000_000);
    await thread.pass(60_000);
    expect([thread.calls.length, thread.drained]).toEqual([1, []]);
  });
});

describe('a draining partition', () => {
  it('may be worked on and stored until its work ends; it is given once', async () => {
    const ending = Promise.withResolvers<void>();
    const thread = await begun(() => ending.promise);
    thread.workers.drain(P0);
    thread.workers.drain(P0);
    const { signal, lost: gone } = thread.last.partition;
    expect([signal.reason instanceof PartitionDraining, gone.aborted]).toEqual([true, false]);
    expect(() => thread.last.partition.assertOwned()).not.toThrow();
    await thread.last.partition.checkpoint('the last');
    await thread.pass(60_000);
    expect(thread.drained).toEqual([]);
    ending.resolve();
    await thread.pass(0);
    expect([thread.drained, thread.events, thread.calls.length]).toEqual([[P0], [], 1]);
  });

  it('without running work is given away at once', async () => {
    const unbegun = new Thread();
    unbegun.workers.begin(P0, undefined);
    unbegun.workers.drain(P0);
    await unbegun.pass(0);
    expect([unbegun.calls, unbegun.drained]).toEqual([[], [P0]]);
    const pausing = await begun(async () => {
      throw new Error('broken');
    });
    pausing.workers.drain(P0);
    await pausing.pass(0);
    expect([pausing.calls.length, pausing.drained]).toEqual([1, [P0]]);
  });

  it("is given away also if its work throws the signal's reason", async () => {
    const thread = await begun(async ({ signal }) => {
      await aborted(signal);
      throw signal.reason;
    });
    thread.workers.drain(P0);
    await thread.pass(0);
    expect([thread.drained, thread.events]).toEqual([[P0], []]);
  });

  it('reports an unexpected error of its work, and is given away too', async () => {
    const thread = await begun(async ({ signal }) => {
      await aborted(signal);
      throw new Error('the disk is full');
    });
    thread.workers.drain(P0);
    await thread.pass(0);
    expect([thread.drained, thread.events]).toEqual([[P0], ['work-failed']]);
  });

  it('that is dropped meanwhile is not given away, as another node has it', async () => {
    const thread = await begun(({ lost: gone }) => aborted(gone));
    thread.workers.drain(P0);
    thread.workers.drop(P0, 'evicted');
    await thread.pass(0);
    expect([thread.last.isOver, thread.last.partition.lost.reason, thread.drained]).toEqual([
      true,
      lost('evicted'),
      [],
    ]);
  });
});
