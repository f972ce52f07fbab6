import { beforeEach, describe, expect, it } from 'vitest';
import type { ElectMessage } from '../../src/domain/batches/messages.ts';
import { batchIdOf, type TaskId, type Token } from '../../src/domain/ids.ts';
import { LEASE } from '../../src/domain/timings.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { askResumeTarget, pauseTarget } from '../../src/steps/slots/pauses.ts';
import {
  aConfig,
  aPolicy,
  aTask,
  registeredCandidate as candidate,
  id,
  NOW,
  operationName,
  target,
} from '../factories/factories.ts';
import { PLENTY, type StepKit, stepKit } from './step-kit.ts';
import { depot, guard, kit, led, lock, registered, suite, where } from './step-suite.ts';

const SHIP = operationName('ship');

suite('the elect function', (fresh) => {
  it('reads once and does nothing else if the lock is held (E1)', async () => {
    await led(1);
    const reads: string[] = [];
    const loser = fresh();
    const spied = <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get: (object, name) => {
          const member: unknown = Reflect.get(object, name);
          if (typeof member === 'function') reads.push(String(name));
          return member;
        },
      });
    await electLeader(
      { ...loser, locks: spied(loser.locks), waiting: spied(loser.waiting), queues: spied(loser.queues) },
      { kind: 'elect', target: where },
    );
    expect(reads).toEqual(['read']);
  });

  it('takes no lock if no task waits (E2)', async () => {
    await electLeader(kit, { kind: 'elect', target: where });
    expect([await lock(), kit.sent.group]).toEqual([{ fence: 0, round: 0, lockedUntil: 0 }, []]);
  });

  it('sends a guard, due with the batch, before it takes the lock (L1–L3)', async () => {
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
    await electLeader({ ...kit, queues, locks }, { kind: 'elect', target: where });
    expect(order).toEqual(['guard', 'acquire']);
    expect(kit.sent.group).toEqual([{ ...guard(), delay: 5 }]);
    expect(await lock()).toMatchObject({ fence: 1, holder: 'token-1', lockedUntil: NOW + 5_000 + LEASE });
  });

  it('reads again with the lock taken; a full batch causes a hint (L3)', async () => {
    await registered(1);
    const acquire: StepKit['locks']['acquire'] = async (...args) => {
      // The register function read the lock before it was taken, and sent an elect message, which will find the lock held.
      await kit.waiting.put(
        [1, 2, 3].map((n) => ({ ...aTask({ id: id(`${depot}-late-${n}`), target: where }), run: 1 })),
      );
      return kit.locks.acquire(...args);
    };
    await electLeader({ ...kit, locks: { ...kit.locks, acquire } }, { kind: 'elect', target: where });
    expect(kit.sent.group).toEqual([
      { ...guard(), delay: 5 },
      { ...guard(1, true), delay: 0 },
    ]);
  });

  it('sends a hint for a task that expires before the leader wakes (L3)', async () => {
    await registered(1);
    const acquire: StepKit['locks']['acquire'] = async (...args) => {
      const late = { ...aTask({ id: id(`${depot}-late`), target: where, startBy: NOW + 2_000 }), run: 1 };
      await kit.waiting.put([late]);
      return kit.locks.acquire(...args);
    };
    await electLeader({ ...kit, locks: { ...kit.locks, acquire } }, { kind: 'elect', target: where });
    expect(kit.sent.group).toEqual([
      { ...guard(), delay: 5 },
      { ...guard(1, true), delay: 3 },
    ]);
  });

  it('delays a guard by 15 minutes at most; a longer wait takes several (L1)', async () => {
    const patient = stepKit(kit as never, aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 3_600_000 }) }));
    await registered(1);
    await electLeader(patient, { kind: 'elect', target: where });
    expect(patient.sent.group).toMatchObject([{ delay: 900 }]);
    expect(await lock()).toMatchObject({ lockedUntil: NOW + 900_000 + LEASE });
    patient.now = NOW + 900_000;
    await group(patient, guard(), PLENTY);
    expect(patient.sent.group.at(-1)).toMatchObject({ fence: 2, delay: 900 });
    patient.now = NOW + 3_600_000;
    await group(patient, guard(2), PLENTY);
    expect(patient.sent.batch).toHaveLength(1);
  });

  it('sends the leader a hint on a resume, so that it seals a full batch', async () => {
    await led(1);
    await pauseTarget(kit, where);
    await registered(4);
    const before = kit.sent.group.length;
    await askResumeTarget(kit, where);
    const resume = kit.sent.elect.at(-1) as ElectMessage;
    await electLeader(kit, resume);
    expect(kit.sent.group.slice(before)).toEqual([{ ...guard(1, true), delay: 0 }]);
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
    // After another pause, the message of the earlier resume has no effect.
    await pauseTarget(kit, where);
    await electLeader(kit, resume);
    expect(kit.sent.group.slice(before).filter(({ hint }) => hint)).toHaveLength(1);
  });

  describe('for a blocked Target', () => {
    const other = { target: target('ship/depot=elsewhere'), at: NOW, fence: 7 };
    const waiting = () => kit.operations.waiting(SHIP, 99);
    beforeEach(async () => {
      for (const each of await waiting()) await kit.operations.dequeue(SHIP, each);
      await kit.operations.enqueue(SHIP, other);
      await led(1);
      await kit.locks.block(where, guard(), { round: 0, at: NOW });
      for (const messages of Object.values(kit.sent)) messages.length = 0;
    });

    it('ends on a message about a new task (E1)', async () => {
      await electLeader(kit, { kind: 'elect', target: where });
      expect([kit.sent.group, kit.sent.elect, (await lock()).fence]).toEqual([[], [], 1]);
    });

    it('leads on a wake with its fence, still blocked (E1)', async () => {
      await electLeader(kit, { kind: 'elect', target: where, wake: 1 });
      expect(kit.sent.group).toMatchObject([{ target: where, fence: 2, delay: 0 }]);
      expect(await lock()).toMatchObject({ fence: 2, blocked: NOW });
      expect(await waiting()).toEqual([other]);
    });

    it('wakes the next on a wake with an old fence (E1)', async () => {
      await electLeader(kit, { kind: 'elect', target: where, wake: 0 });
      expect([kit.sent.group, kit.sent.elect]).toEqual([[], [{ kind: 'elect', target: other.target, wake: 7 }]]);
      expect(await waiting()).toEqual([]);
    });

    it('wakes the next if paused, leads on resume (E1)', async () => {
      await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
      await electLeader(kit, { kind: 'elect', target: where, wake: 1 });
      expect([kit.sent.group, kit.sent.elect]).toEqual([[], [{ kind: 'elect', target: other.target, wake: 7 }]]);
      await electLeader(kit, { kind: 'elect', target: where, resume: 'another' });
      expect([(await lock()).paused?.id, kit.sent.group]).toEqual(['pause', []]);
      await electLeader(kit, { kind: 'elect', target: where, resume: 'pause' });
      expect((await lock()).paused).toBeUndefined();
      expect(kit.sent.group).toMatchObject([{ fence: 2, delay: 0 }]);
    });

    it('leads on a wake without tasks to end the wait (E2)', async () => {
      await kit.waiting.remove(
        where,
        (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
      );
      await electLeader(kit, { kind: 'elect', target: where, wake: 1 });
      expect(kit.sent.group).toMatchObject([{ fence: 2, delay: 0 }]);
    });
  });

  it('does not lead a full Target, unless it has an open batch (E1)', async () => {
    await registered(1);
    const capped = {
      ...kit,
      config: aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), concurrency: { perTarget: 1, total: null } }),
    };
    await kit.locks.acquire(where, { ...guard(), seen: { fence: 0 }, now: NOW, until: NOW });
    const open = { batch: batchIdOf(where, 1, 1), round: 1, by: 'turn' as Token, until: NOW, perTarget: 1 };
    await kit.locks.openBatch(where, guard(), open);
    kit.now += 1;
    await electLeader(capped, { kind: 'elect', target: where });
    expect(kit.sent.group).toMatchObject([{ fence: 2, delay: 0 }]);
    await kit.locks.closeBatch(where, open.batch);
    await kit.locks.release(where, { ...guard(2), token: (await lock()).holder as Token });
    await electLeader(capped, { kind: 'elect', target: where });
    expect(kit.sent.group).toHaveLength(1);
    await kit.locks.releaseSlot(where, open.batch);
    await electLeader(capped, { kind: 'elect', target: where });
    expect(kit.sent.group).toHaveLength(2);
  });

  it('reads a free lock again after a refused write, and leads (E3)', async () => {
    await registered(1);
    let hasLost = false;
    const acquire: typeof kit.locks.acquire = async (of, take) => {
      // The guard of an earlier leader skips its fence at this moment.
      if (!hasLost) await kit.locks.skipFence(of, take.fence, take.seen.fence, kit.now);
      hasLost = true;
      return kit.locks.acquire(of, take);
    };
    await electLeader({ ...kit, locks: { ...kit.locks, acquire } }, { kind: 'elect', target: where });
    expect(kit.sent.group.map(({ fence }) => fence)).toEqual([1, 2]);
    expect(await lock()).toMatchObject({ fence: 2, holder: kit.sent.group[1]?.token });
  });

  it('takes over after the lease, and finishes the open batch at once', async () => {
    const [task] = (await led(1)) as [TaskId];
    const batch = batchIdOf(where, 1, 1);
    await kit.locks.openBatch(where, guard(), { batch, round: 1, by: 'turn' as Token, until: NOW + LEASE });
    kit.now = NOW + 5_000 + LEASE + 1;
    await electLeader(kit, { kind: 'elect', target: where });
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 0 });
    await group(kit, guard(2), PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', candidates: [candidate(task)] });
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: batch, delay: 0 }]);
  });
});
