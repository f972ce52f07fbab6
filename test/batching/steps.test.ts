import { beforeEach, expect, it, vi } from 'vitest';
import { electLeader } from '../../src/batching/elect-leader.ts';
import { finishBatch } from '../../src/batching/finish-batch.ts';
import { group } from '../../src/batching/group.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import { batchIdOf, type Target, type TaskId } from '../../src/batching/ids.ts';
import { register, registerAll } from '../../src/batching/register.ts';
import { sweep } from '../../src/batching/sweep.ts';
import { CLOCK_SKEW, LEASE } from '../../src/batching/timings.ts';
import { OutOfTime } from '../../src/batching/turns.ts';
import { handlerTimeout } from '../../src/config/resolved.ts';
import { describeEach } from '../contract/describe-each.ts';
import { storeKinds } from '../contract/stores.ts';
import { aConfig, aStart, aTask, batchId, candidate, id, NOW, target, token } from '../factories/factories.ts';
import { PLENTY, type StepKit, stepKit } from './step-kit.ts';

/** The engines are shared by the tests of a file: each test works on a Target of its own. */
let made = 0;
let depot: string;
let where: Target;
let kit: StepKit;
const config = aConfig({ batch: { maxSize: 4, maxBytes: 900_000, maxWait: 5_000 } });

const kinds = storeKinds.filter(({ name }) => name !== 'DynamoDB Local');
const suite = (subject: string, tests: (fresh: () => StepKit) => void): void =>
  describeEach(subject, kinds, (stores) => {
    const fresh = (): StepKit => stepKit(stores(), config);
    beforeEach(() => {
      made += 1;
      depot = `S${made}`;
      where = target(`ship/depot=${depot}`);
      kit = fresh();
    });
    tests(fresh);
  });

const message = (n: number, extra: object = {}) => ({
  messageId: `${depot}-message-${n}`,
  body: JSON.stringify({ operation: 'ship', id: `${depot}-${n}`, payload: { depot, n }, ...extra }),
});
const ids = (count: number): TaskId[] => Array.from({ length: count }, (_, n) => id(`${depot}-${n}`));
const registered = async (count: number): Promise<TaskId[]> => {
  await register(
    kit,
    Array.from({ length: count }, (_, n) => message(n)),
  );
  return ids(count);
};
/** Registers tasks and lets their leader take the lock. */
const led = async (count: number): Promise<TaskId[]> => {
  const tasks = await registered(count);
  await electLeader(kit, { target: where });
  return tasks;
};
const guard = (fence = 1, hint?: true) => ({
  target: where,
  fence,
  token: token(`token-${fence}`),
  ...(hint ? { hint } : {}),
});
const lock = () => kit.locks.read(where);

