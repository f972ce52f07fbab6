/** Moments that a leader was granted, and that its batch does not need. */
import { expect, it } from 'vitest';
import type { GroupMessage } from '../../src/domain/batches/messages.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { LimitName } from '../../src/domain/ids.ts';
import { type Grant, NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { group } from '../../src/steps/lead/group.ts';
import { aConfig, aTask, NOW, target, token } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, stepKit } from '../steps/step-kit.ts';

const BUCKET = 'limit:vendor' as BucketId;
const WHERE = target('ship/depot=MUC');
const vendor = {
  calls: null,
  weight: null,
  per: 1_000,
  burst: 1,
  key: null,
  concurrency: { calls: 1, weight: null },
};
const config: Config = {
  ...aConfig({ limits: ['vendor' as LimitName], concurrency: { perTarget: null, total: 1 } }),
  limits: Object.fromEntries([['vendor', vendor]]),
};

/** A leader of the Target that was granted the only call in progress. */
const leader = async () => {
  const kit = stepKit(memoryStores(), config);
  const mine = { fence: 1, token: token('leader') };
  await kit.locks.acquire(WHERE, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW + 945_000 });
  const line = {
    since: NOW,
    pace: { calls: null, weight: null, per: 1_000, burst: 1 },
    callsAt: NOW,
    weightAt: NOW,
    starts: [],
  };
  await kit.buckets.write(BUCKET, 0, {
    ...NEW_BUCKET,
    line,
    leases: [{ id: 'lease', weight: 1, until: NOW + 300_000 }],
  });
  const grant: Grant = { bucket: BUCKET, at: NOW + 500, line: NOW, weight: 1, lease: 'lease' };
  const message: GroupMessage = { target: WHERE, ...mine, hint: true, granted: { grants: [grant], round: 0 } };
  const leases = async () => (await kit.buckets.read(BUCKET)).leases.map(({ id }) => id);
  return { kit, mine, message, leases };
};

it('the lease of a granted moment ends if all tasks of the Target have ended', async () => {
  const { kit, message, leases } = await leader();
  await group(kit, message, PLENTY);
  expect((await kit.locks.read(WHERE)).holder).toBeUndefined();
  expect(await leases()).toEqual([]);
});

it('the lease stays if another delivery of the message has opened a batch with the moment', async () => {
  const { kit, mine, message, leases } = await leader();
  const release: typeof kit.locks.release = async (where, by) => {
    const opening = { batch: 'ship/depot=MUC#1#1' as never, round: 1, by: token('other'), until: NOW + 945_000 };
    await kit.locks.openBatch(where, mine, { ...opening, perTarget: null, largestCap: undefined, uncountedAt: NOW });
    await kit.locks.closeBatch(where, opening.batch);
    return kit.locks.release(where, by);
  };
  await group({ ...kit, locks: { ...kit.locks, release } }, message, PLENTY);
  expect((await kit.locks.read(WHERE)).round).toBe(1);
  expect(await leases()).toEqual(['lease']);
});

it('the lease ends if the operation has no free slot, so that another Target may call', async () => {
  const { kit, message, leases } = await leader();
  const task = { ...aTask(), run: 1, payloadApart: false, state: { status: 'created' } } as const;
  await kit.tasks.insert([task]);
  await kit.waiting.put([task]);
  await kit.operations.takeSlot(task.operation, slotOf(target('ship/depot=JFK'), 1, 1), 1);
  kit.now = NOW + 60_000;
  await group(kit, message, PLENTY);
  expect((await kit.locks.read(WHERE)).blocked).toBeDefined();
  expect(await leases()).toEqual([]);
});
