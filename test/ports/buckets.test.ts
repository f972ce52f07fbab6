/** The contract of the store of buckets: every implementation behaves in the same way. */
import { expect, it } from 'vitest';
import type { LimitName } from '../../src/domain/ids.ts';
import { type Bucket, NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import type { WaitingCall } from '../../src/domain/limits/queue.ts';
import { batchId, NOW, operationName, target, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { storeKinds } from './stores.ts';

let made = 0;
const fresh = (): BucketId => {
  made += 1;
  return `limit:vendor-${made}#account=${NOW + made}` as BucketId;
};

const full: Bucket = {
  turn: 0,
  by: token('writer'),
  line: {
    since: NOW,
    pace: { calls: 10, weight: null, per: 60_000, burst: 2 },
    callsAt: NOW + 0.25,
    weightAt: NOW,
    starts: [{ at: NOW, calls: 2, weight: 0.5 }],
  },
  leases: [{ id: 'lease', weight: 3, until: NOW + 9 }],
  segment: 7,
  passed: { again: 'a#1', fresh: '' },
  granter: { id: token('next'), at: NOW + 5 },
  last: { id: token('before'), from: { again: '', fresh: '' } },
  recent: ['leader#1'],
};

const row = (entry: string, more: Partial<WaitingCall> = {}): WaitingCall => ({
  entry,
  operation: operationName('ship'),
  target: target('ship/depot=MUC'),
  since: NOW,
  weight: 2,
  ...more,
});

describeEach('buckets', storeKinds, (stores) => {
  it('are empty at first, and hold all that was written', async () => {
    const [id, { buckets }] = [fresh(), stores()];
    expect(await buckets.read(id)).toEqual(NEW_BUCKET);
    expect(await buckets.write(id, 0, full)).toBe(true);
    expect(await buckets.read(id)).toEqual({ ...full, turn: 1 });
    expect(await buckets.write(id, 1, { ...NEW_BUCKET, segment: 8 })).toBe(true);
    expect(await buckets.read(id)).toEqual({ ...NEW_BUCKET, segment: 8, turn: 2 });
  });

  it('are written by one of the functions that read the same turn', async () => {
    const [id, { buckets }] = [fresh(), stores()];
    const written = await Promise.all([1, 2, 3].map((segment) => buckets.write(id, 0, { ...NEW_BUCKET, segment })));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await buckets.write(id, 0, full), 'an outdated turn').toBe(false);
    expect(await buckets.write(id, 2, full), 'a turn that is yet to come').toBe(false);
    expect(await buckets.write(id, 1, full)).toBe(true);
  });

  it('list those who wait in order, after one row and up to another', async () => {
    const [id, { buckets }] = [fresh(), stores()];
    const rows = [
      row('a#1', { batch: { id: batchId('ship/depot=MUC#1#1'), attempt: 2 } }),
      row('f#1', { leader: { token: token('leader'), round: 3 } }),
      row('f#2'),
      row('f#3'),
    ];
    for (const each of rows.toReversed()) await buckets.enqueue(id, each);
    expect(await buckets.waiting(id, { after: '', upTo: '~' }, 9)).toEqual(rows);
    expect(await buckets.waiting(id, { after: 'f#1', upTo: 'f#2' }, 9)).toEqual([rows[2]]);
    expect(await buckets.waiting(id, { after: 'f#', upTo: 'f#~' }, 2)).toEqual([rows[1], rows[2]]);
    expect(await buckets.waiting(fresh(), { after: '', upTo: '~' }, 9)).toEqual([]);
  });

  it('are listed for their limit, by key, and are no Targets', async () => {
    const { buckets, locks } = stores();
    made += 1;
    const name = `listed-${made}` as LimitName;
    const ids = ['account=17', 'account=18', 'shop=1'].map((key) => `limit:${name}#${key}` as BucketId);
    const others = [`limit:${name}-2`, `limit:${name}-2#account=17`] as BucketId[];
    for (const id of [...ids.toReversed(), ...others]) expect(await buckets.write(id, 0, full)).toBe(true);
    expect((await buckets.list(name, 9)).items).toEqual(ids);
    expect((await buckets.list(name, 9, undefined, 'account=1')).items).toEqual(ids.slice(0, 2));
    expect((await buckets.list(name, 9, undefined, 'account=19')).items).toEqual([]);
    const first = await buckets.list(name, 2);
    expect(first.items).toEqual(ids.slice(0, 2));
    expect((await buckets.list(name, 2, first.cursor)).items).toEqual(ids.slice(2));
    const found: string[] = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await locks.everyTarget(100, cursor);
      found.push(...page.items);
      cursor = page.cursor;
    }
    expect(found.filter((each) => each.startsWith('limit:'))).toEqual([]);
  });
});
