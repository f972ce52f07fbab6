import { describe, expect, it } from 'vitest';
import { NO_LOCK } from '../../src/domain/batches/lock.ts';
import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import { batchIdOf, type TaskId } from '../../src/domain/ids.ts';
import { register, registerAll } from '../../src/steps/register/register.ts';
import {
  aConfig,
  aPolicy,
  aTask,
  batchId,
  registeredCandidate as candidate,
  id,
  NOW,
  token,
} from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { depot, guard, kit, led, message, registered, suite, where } from './step-suite.ts';

suite('the register function', () => {
  it('stores tasks and waiting rows, and sends one elect message (R1–R3)', async () => {
    const tasks = await registered(3);
    expect((await kit.waiting.first(where, 9)).map((row) => row.candidate)).toEqual(
      tasks.map((each) => candidate(each)),
    );
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(kit.events).toContainEqual({ event: 'registered', operation: 'ship', tasks: 3, duplicates: 0 });
  });

  it('is idempotent, also after a run that stopped halfway (R1)', async () => {
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

  it('rejects a taken id in the same delivery, whichever was stored (R1)', async () => {
    const other = message(0, { payload: { depot, n: 'other' } });
    await register(kit, [message(0), other]);
    await register(kit, [other, message(0)]);
    expect(kit.sent.rejected.map(({ body }) => body)).toEqual([other.body, other.body]);
    expect(await kit.waiting.first(where, 9)).toHaveLength(1);
  });

  it('does not change a task that is already batched (R1)', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    await kit.waiting.remove(
      where,
      (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
    );
    await register(kit, [message(0)]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it("stores a repeated task's payload only while the task waits (R1)", async () => {
    const payload = { depot, n: 0, s: 'x'.repeat(2_000) };
    const stored: string[] = [];
    const own: StepKit = {
      ...kit,
      tasks: {
        ...kit.tasks,
        storePayloads: async (payloads) => {
          stored.push(...payloads.map((each) => each.id));
          await kit.tasks.storePayloads(payloads);
        },
      },
    };
    const send = async () => {
      stored.length = 0;
      await register(own, [message(0, { payload }), message(1)]);
      return stored.map((each) => each.replace(`${depot}-`, ''));
    };
    expect(await send()).toEqual(['0']);
    expect(await send(), 'it waits').toEqual(['0']);
    const task = id(`${depot}-0`);
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    expect(await send(), 'it is in a batch').toEqual([]);
    const end = { id: batchId('b#1#1'), target: where, attempts: 1, at: NOW, keep: 1_000 };
    await kit.tasks.finish([{ id: task, outcome: { status: 'succeeded' } }], end);
    expect(await send(), 'it has ended').toEqual([]);
  });

  it('reports how many tasks are new and how many are duplicates (R1)', async () => {
    await register(kit, [message(0), message(0), message(1)]);
    await register(kit, [message(1), message(2)]);
    expect(kit.events.filter(({ event }) => event === 'registered')).toEqual([
      { event: 'registered', operation: 'ship', tasks: 2, duplicates: 1 },
      { event: 'registered', operation: 'ship', tasks: 1, duplicates: 1 },
    ]);
  });

  it("inserts a new Target's row before it sends an elect message (R3)", async () => {
    await register(kit, [message(0)]);
    expect((await kit.locks.readAll([where]))[0]).toBeDefined();
  });

  it('renews a row that expires soon before it sends an elect message (R3)', async () => {
    const DAY = 24 * 3_600_000;
    /** The writes for a row that expires after `left` milliseconds. @param isThere whether the row still exists then */
    const writtenWith = async (left: number, isThere: boolean): Promise<readonly string[]> => {
      const written: string[] = [];
      const locks: StepKit['locks'] = {
        ...kit.locks,
        readAll: async (targets) => targets.map(() => ({ lock: NO_LOCK, expiresAt: kit.now + left })),
        keep: async () => written.push('kept') > 0 && isThere,
        enlist: async (targets) => void (targets.length > 0 && written.push('enlisted')),
      };
      await register({ ...kit, locks }, [message(1)]);
      expect(kit.sent.elect.splice(0)).toEqual([{ kind: 'elect', target: where }]);
      return written;
    };
    expect(await writtenWith(50 * DAY, true)).toEqual([]);
    expect(await writtenWith(50 * DAY - 1, true)).toEqual(['kept']);
    expect(await writtenWith(50 * DAY - 1, false)).toEqual(['kept', 'enlisted']);
  });

  it('sends no elect message if the Target has a leader (R3)', async () => {
    await led(1);
    kit.sent.elect.length = 0;
    await register(kit, [message(1)]);
    expect([kit.sent.elect, kit.sent.group.length]).toEqual([[], 1]);
  });

  it('sends a hint to a sleeping leader only when a batch is full (R4)', async () => {
    await led(1);
    kit.sent.group.length = 0;
    kit.chance = 0;
    await register(kit, [message(1)]);
    expect(kit.sent.group).toEqual([]);
    await register(kit, [message(2), message(3)]);
    expect(kit.sent.group).toEqual([{ ...guard(1, true), delay: 0 }]);
  });

  it('detects a batch that one invocation filled, though reads lag (R4)', async () => {
    const page: StepKit['waiting']['page'] = async () => ({ items: [] });
    const large: StepKit = {
      ...kit,
      config: aConfig({ batch: aPolicy({ maxSize: 20, maxWait: 5_000 }) }),
      waiting: { ...kit.waiting, page },
    };
    await led(1);
    kit.sent.group.length = 0;
    await register(
      large,
      Array.from({ length: 19 }, (_, n) => message(n + 1)),
    );
    expect(kit.sent.group).toEqual([{ ...guard(1, true), delay: 0 }]);
  });

  it('counts tasks, bytes and weight of one delivery together (R4)', async () => {
    let sent = 10;
    const looks = async (policy: Partial<BatchPolicy>, come: readonly object[]): Promise<number> => {
      let read = 0;
      const counted =
        <Args extends readonly unknown[], Answer>(call: (...args: Args) => Answer) =>
        (...args: Args): Answer => {
          read += 1;
          return call(...args);
        };
      const { waiting } = kit;
      const config = aConfig({ batch: aPolicy({ maxSize: 1_000, maxWait: 600_000, ...policy }) });
      kit.chance = 0.5;
      const messages = come.map((extra) => message(sent++, extra));
      const watched = { ...waiting, page: counted(waiting.page), first: counted(waiting.first) };
      await register({ ...kit, config, waiting: watched }, messages);
      expect(kit.sent.rejected).toEqual([]);
      return read;
    };
    await led(1);
    // The chance of a check is eight times the share of a batch that was registered: 8/30 and 16/30.
    expect(await looks({ maxWeight: 30 }, [{ weight: 1 }])).toBe(0);
    expect(await looks({ maxWeight: 30 }, [{ weight: 1 }, { weight: 1 }])).toBe(1);
    // By number, the chance for tasks that are registered together is lower: 0.27 for one, and 0.61 for three.
    expect(await looks({ maxSize: 30 }, [{}])).toBe(0);
    expect(await looks({ maxSize: 30 }, [{}, {}, {}])).toBe(1);
    const large = { payload: { depot, s: 'x'.repeat(1_000) } };
    expect(await looks({ maxBytes: 25_000 }, [large])).toBe(0);
    expect(await looks({ maxBytes: 25_000 }, [large, large])).toBe(1);
    // One task that bypasses the batch is enough, whatever is registered with it.
    expect(await looks({ bypass: 900 }, [{}, {}])).toBe(0);
    expect(await looks({ bypass: 900 }, [{}, large])).toBe(1);
    expect(await looks({ bypass: 900 }, [large, {}])).toBe(1);
  });

  it('does not check for a full batch if the leader wakes soon (R4)', async () => {
    await led(1);
    kit.sent.group.length = 0;
    kit.chance = 0;
    kit.now = NOW + 4_500;
    await register(kit, [message(1), message(2), message(3)]);
    expect(kit.sent.group).toEqual([]);
  });

  it('returns only the message that cannot be stored', async () => {
    const failing: string[] = [];
    const insert: StepKit['tasks']['insert'] = async (tasks) => {
      if (tasks.some((task) => task.id === `${depot}-1`)) throw new Error('the table refuses the task');
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

  it('rejects unstorable tasks with the reason, and registers the others', async () => {
    const odd = new Map([
      [`${depot}-1`, { weight: 1e-200 }],
      [`${depot}-3`, { correlationId: 'c'.repeat(500_000) }],
    ]);
    const insert: StepKit['tasks']['insert'] = (tasks) =>
      kit.tasks.insert(tasks.map((task) => ({ ...task, ...odd.get(task.id) })));
    await register(
      { ...kit, tasks: { ...kit.tasks, insert } },
      [0, 1, 2, 3, 4].map((n) => message(n)),
    );
    expect(
      kit.sent.rejected.map(({ messageId, problems }) => [messageId, problems.map(({ reason }) => reason)]),
    ).toEqual([
      [`${depot}-message-1`, [expect.stringMatching(/^cannot be stored: .*underflow/)]],
      [`${depot}-message-3`, [expect.stringMatching(/^cannot be stored: .*[Ss]ize/)]],
    ]);
    expect((await kit.waiting.first(where, 9)).map(({ candidate: each }) => each)).toEqual(
      [0, 2, 4].map((n) => candidate(`${depot}-${n}`)),
    );
    expect(await kit.tasks.outlines([id(`${depot}-1`), id(`${depot}-3`)])).toEqual([undefined, undefined]);
  });

  it('finds the failing message of fifty by tens, then single messages', async () => {
    const tried: number[] = [];
    const insert: StepKit['tasks']['insert'] = async (tasks) => {
      tried.push(tasks.length);
      if (tasks.some((task) => task.id === `${depot}-17`)) throw new Error('the table refuses the task');
      return kit.tasks.insert(tasks);
    };
    const messages = Array.from({ length: 50 }, (_, n) => message(n));
    const failed = await registerAll({ ...kit, tasks: { ...kit.tasks, insert } }, messages, () => {});
    expect(failed.map(({ messageId }) => messageId)).toEqual([`${depot}-message-17`]);
    expect(await kit.waiting.first(where, 99)).toHaveLength(49);
    expect(tried.toSorted((a, b) => b - a)).toEqual([50, ...Array(5).fill(10), ...Array(10).fill(1)]);
  });

  describe('for a Target', () => {
    const capped = (perTarget: number | null = null): StepKit => ({
      ...kit,
      config: aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), concurrency: { perTarget, total: null } }),
    });

    it('sends no elect message if blocked, paused or full (R3)', async () => {
      await led(1);
      await kit.locks.block(where, guard(), { round: 0, at: NOW });
      kit.sent.elect.length = 0;
      await register(capped(), [message(1)]);
      expect(kit.sent.elect).toEqual([]);
      await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: NOW, until: NOW + 9 });
      const id = batchIdOf(where, 2, 1);
      await kit.locks.openBatch(where, guard(2), { batch: id, round: 1, by: token('t'), until: NOW + 9, perTarget: 1 });
      await kit.locks.closeBatch(where, id);
      await kit.locks.release(where, guard(2));
      await register(capped(1), [message(2)]);
      expect(kit.sent.elect).toEqual([]);
      await register(capped(2), [message(3)]);
      expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
      await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
      await register(capped(2), [message(4)]);
      expect(kit.sent.elect).toHaveLength(1);
    });

    it('sends no hint to its leader during a pause (R4)', async () => {
      await led(1);
      await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
      kit.sent.group.length = 0;
      await register(
        kit,
        [1, 2, 3].map((n) => message(n, { expiresIn: '1s' })),
      );
      expect(kit.sent.group).toEqual([]);
    });

    it('sends a hint for an expiry before the wake (R4)', async () => {
      await led(1);
      kit.sent.group.length = 0;
      kit.chance = 1;
      await register(kit, [message(1, { expiresIn: '10m' }), message(2, { expiresIn: '2s' })]);
      expect(kit.sent.group).toEqual([{ ...guard(1, true), delay: 3 }]);
      await register(kit, [message(3, { expiresIn: '10m' })]);
      expect(kit.sent.group).toHaveLength(1);
    });
  });
});
