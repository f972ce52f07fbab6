import { expect, it } from 'vitest';
import { UnknownOperation } from '../../src/domain/config/resolved.ts';
import { type BatchId, batchIdOf, operationOf } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { LEASE } from '../../src/domain/timings.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { aConfig, aPolicy, token } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, led, registered, suite, where } from './step-suite.ts';

const capped = aConfig({
  batch: aPolicy({ maxSize: 4, maxWait: 0 }),
  concurrency: { perTarget: 1, total: 1 },
});

suite('a message of a removed operation', () => {
  const removed = (): StepKit => ({ ...kit, config: { ...kit.config, operations: {} } });
  const guardOf = () => kit.sent.group.findLast(({ target }) => target === where) as StepKit['sent']['group'][number];
  /** A finished batch, which has released its slots if `hasTail`. */
  const done = async (hasTail: boolean): Promise<BatchId> => {
    const batchId = batchIdOf(where, 1, 1);
    const deps = { ...kit, config: capped };
    await registered(2);
    await electLeader(deps, { kind: 'elect', target: where });
    await group(deps, guardOf(), PLENTY);
    const releaseSlot: StepKit['locks']['releaseSlot'] = async () => {
      throw new Error('died');
    };
    const handler = hasTail ? deps : { ...deps, locks: { ...deps.locks, releaseSlot } };
    await handleBatch(handler, { kind: 'due', batchId }, PLENTY).catch((cause: Error) =>
      expect(cause.message).toBe('died'),
    );
    expect((await kit.batches.get(batchId))?.status).toBe('succeeded');
    return batchId;
  };

  it('ends if its batch has finished and released its slots', async () => {
    await handleBatch(removed(), { kind: 'due', batchId: await done(true) }, PLENTY);
    await handleBatch(removed(), { kind: 'completion', batchId: batchIdOf(where, 1, 1), results: null }, PLENTY);
    expect((await kit.operations.read(operationOf(where))).inFlight).not.toContain(`${where}#1#1`);
  });

  it('comes back if its batch holds slots', async () => {
    const batchId = await done(false);
    await expect(handleBatch(removed(), { kind: 'due', batchId }, PLENTY)).rejects.toThrow(UnknownOperation);
    await kit.operations.freeSlot(operationOf(where), slotOf(where, 1, 1));
    await expect(handleBatch(removed(), { kind: 'due', batchId }, PLENTY), 'in its Target').rejects.toThrow(
      UnknownOperation,
    );
    await handleBatch({ ...kit, config: capped }, { kind: 'due', batchId }, PLENTY);
    await handleBatch(removed(), { kind: 'due', batchId }, PLENTY);
  });

  it('ends and releases the lock if its Target has no tasks', async () => {
    await electLeader(removed(), { kind: 'elect', target: where });
    const rows = await led(1);
    const guard = guardOf();
    await expect(group(removed(), guard, PLENTY)).rejects.toThrow(UnknownOperation);
    expect((await kit.locks.read(where)).holder).toBe(guard.token);
    const [first] = await kit.waiting.first(where, 1);
    if (first) await kit.waiting.remove(where, [first.entry]);
    await group(removed(), guard, PLENTY);
    expect((await kit.locks.read(where)).holder).toBeUndefined();
    await group(removed(), guard, PLENTY);
    await group(removed(), { ...guard, fence: guard.fence + 1, token: token('next') }, PLENTY);
    expect((await kit.locks.read(where)).fence).toBe(guard.fence);
    expect(rows).toHaveLength(1);
  });

  it('comes back if its Target has an open batch or is blocked', async () => {
    await led(1);
    const guard = guardOf();
    const open = { batch: batchIdOf(where, 1, 1), round: 1, by: token('by'), until: kit.now + LEASE };
    await kit.locks.openBatch(where, guard, open);
    const [first] = await kit.waiting.first(where, 1);
    if (first) await kit.waiting.remove(where, [first.entry]);
    await expect(electLeader(removed(), { kind: 'elect', target: where })).rejects.toThrow(UnknownOperation);
    await kit.locks.closeBatch(where, open.batch);
    await kit.locks.block(where, guard, { round: 1, at: kit.now });
    await expect(group(removed(), guard, PLENTY)).rejects.toThrow(UnknownOperation);
  });

  it('comes back if its Target has tasks', async () => {
    await registered(1);
    await expect(electLeader(removed(), { kind: 'elect', target: where })).rejects.toThrow(UnknownOperation);
    await electLeader(kit, { kind: 'elect', target: where });
    kit.now += 10 * LEASE;
    const late = { ...guardOf(), fence: 2, token: token('late') };
    await expect(group(removed(), late, PLENTY)).rejects.toThrow(UnknownOperation);
  });
});