suite('register', () => {
  it('R1–R3: stores tasks with their waiting rows and asks once per Target for a leader', async () => {
    const tasks = await registered(3);
    expect((await kit.waiting.first(where, 9)).map((row) => row.candidate)).toEqual(
      tasks.map((each) => candidate(each)),
    );
    expect(kit.sent.elect).toEqual([{ target: where }]);
    expect(kit.events).toContainEqual({ event: 'registered', tasks: 3, duplicates: 0 });
  });

  it('R1: is harmless again, also after a run that stopped in the middle', async () => {
    await kit.tasks.insert([
      {
        ...aTask({
          id: id(`${depot}-0`),
          target: where,
          payload: JSON.stringify({ depot, n: 0 }),
        }),
      },
    ]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
    await register(kit, [message(0), message(0)]);
    await register(kit, [message(0)]);
    expect(await kit.waiting.first(where, 9)).toHaveLength(1);
    expect(kit.sent.rejected).toEqual([]);
  });

  it('R1: refuses a taken id in the same delivery too, whichever of the two was stored', async () => {
    const other = message(0, { payload: { depot, n: 'other' } });
    await register(kit, [message(0), other]);
    await register(kit, [other, message(0)]);
    expect(kit.sent.rejected.map(({ body }) => body)).toEqual([other.body, other.body]);
    expect(await kit.waiting.first(where, 9)).toHaveLength(1);
  });

  it('R1: leaves alone what was batched already', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    await kit.waiting.remove(
      where,
      (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
    );
    await register(kit, [message(0)]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it('R3: asks for nobody where somebody leads', async () => {
    await led(1);
    kit.sent.elect.length = 0;
    await register(kit, [message(1)]);
    expect([kit.sent.elect, kit.sent.group.length]).toEqual([[], 1]);
  });

  it('R4: wakes a leader that sleeps for long once a batch is full, and only then', async () => {
    await led(1);
    kit.sent.group.length = 0;
    kit.chance = 0;
    await register(kit, [message(1)]);
    expect(kit.sent.group).toEqual([]);
    await register(kit, [message(2), message(3)]);
    expect(kit.sent.group).toEqual([{ ...guard(1, true), delay: 0 }]);
  });

  it('R4: does not look when the leader wakes soon anyway', async () => {
    await led(1);
    kit.sent.group.length = 0;
    kit.chance = 0;
    kit.now = NOW + 4_500;
    await register(kit, [message(1), message(2), message(3)]);
    expect(kit.sent.group).toEqual([]);
  });

  it('gives back only the message that cannot be stored', async () => {
    const failing: string[] = [];
    const insert: StepKit['tasks']['insert'] = async (tasks) => {
      if (tasks.some((task) => task.id === `${depot}-1`)) throw new Error('the table does not like it');
      return kit.tasks.insert(tasks);
    };
    const failed = await registerAll(
      { ...kit, tasks: { ...kit.tasks, insert } },
      [message(0), message(1), message(2)],
      ({ messageId }) => failing.push(messageId),
    );
    expect(failed.map(({ messageId }) => messageId)).toEqual([`${depot}-message-1`]);
    expect(failing).toEqual([`${depot}-message-1`]);
    expect(await kit.waiting.first(where, 9)).toHaveLength(2);
  });
});

suite('elect', (fresh) => {
  it('E1: costs a loser one read and nothing else', async () => {
    await led(1);
    const reads: string[] = [];
    const loser = fresh();
    const spied = <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get: (object, name) => {
          reads.push(String(name));
          return Reflect.get(object, name);
        },
      });
    await electLeader(
      { ...loser, locks: spied(loser.locks), waiting: spied(loser.waiting), queues: spied(loser.queues) },
      { target: where },
    );
    expect(reads).toEqual(['read']);
  });

  it('E2: ends where nobody waits', async () => {
    await electLeader(kit, { target: where });
    expect([await lock(), kit.sent.group]).toEqual([{ fence: 0, round: 0, lockedUntil: 0 }, []]);
  });

  it('L1–L3: sends the guard before it takes the lock, delayed until the batch is due', async () => {
    await registered(1);
    const order: string[] = [];
    const noted =
      <Args extends unknown[], Answer>(name: string, call: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> => {
        order.push(name);
        return call(...args);
      };
    const queues = { ...kit.queues, group: noted('guard', kit.queues.group) };
    const locks = { ...kit.locks, acquire: noted('acquire', kit.locks.acquire) };
    await electLeader({ ...kit, queues, locks }, { target: where });
    expect(order).toEqual(['guard', 'acquire']);
    expect(kit.sent.group).toEqual([{ ...guard(), delay: 5 }]);
    expect(await lock()).toMatchObject({ fence: 1, holder: 'token-1', lockedUntil: NOW + 5_000 + LEASE });
  });

  it('L3: looks once more after taking the lock for a wait, and wakes itself if a batch became full', async () => {
    await registered(1);
    const acquire: StepKit['locks']['acquire'] = async (...args) => {
      // A register that read the lock before it was taken: it asked for a leader, who will find the lock held.
      await kit.waiting.put(
        [1, 2, 3].map((n) => ({ ...aTask({ id: id(`${depot}-late-${n}`), target: where }), run: 1 })),
      );
      return kit.locks.acquire(...args);
    };
    await electLeader({ ...kit, locks: { ...kit.locks, acquire } }, { target: where });
    expect(kit.sent.group).toEqual([
      { ...guard(), delay: 5 },
      { ...guard(1, true), delay: 0 },
    ]);
  });

  it('L1: waits fifteen minutes at the most; the rest is another hop', async () => {
    const patient = stepKit(kit as never, aConfig({ batch: { maxSize: 4, maxBytes: 900_000, maxWait: 3_600_000 } }));
    await registered(1);
    await electLeader(patient, { target: where });
    expect(patient.sent.group).toMatchObject([{ delay: 900 }]);
    expect(await lock()).toMatchObject({ lockedUntil: NOW + 900_000 + LEASE });
    patient.now = NOW + 900_000;
    await group(patient, guard(), PLENTY);
    expect(patient.sent.group.at(-1)).toMatchObject({ fence: 2, delay: 900 });
    patient.now = NOW + 3_600_000;
    await group(patient, guard(2), PLENTY);
    expect(patient.sent.batch).toHaveLength(1);
  });

  it('takes over from a leader whose lease has ended, and finishes its open batch at once', async () => {
    const [task] = (await led(1)) as [TaskId];
    const batch = batchIdOf(where, 1, 1);
    await kit.locks.openBatch(where, guard(), { batch, round: 1, until: NOW + LEASE });
    kit.now = NOW + 5_000 + LEASE + 1;
    await electLeader(kit, { target: where });
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 0 });
    await group(kit, guard(2), PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', candidates: [candidate(task)] });
    expect(kit.sent.batch).toEqual([{ batchId: batch, delay: 0 }]);
  });
});

suite('group', () => {
  it('G5: seals batch after batch in one invocation, then lets the lock go', async () => {
    const tasks = await led(10);
    await group(kit, guard(), PLENTY);
    expect(kit.sent.batch.map(({ batchId: each }) => each)).toEqual([batchIdOf(where, 1, 1), batchIdOf(where, 1, 2)]);
    expect(await kit.waiting.first(where, 99)).toHaveLength(2);
    kit.now = NOW + 5_000;
    await group(kit, guard(2), PLENTY);
    expect(kit.events.filter(({ event }) => event === 'sealed')).toMatchObject([
      { because: 'full', size: 4 },
      { because: 'full', size: 4 },
      { because: 'waited', size: 2, waited: 5_000 },
    ]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
    const { holder, openBatch } = await lock();
    expect([holder, openBatch]).toEqual([undefined, undefined]);
    for (const task of tasks) expect((await kit.tasks.get(task))?.state.status).toBe('batched');
  });

  it('G4: sleeps through less than a second, and hands longer waits to the next guard', async () => {
    await led(1);
    kit.now = NOW + 4_500;
    await group(kit, guard(), PLENTY);
    expect(kit.now).toBe(NOW + 5_000);
    expect(kit.sent.batch).toHaveLength(1);
    await register(kit, [message(7)]);
    await electLeader(kit, { target: where });
    const held = await lock();
    await group(kit, { target: where, fence: held.fence, token: held.holder as never }, PLENTY);
    expect(await lock()).toMatchObject({ fence: held.fence + 1, lockedUntil: kit.now + 5_000 + LEASE });
  });

  it('G4: hands over when its own time is short, though a batch is due', async () => {
    await led(4);
    await group(kit, guard(), { ...PLENTY, timeLeft: () => 5_000 });
    expect(kit.sent.batch).toEqual([]);
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 0 });
    await group(kit, guard(2), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('G1, G4, G6: a hint seals what is full, and otherwise does nothing', async () => {
    await led(2);
    const before = await lock();
    await group(kit, guard(1, true), PLENTY);
    await group(kit, { ...guard(2, true) }, PLENTY);
    expect(await lock()).toEqual(before);
    expect(kit.sent.batch).toEqual([]);
    await register(kit, [message(2), message(3)]);
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('G1: a hint leaves an open batch to the guard at work, and finishes it where its own run may have stopped', async () => {
    await led(4);
    const form = async (): Promise<never> => {
      throw new Error('throttled');
    };
    const throttled = { ...kit, batches: { ...kit.batches, form } };
    await expect(group(throttled, guard(1, true), PLENTY)).rejects.toThrow('throttled');
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.batch).toEqual([]);
    await group(kit, guard(1, true), { ...PLENTY, deliveries: 2 });
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('G5: knows the batch that it opened itself when the answer was lost and the request repeated', async () => {
    await led(4);
    const openBatch: StepKit['locks']['openBatch'] = async (...args) => {
      await kit.locks.openBatch(...args);
      return kit.locks.openBatch(...args);
    };
    await group({ ...kit, locks: { ...kit.locks, openBatch } }, guard(1, true), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('F1: a row that an earlier task of the same id left behind does not double it', async () => {
    const [task] = await led(3);
    await kit.waiting.put([{ ...aTask({ id: task as TaskId, target: where, createdAt: NOW - 9_000_000 }), run: 1 }]);
    await group(kit, guard(), PLENTY);
    expect((await kit.batches.get(batchIdOf(where, 1, 1)))?.candidates).toHaveLength(3);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it('G6: a guard whose time is over ends', async () => {
    await led(4);
    await group(kit, guard(1), PLENTY);
    const before = await lock();
    for (const late of [guard(1), { ...guard(1), token: token('other') }]) await group(kit, late, PLENTY);
    expect(await lock()).toEqual(before);
  });

  it('G7: a guard that comes while the fence before it is held waits for half a lease', async () => {
    await led(1);
    await group(kit, guard(2), PLENTY);
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 22 });
  });

  it('G8: a guard whose turn it is takes the lock, or uses its fence up where nobody waits', async () => {
    await registered(4);
    await group(kit, guard(1), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
    expect((await lock()).fence).toBe(1);
    await group(kit, guard(2), PLENTY);
    expect(await lock()).toMatchObject({ fence: 2 });
    expect((await lock()).holder).toBeUndefined();
  });

  it('G8: takes over where fences were lost, as in a restored table', async () => {
    await registered(4);
    await group(kit, guard(41), PLENTY);
    expect(kit.sent.batch).toEqual([{ batchId: batchIdOf(where, 41, 1), delay: 0 }]);
  });

  it('G9: leads again what came while it let go', async () => {
    await led(4);
    const release: StepKit['locks']['release'] = async (...args) => {
      const done = await kit.locks.release(...args);
      await register(kit, [message(9)]);
      return done;
    };
    await group({ ...kit, locks: { ...kit.locks, release } }, guard(), PLENTY);
    expect(await lock()).toMatchObject({ fence: 2, lockedUntil: NOW + 5_000 + LEASE });
    expect(kit.sent.group.at(-1)).toMatchObject({ fence: 2, delay: 5 });
  });

  it('gives its message back when its time runs out among rivals', async () => {
    await led(1);
    kit.now = NOW + 5_000;
    const openBatch = async (): Promise<boolean> => false;
    let left = 20_000;
    const delivery = { ...PLENTY, timeLeft: () => (left -= 1_000) };
    const handOver = openBatch;
    await expect(group({ ...kit, locks: { ...kit.locks, openBatch, handOver } }, guard(), delivery)).rejects.toThrow(
      OutOfTime,
    );
  });
});

suite('finish', () => {
  it('F1–F6: ends the same however often, and by whomever, it is done', async () => {
    const tasks = await led(3);
    const batch = batchIdOf(where, 1, 1);
    await kit.locks.openBatch(where, guard(), { batch, round: 1, until: NOW + LEASE });
    for (const _ of ['by the leader', 'by another', 'again']) {
      await finishBatch(kit, where, batch);
      expect(await kit.batches.get(batch)).toMatchObject({
        status: 'sealed',
        candidates: tasks.map((each) => candidate(each)),
        dropped: [],
      });
      expect(await kit.waiting.first(where, 9)).toEqual([]);
      expect((await lock()).openBatch).toBeUndefined();
    }
    expect(kit.events.filter(({ event }) => event === 'sealed')).toHaveLength(1);
  });

  it('F2, F3: drops candidates that another batch has, and is empty when none is left', async () => {
    const [first, second] = (await led(2)) as [TaskId, TaskId];
    await kit.tasks.claim([candidate(first)], batchId('rival#1#1'));
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', dropped: [candidate(first)] });
    expect(kit.sent.batch).toHaveLength(1);
    await register(kit, [message(5)]);
    await kit.tasks.claim([candidate(id(`${depot}-5`))], batchId('rival#1#2'));
    await finishBatch(kit, where, batchIdOf(where, 1, 2));
    expect(await kit.batches.get(batchIdOf(where, 1, 2))).toMatchObject({
      status: 'succeeded',
      counts: { succeeded: 0, failed: 0 },
    });
    expect(kit.sent.batch).toHaveLength(1);
    expect((await kit.tasks.get(second))?.state).toMatchObject({ batchId: batch });
  });

  it('F1: forms an empty batch rather than forget that one was open', async () => {
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', candidates: [] });
  });
});

suite('handle a batch', () => {
  const sealed = async (count: number): Promise<ReturnType<typeof batchIdOf>> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };

  it('H2–H6: calls once and gives every task its result', async () => {
    const batch = await sealed(3);
    await handleBatch(kit, { batchId: batch }, PLENTY);
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls.map(({ items, attempt }) => [items.length, attempt])).toEqual([[3, 1]]);
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'succeeded',
      counts: { succeeded: 3, failed: 0 },
      finishedAt: NOW,
    });
  });

  it('H1: leaves a running attempt alone and looks again when it must be over', async () => {
    const batch = await sealed(1);
    const runUntil = NOW + handlerTimeout(config) + 2 * CLOCK_SKEW;
    await kit.batches.start(batch, aStart(1, NOW, runUntil));
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toEqual([]);
    expect(kit.sent.batch).toEqual([{ batchId: batch, delay: Math.floor((runUntil - NOW) / 1_000) + 1 }]);
    kit.now = runUntil + 1;
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 2 }]);
  });

  it('H5: postpones what is still open, and asks at once only where that can help', async () => {
    const batch = await sealed(2);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true }];
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toHaveLength(2);
    expect(kit.sent.batch).toEqual([{ batchId: batch, delay: 1 }]);
    kit.now = NOW + 2_000;
    kit.answers = [{ kind: 'unavailable', reason: 'answered 429', retryAfter: 30_000, mayRetryAtOnce: false }];
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toHaveLength(3);
    expect(kit.sent.batch.at(-1)).toEqual({ batchId: batch, delay: 32 });
  });

  it('H6: fails what is open after the last attempt, with the last reason', async () => {
    const batch = await sealed(1);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await handleBatch(kit, { batchId: batch }, PLENTY);
      kit.now += 100_000;
    }
    const state = (await kit.tasks.get(id(`${depot}-0`)))?.state;
    expect(state).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { code: 'attempts-exhausted', message: 'gave up after 3 attempts: answered 503' },
    });
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'failed', counts: { succeeded: 0, failed: 1 } });
  });

  it('H2: fails without another call what crashed in every attempt', async () => {
    const batch = await sealed(1);
    for (const attempt of [1, 2, 3])
      await kit.batches.start(batch, aStart(attempt, NOW + attempt * 10, NOW + attempt * 10 + 5));
    kit.now = NOW + 1_000;
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toEqual([]);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('did not report') },
    });
  });

  it('H5, H6: an attempt that was overtaken changes nothing but results that were missing', async () => {
    const batch = await sealed(2);
    const overtaken: StepKit['downstreamOf'] = () => ({
      call: async () => {
        // While it was paused, a second attempt ran and finished one of the two.
        await kit.batches.start(batch, aStart(2, NOW + 1_000_000, NOW + 2_000_000));
        await kit.tasks.finish(
          [
            {
              id: id(`${depot}-0`),
              outcome: { status: 'failed', error: { code: 'x', message: 'y', retriable: false } },
            },
          ],
          {
            id: batch,
            target: where,
            attempts: 2,
            at: NOW,
            keep: 1_000,
          },
        );
        return { kind: 'all-succeeded' };
      },
    });
    await handleBatch({ ...kit, downstreamOf: overtaken }, { batchId: batch }, PLENTY);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ status: 'failed', attempts: 2 });
    expect((await kit.tasks.get(id(`${depot}-1`)))?.state).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect((await kit.batches.get(batch))?.status).toBe('in-progress');
    kit.now = NOW + 2_000_001;
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
    });
  });

  it('H3: fails a task whose payload is gone, and the others get their call', async () => {
    const large = JSON.stringify({ depot, n: 1, text: 'x'.repeat(2_000) });
    await kit.tasks.insert([aTask({ id: id(`${depot}-1`), target: where, payload: large })]);
    const [stored] = [await kit.tasks.get(id(`${depot}-1`))];
    if (stored) await kit.waiting.put([stored]);
    const batch = await sealed(1);
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls.map(({ items }) => items.map((item) => item.id))).toEqual([[`${depot}-0`]]);
    expect((await kit.tasks.get(id(`${depot}-1`)))?.state).toMatchObject({
      status: 'failed',
      error: { code: 'payload-lost' },
    });
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
    });
  });

  it('H3: an attempt that cannot read its tasks, or knows no such operation, is not started', async () => {
    const batch = await sealed(1);
    const members = async (): Promise<never> => {
      throw new Error('throttled');
    };
    const throttled = { ...kit, tasks: { ...kit.tasks, members } };
    const removed = { ...kit, config: { ...config, operations: {} } };
    for (const _ of [1, 2, 3, 4]) {
      await expect(handleBatch(throttled, { batchId: batch }, PLENTY)).rejects.toThrow('throttled');
      await expect(handleBatch(removed, { batchId: batch }, PLENTY)).rejects.toThrow('not in the configuration');
    }
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 1 }]);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('H2: knows the attempt that it started itself when the answer was lost and the request repeated', async () => {
    const batch = await sealed(1);
    const start: StepKit['batches']['start'] = async (...args) => {
      await kit.batches.start(...args);
      return kit.batches.start(...args);
    };
    await handleBatch({ ...kit, batches: { ...kit.batches, start } }, { batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 1 }]);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
  });

  it('H1: a message that is ahead of its batch comes back', async () => {
    const early = batchIdOf(where, 9, 9);
    const candidates = [candidate(`${depot}-0`)];
    await kit.batches.form({ id: early, target: where, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW });
    await expect(handleBatch(kit, { batchId: early }, PLENTY)).rejects.toThrow('not sealed yet');
  });

  it('H5: does not wait so long, whatever the downstream asks for, that first results expire', async () => {
    const batch = await sealed(1);
    const short = aConfig({ keepTasks: 3_600_000 });
    kit.answers = [{ kind: 'unavailable', reason: 'answered 429', retryAfter: 86_400_000, mayRetryAtOnce: false }];
    await handleBatch({ ...kit, config: short }, { batchId: batch }, PLENTY);
    const { runUntil = 0 } = (await kit.batches.get(batch)) ?? {};
    expect(runUntil - NOW).toBeGreaterThan(60_000);
    expect(runUntil - NOW).toBeLessThanOrEqual(3_600_000 / 3);
  });

  it('says when a message names a batch that is not stored, and is done with it', async () => {
    await handleBatch(kit, { batchId: batchId('gone#1#1') }, PLENTY);
    expect(kit.events).toEqual([{ event: 'unknown-batch', batchId: 'gone#1#1' }]);
  });
});

