import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { LimitName } from '../../src/domain/ids.ts';
import { type Bucket, NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { aConfig, batchId, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const NONE = { calls: null, weight: null };
const vendor = { calls: 5, weight: 100, per: 60_000, burst: 2, key: ['depot'], concurrency: { calls: 2, weight: 90 } };
const paced = { calls: 250, weight: null, per: 1_000, burst: 1, key: null, concurrency: NONE };
const perTarget = { ...paced, calls: 1, key: 'target' } as const;
const config: Config = {
  ...aConfig({ limits: ['vendor', 'each'] as LimitName[] }, {
    operation: operationName('label'),
    limits: ['vendor', 'paced'] as LimitName[],
  } satisfies Partial<Operation>),
  limits: Object.fromEntries(Object.entries({ vendor, paced, each: perTarget })),
};
const pace = { calls: 5, weight: 100, per: 60_000, burst: 2 };
const line = { since: NOW, pace, callsAt: NOW + 24_000, weightAt: NOW, starts: [{ at: NOW, calls: 2, weight: 60 }] };

const kitAnd = () => {
  const kit = stepKit(memoryStores(), config);
  const app = api({ ...kit, newId: () => 'new', onError: console.error });
  const ask = async (path: string) => (await app.request(`/v1${path}`)).json() as Promise<Record<string, unknown>>;
  const write = (id: string, bucket: Partial<Bucket>) =>
    kit.buckets.write(id as BucketId, 0, { ...NEW_BUCKET, ...bucket });
  return { kit, ask, write };
};

it('limits are listed as they are configured, with the operations that name them', async () => {
  const { ask } = kitAnd();
  expect(await ask('/limits')).toEqual({
    limits: [
      {
        limit: 'vendor',
        operations: ['ship', 'label'],
        calls: 5,
        weight: 100,
        perSeconds: 60,
        burst: 2,
        key: ['depot'],
        concurrency: { calls: 2, weight: 90 },
      },
      { limit: 'paced', operations: ['label'], calls: 250, perSeconds: 1, burst: 1 },
      { limit: 'each', operations: ['ship'], calls: 1, perSeconds: 1, burst: 1, key: 'target' },
    ],
  });
  expect(await ask('/limits/none')).toMatchObject({ status: 404 });
});

it('a bucket shows what is used, when the next call may start, and who waits', async () => {
  const { kit, ask, write } = kitAnd();
  await write('limit:vendor#depot=M%C3%9CC', {
    line,
    leases: [
      { id: 'a', weight: 30, until: NOW + 5_000 },
      { id: 'over', weight: 30, until: NOW },
    ],
  });
  const [, details] = [await ask('/limits'), await ask('/limits/vendor')];
  expect(details.buckets).toEqual([
    {
      key: 'depot=M%C3%9CC',
      nextAt: new Date(NOW + 11_880).toISOString(),
      calls: { used: 2, allowed: 5 },
      weight: { used: 60, allowed: 100 },
      inProgress: { used: 1, allowed: 2 },
      weightInProgress: { used: 30, allowed: 90 },
      waiting: 0,
      next: [],
    },
  ]);
  const row = { operation: operationName('ship'), target: target('ship/depot=MUC'), since: NOW - 9_000, weight: 7 };
  const batch = { id: batchId('ship/depot=MUC#1#1'), attempt: 2 };
  const id = 'limit:vendor#depot=MUC' as BucketId;
  await write(id, { line, leases: ['a', 'b'].map((lease) => ({ id: lease, weight: 1, until: NOW + 5_000 })) });
  await kit.buckets.enqueue(id, { ...row, entry: 'a#1', batch });
  // A Target may put another row after a while.
  for (const name of ['HAM', ...Array.from({ length: 99 }, (_, n) => `${n}`), 'HAM'])
    await kit.buckets.enqueue(id, { ...row, target: target(`ship/depot=${name}`), entry: `f#${name}` });
  const { buckets } = (await ask('/limits/vendor?key=depot%3DMU')) as { buckets: Record<string, unknown>[] };
  expect(buckets).toHaveLength(1);
  expect(buckets[0]).not.toHaveProperty('nextAt');
  expect(buckets[0]).toMatchObject({ waiting: 100, waitingIsAtLeast: true });
  const waits = { since: new Date(NOW - 9_000).toISOString(), weight: 7 };
  const [first, ...others] = (buckets[0] as { next: object[] }).next;
  expect(first).toEqual({ ...waits, target: 'ship/depot=MUC', batchId: batch.id });
  expect(others).toHaveLength(9);
  expect(others[0]).toEqual({ ...waits, target: 'ship/depot=0' });
});

it('the next call may start when the first waiting call fits, not any lighter one', async () => {
  const { kit, ask, write } = kitAnd();
  const id = 'limit:vendor#depot=MUC' as BucketId;
  await write(id, { leases: [{ id: 'a', weight: 80, until: NOW + 5_000 }] });
  const nextAt = async () => ((await ask('/limits/vendor')).buckets as { nextAt?: string }[])[0]?.nextAt;
  expect(await nextAt()).toBe(new Date(NOW).toISOString());
  const row = { operation: operationName('ship'), target: target('ship/depot=MUC'), since: NOW, weight: 20 };
  await kit.buckets.enqueue(id, { ...row, entry: 'f#1' });
  expect(await nextAt()).toBeUndefined();
});

it('buckets are shown page by page, with the part of a divided limit', async () => {
  const { ask, write } = kitAnd();
  const next = { nextAt: new Date(NOW).toISOString(), waiting: 0, next: [] };
  for (const part of [0, 1, 2]) await write(`limit:paced~${part}`, {});
  const first = await ask('/limits/paced?limit=2');
  expect(first.buckets).toEqual([
    { part: 0, ...next },
    { part: 1, ...next },
  ]);
  const second = await ask(`/limits/paced?limit=2&cursor=${first.cursor}`);
  expect(second.buckets).toEqual([{ part: 2, ...next }]);
  expect(second).not.toHaveProperty('cursor');
  await write('limit:each#ship/depot=A%2FB~2', {});
  expect((await ask('/limits/each')).buckets).toEqual([{ key: 'ship/depot=A%2FB~2', ...next }]);
});
