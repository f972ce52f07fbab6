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

/** Longer than anything may be left alone. */
const LONG = batchVisibility(config) + GRACE + 60_000;

const forget = (sent: StepKit['sent']): void => {
  for (const messages of Object.values(sent)) messages.length = 0;
};
const repaired = () => kit.events.filter(({ event }) => event === 'repaired');

suite('a look at a Target, and its repair,', () => {
  /** Looks, repairs what is found, and answers what that was. */
  const treat = async () => {
    forget(kit.sent);
    const finding = await lookAtTarget(kit, where, kit.now);
    return finding && { finding: finding.finding, remedy: await repair(kit, finding) };
  };

  it('finds nothing wrong where everything goes on', async () => {
    await led(2);
    expect(await treat()).toBeUndefined();
  });

  it('gives tasks a leader that nobody leads', async () => {
    await registered(1);
    await kit.locks.skipFence(where, 1, 0, NOW);
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'stranded', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(repaired()).toEqual([
      { event: 'repaired', finding: 'stranded', operation: 'ship', target: where, since: NOW },
    ]);
  });

  it('gives tasks a leader whose last one lost its guard', async () => {
    await led(1);
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'expired-lock', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    expect((await lock()).holder).toBeDefined();
  });

  it('wakes a Target that waits for room in an operation that does not know of it', async () => {
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

  it('leaves a Target alone that somebody paused', async () => {
    await registered(1);
    await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
    kit.now += LONG;
    expect(await treat()).toBeUndefined();
    await kit.locks.resume(where, 'pause', NOW);
    expect(await treat()).toMatchObject({ finding: 'stranded' });
  });

  it('gives a place in its Target back that a batch holds which is over', async () => {
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
    // As long as it is under way, its Target is full rightly.
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

  it('frees a slot on a page whose batch was never opened, or is over', async () => {
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

  it('gives a lock back that its holder left, when nothing waits', async () => {
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

  it('leaves a lock alone that somebody took in between, and claims no repair', async () => {
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

  it('asks for a leader when a task came while the lock still looked held', async () => {
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
    // Whoever gave it back in the meantime, a task that waits gets its leader, and that is what is told.
    expect(finding && (await repair(kit, finding))).toBe('elect-message');
    expect(repaired()).toHaveLength(2);
  });

  it('repairs nothing of an operation that is not configured any more: whoever led there could only fail', async () => {
    await led(1);
    const finding = { target: where, since: NOW } as const;
    const bare = { ...kit, config: { ...config, operations: {} } };
    const holder = { fence: 1, token: token('token-1') };
    const batch = batchIdOf(where, 1, 1);
    forget(kit.sent);
    for (const each of [
      { ...finding, finding: 'stranded' },
      { ...finding, finding: 'expired-lock', holder, hasWork: true },
      // It gives the lock back, and then sees that a task waits.
      { ...finding, finding: 'expired-lock', holder, hasWork: false },
      { ...finding, finding: 'leaderless-batch', batchId: batch },
      { ...finding, finding: 'overdue-batch', batchId: batch },
    ] as const)
      await expect(repair(bare, each)).rejects.toThrow('add it again');
    expect([kit.sent.elect, kit.sent.batch, repaired()]).toEqual([[], [], []]);
  });

  it('finds a leader who finishes the batch that another one left', async () => {
    await led(1);
    await kit.locks.openBatch(where, guard(), { batch: batchIdOf(where, 1, 1), round: 1, by: token('x'), until: NOW });
    kit.now += LONG;
    expect(await treat()).toEqual({ finding: 'leaderless-batch', remedy: 'elect-message' });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where }]);
    expect(repaired()).toMatchObject([{ batchId: batchIdOf(where, 1, 1) }]);
  });
});

suite("a look at a Target's batches, and their repair,", () => {
  /** Tasks in a batch that is sealed, its message lost. */
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

  it('sends the message again of one that was never started', async () => {
    const id = await sealed();
    expect(await look()).toEqual({ findings: [], skipped: [], batches: 1 });
    kit.now += LONG;
    const { findings } = await look();
    expect(findings).toMatchObject([{ finding: 'overdue-batch', batchId: id }]);
    for (const finding of findings) expect(await repair(kit, finding)).toBe('batch-message');
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: id, delay: 0 }]);
    expect(repaired()).toMatchObject([{ finding: 'overdue-batch', operation: 'ship', target: where, batchId: id }]);
  });

  it('finds none overdue while a pause holds it up, of its Target or of its operation', async () => {
    const id = await sealed();
    kit.now += LONG;
    const pause = { id: 'pause', by: 'person', since: kit.now } as const;
    await kit.locks.pause(where, pause);
    expect((await look()).findings).toEqual([]);
    await kit.locks.resume(where, pause.id, NOW);
    await kit.operations.pause(operationName('ship'), pause);
    expect((await look()).findings).toEqual([]);
    await kit.operations.resume(operationName('ship'), pause.id);
    expect((await look()).findings).toMatchObject([{ finding: 'overdue-batch', batchId: id }]);
  });

  it('sends the message again of one whose next attempt is missing, and twice is harmless', async () => {
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

  it('goes page by page', async () => {
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
