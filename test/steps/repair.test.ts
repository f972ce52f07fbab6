import { expect, it } from 'vitest';
import { batchVisibility } from '../../src/domain/config/resolved.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { GRACE } from '../../src/domain/timings.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { group } from '../../src/steps/lead/group.ts';
import { lookAtBatches, lookAtTarget, repair } from '../../src/steps/repair/repair.ts';
import { aConfig, batchId, NOW, operationName, token } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { config, guard, kit, led, lock, registered, suite, where } from './step-suite.ts';

/** Longer than any state may last before it counts as stuck. */
const LONG = batchVisibility(config) + GRACE + 60_000;

const forget = (sent: StepKit['sent']): void => {
  for (const messages of Object.values(sent)) messages.length = 0;
};
const repaired = () => kit.events.filter(({ event }) => event === 'repaired');

suite('the repair of a Target', () => {
  /** Scans the Target, repairs what it finds, and returns both. */
  const treat = async () => {
    forget(kit.sent);
    const finding = await lookAtTarget(kit, where, kit.now);
    return finding && { finding: finding.finding, remedy: await repair(kit, finding) };
  };

  it('finds nothing if all is well', async () => {
    await led(2);
    expect(await treat()).toBeUndefined();
  });

  it('sends an elect message if tasks have no leader', async () => {
    await registered(1);
    await kit.locks.skipFence(where, 1, 0, NOW);
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'stranded', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(repaired()).toEqual([
      { event: 'repaired', finding: 'stranded', operation: 'ship', target: where, since: NOW },
    ]);
  });

  it("sends an elect message if the leader's guard is lost", async () => {
    await led(1);
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'expired-lock', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    expect((await lock()).holder).toBeDefined();
  });

  it('wakes a waiting Target that is missing in the slot queue', async () => {
    await led(1);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    const waiting = { target: where, at: NOW, fence: 1 };
    await kit.operations.enqueue(operationName('ship'), waiting);
    kit.now += LONG;
    expect(await treat()).toBeUndefined();
    await kit.operations.dequeue(operationName('ship'), waiting);
    expect(await treat()).toEqual({ finding: 'forgotten', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
  });

  it('ignores a paused Target', async () => {
    await registered(1);
    await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
    kit.now += LONG;
    expect(await treat()).toBeUndefined();
    await kit.locks.resume(where, 'pause', NOW);
    expect(await treat()).toMatchObject({ finding: 'stranded' });
  });

  it('releases a slot in the lock if its batch has finished', async () => {
    await led(1);
    const id = batchIdOf(where, 1, 1);
    const open = { batch: id, round: 1, by: token('turn'), until: NOW, perTarget: 1 };
    await kit.locks.openBatch(where, guard(), open);
    const batch = await kit.batches.form({
      id,
      target: where,
      sealedBy: 'full',
      candidates: [],
      oldestAt: NOW,
      createdAt: NOW,
    });
    await kit.locks.closeBatch(where, id);
    await kit.locks.release(where, guard());
    // While the batch is under way, the Target is rightly full.
    const capped = {
      ...kit,
      config: { ...config, operations: aConfig({ concurrency: { perTarget: 1, total: null } }).operations },
    };
    kit.now += LONG;
    expect(await lookAtTarget(capped, where, kit.now)).toBeUndefined();
    await kit.batches.seal(batch, [], kit.now, 9 * LONG);
    expect(await lookAtTarget(capped, where, kit.now)).toBeUndefined();
    kit.now += LONG;
    forget(kit.sent);
    const finding = await lookAtTarget(capped, where, kit.now);
    expect(finding).toMatchObject({ finding: 'stuck-slot', batchId: id });
    expect(finding && (await repair(capped, finding))).toBe('elect-message');
    expect([(await lock()).inFlight, kit.sent.elect]).toEqual([undefined, [{ kind: 'elect', target: where }]]);
  });

  it('frees a slot on a page whose batch was never opened or has finished', async () => {
    await registered(1);
    const capped = {
      ...kit,
      config: { ...config, operations: aConfig({ concurrency: { perTarget: 12, total: null } }).operations },
    };
    const slots = async () => (await kit.locks.slotPages(where, 12)).flatMap((page) => page.slots);
    await kit.locks.takeSlot(where, slotOf(where, 1, 1), 10, 2);
    kit.now += LONG;
    const finding = await lookAtTarget(capped, where, kit.now);
    expect(finding).toMatchObject({ finding: 'stuck-slot', batchId: batchIdOf(where, 1, 1) });
    expect(finding && (await repair(capped, finding))).toBe('elect-message');
    expect(await slots()).toEqual([]);
  });

  it('releases an abandoned lock if no task waits', async () => {
    await led(1);
    await kit.waiting.remove(
      where,
      (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
    );
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'expired-lock', remedy: 'lock-released' });
    expect([(await lock()).holder, kit.sent.elect]).toEqual([undefined, []]);
    expect(repaired()).toMatchObject([{ finding: 'expired-lock', operation: 'ship' }]);
    expect(await treat()).toBeUndefined();
  });

  it('does not release a lock that was taken meanwhile, or report it', async () => {
    await led(1);
    const [row] = await kit.waiting.first(where, 1);
    await kit.waiting.remove(where, [row?.entry ?? '']);
    kit.now += LONG;
    const finding = await lookAtTarget(kit, where, kit.now);
    const seen = await lock();
    await kit.locks.acquire(where, { fence: 2, token: token('next'), seen, now: kit.now, until: kit.now + 1_000 });
    expect(finding && (await repair(kit, finding))).toBeUndefined();
    expect([(await lock()).holder, repaired()]).toEqual(['next', []]);
  });

  it('sends an elect message if a task is registered before the release', async () => {
    const [id] = await led(1);
    const task = await kit.tasks.get(id as NonNullable<typeof id>);
    const [row] = await kit.waiting.first(where, 1);
    await kit.waiting.remove(where, [row?.entry ?? '']);
    kit.now += LONG;
    const finding = await lookAtTarget(kit, where, kit.now);
    if (task) await kit.waiting.put([task]);
    forget(kit.sent);
    expect(finding && (await repair(kit, finding))).toBe('elect-message');
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect((await lock()).holder).toBeUndefined();
    // A waiting task gets a leader, and the repair is reported, even if another function released the lock meanwhile.
    expect(finding && (await repair(kit, finding))).toBe('elect-message');
    expect(repaired()).toHaveLength(2);
  });

  it('throws if the operation is removed, since its leader would fail', async () => {
    await led(1);
    const finding = { target: where, since: NOW } as const;
    const bare = { ...kit, config: { ...config, operations: {} } };
    const holder = { fence: 1, token: token('token-1') };
    const batch = batchIdOf(where, 1, 1);
    forget(kit.sent);
    for (const each of [
      { ...finding, finding: 'stranded' },
      { ...finding, finding: 'expired-lock', holder, hasWork: true },
      // The repair releases the lock, and then finds a waiting task.
      { ...finding, finding: 'expired-lock', holder, hasWork: false },
      { ...finding, finding: 'leaderless-batch', batchId: batch },
      { ...finding, finding: 'overdue-batch', batchId: batch },
    ] as const)
      await expect(repair(bare, each)).rejects.toThrow('add the operation again');
    expect([kit.sent.elect, kit.sent.batch, repaired()]).toEqual([[], [], []]);
  });

  it('sends an elect message for an open batch without a leader', async () => {
    await led(1);
    await kit.locks.openBatch(where, guard(), { batch: batchIdOf(where, 1, 1), round: 1, by: token('x'), until: NOW });
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'leaderless-batch', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(repaired()).toMatchObject([{ batchId: batchIdOf(where, 1, 1) }]);
  });
});

suite('the repair of batches', () => {
  /** A sealed batch whose message is lost. */
  const sealed = async () => {
    await led(1);
    kit.now += 5_000;
    await group(kit, guard(), PLENTY);
    const [message] = kit.sent.batch;
    if (!message) throw new Error('no batch was sealed');
    forget(kit.sent);
    return message.batchId;
  };
  const look = (limit = 10, cursor?: string) => lookAtBatches(kit, where, limit, cursor);

  it('sends the message again for a batch that was never started', async () => {
    const id = await sealed();
    expect(await look()).toEqual({ findings: [], skipped: [], batches: 1 });
    kit.now += LONG;
    const { findings } = await look();
    expect(findings).toMatchObject([{ finding: 'overdue-batch', batchId: id }]);
    for (const finding of findings) expect(await repair(kit, finding)).toBe('batch-message');
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: id, delay: 0 }]);
    expect(repaired()).toMatchObject([{ finding: 'overdue-batch', operation: 'ship', target: where, batchId: id }]);
  });

  it('finds no overdue batch while the Target or operation is paused', async () => {
    const id = await sealed();
    kit.now += LONG;
    const pause = { id: 'pause', by: 'person', since: kit.now } as const;
    await kit.locks.pause(where, pause);
    expect((await look()).findings).toEqual([]);
    await kit.locks.resume(where, pause.id, NOW);
    await kit.operations.pause(operationName('ship'), pause);
    expect((await look()).findings).toEqual([]);
    await kit.operations.resume(operationName('ship'), pause.id, NOW);
    expect((await look()).findings).toMatchObject([{ finding: 'overdue-batch', batchId: id }]);
  });

  it("sends a missing next attempt's message again; repeats are harmless", async () => {
    const id = await sealed();
    kit.answers = [{ kind: 'unavailable', reason: 'busy', mayRetryAtOnce: false }, { kind: 'all-succeeded' }];
    await handleBatch(kit, { kind: 'due', batchId: id }, PLENTY);
    forget(kit.sent);
    expect((await look()).findings).toEqual([]);
    kit.now += LONG;
    for (let times = 0; times < 2; times += 1)
      for (const finding of (await look()).findings) await repair(kit, finding);
    expect(kit.sent.batch.map(({ batchId: each }) => each)).toEqual([id, id]);
    for (const message of kit.sent.batch) await handleBatch(kit, message, PLENTY);
    expect([kit.calls.length, (await kit.batches.get(id))?.status]).toEqual([2, 'succeeded']);
    kit.now += LONG;
    expect(await look()).toEqual({ findings: [], skipped: [], batches: 1 });
  });

  it('scans page by page', async () => {
    for (const n of [1, 2, 3]) {
      const batch = { id: batchId(`${where}#${n}#1`), target: where, sealedBy: 'full', candidates: [] } as const;
      const formed = await kit.batches.form({ ...batch, oldestAt: NOW, createdAt: NOW });
      await kit.batches.seal(formed, [], NOW + n, 3_600_000);
    }
    const first = await look(2);
    expect([first.batches, first.cursor]).toEqual([2, expect.any(String)]);
    expect(await look(2, first.cursor)).toEqual({ findings: [], skipped: [], batches: 1 });
  });
});