suite('sweep', () => {
  const letter = (body: string, revivals = 0) => ({
    messageId: `letter-${body.length}-${revivals}`,
    body,
    revivals,
    receipt: `receipt-${body}-${revivals}`,
  });
  const invocation = { timeLeft: () => 50_000 };
  /** Each look at the clock takes 100 ms. */
  const timeRunning = (left: number) => {
    let rest = left;
    return () => {
      rest -= 100;
      return rest;
    };
  };

  it('sends dead letters again, later and later, and then deletes them', async () => {
    const body = `{"target":"${where}"}`;
    kit.letters.elect = [0, 1, 5, 9, 20].map((revivals) => letter(body, revivals));
    await sweep(kit, invocation);
    expect(kit.sent.revived.map(({ delay }) => delay)).toEqual([1, 2, 32, 512, 900]);
    expect(kit.letters.elect).toEqual([]);
  });

  it('names a register message after itself, so that it stays one task', async () => {
    kit.letters.register = [letter('{"operation":"ship","payload":{"depot":"MUC"}}')];
    await sweep(kit, invocation);
    expect(kit.sent.revived[0]?.letter.body).toBe(`{"id":"letter-46-0","operation":"ship","payload":{"depot":"MUC"}}`);
  });

  it('puts what none of the λs wrote into the rejected queue, with the reason', async () => {
    kit.letters.group = [letter('junk')];
    await sweep(kit, invocation);
    expect(kit.sent.revived).toEqual([]);
    expect(kit.sent.rejected).toMatchObject([
      { body: 'junk', problems: [{ reason: expect.stringContaining('group queue') }] },
    ]);
    expect(kit.letters.group).toEqual([]);
  });

  it('leaves a letter that cannot be sent, and keeps no other one waiting for it', async () => {
    kit.letters.elect = [letter('{"target":"ship/depot=broken"}'), letter(`{"target":"${where}"}`)];
    kit.letters.batch = [letter('{"b":"x#1#1"}')];
    const revive: StepKit['deadLetters']['revive'] = async (queue, sent, delay) => {
      if (sent.body.includes('broken')) throw new Error('SQS does not like it');
      await kit.deadLetters.revive(queue, sent, delay);
    };
    await sweep({ ...kit, deadLetters: { ...kit.deadLetters, revive } }, { timeLeft: timeRunning(50_000) });
    expect(kit.sent.revived.map(({ letter: { body } }) => body)).toEqual([`{"target":"${where}"}`, '{"b":"x#1#1"}']);
    expect(kit.letters.elect).toHaveLength(1);
    expect(kit.events.find(({ event }) => event === 'not-revived')).toMatchObject({ queue: 'elect' });
  });

  it('goes on with the other queues and the patrol when one cannot be read, and fails in the end', async () => {
    kit.letters.register = [letter('{"operation":"ship","payload":{}}')];
    const receive: StepKit['deadLetters']['receive'] = async (queue) => {
      if (queue === 'elect') throw new Error('AccessDenied');
      return kit.deadLetters.receive(queue);
    };
    const write = vi.fn();
    const broken = {
      ...kit,
      deadLetters: { ...kit.deadLetters, receive },
      patrolMarks: { ...kit.patrolMarks, write },
    };
    await expect(sweep(broken, invocation)).rejects.toThrow('AccessDenied');
    expect(kit.sent.revived).toHaveLength(1);
    expect(write).toHaveBeenCalled();
  });

  it('gives every queue its share of the time, however many letters one has', async () => {
    const receive: StepKit['deadLetters']['receive'] = async (queue) =>
      queue === 'elect' ? [letter(`{"target":"${where}"}`)] : kit.letters[queue];
    kit.letters.register = [letter('{"operation":"ship","payload":{}}')];
    await sweep({ ...kit, deadLetters: { ...kit.deadLetters, receive } }, { timeLeft: timeRunning(50_000) });
    expect(kit.sent.revived.at(-1)?.queue).toBe('register');
  });

  it('refuses a register message that would not fit into a message any more', async () => {
    kit.letters.register = [letter(`{"operation":"ship",${' '.repeat(1_000_000)}"payload":{}}`)];
    await sweep(kit, invocation);
    expect(kit.sent.rejected).toMatchObject([
      { problems: [{ reason: expect.stringContaining('more than 1000000 bytes') }] },
    ]);
    expect(kit.letters.register).toEqual([]);
  });

  it('finds, on its patrol, tasks that nobody leads, after a while and not before', async () => {
    await registered(1);
    await kit.locks.burn(where, 1, 0, NOW);
    await kit.locks.flush(where, 0);
    kit.sent.elect.length = 0;
    const visit = async (): Promise<boolean> => {
      for (let round = 0; round < 40; round += 1) await sweep(kit, invocation);
      return kit.sent.elect.some((each) => each.target === where);
    };
    expect(await visit()).toBe(false);
    kit.now = NOW + 10 * 60_000;
    expect(await visit()).toBe(true);
    expect(kit.events).toContainEqual({ event: 'stranded', target: where, waitedSince: NOW });
  });
});
