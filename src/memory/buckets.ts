/** Buckets of limits, and their queues, in memory. */
import type { Millis } from '../domain/ids.ts';
import { NEW_BUCKET } from '../domain/limits/bucket.ts';
import { type BucketId, bucketPrefix } from '../domain/limits/bucket-id.ts';
import { groupOf } from '../domain/limits/limits.ts';
import type { WaitingCall } from '../domain/limits/queue.ts';
import type { Buckets } from '../ports/buckets.ts';
import { type Gate, through } from '../virtual/gate.ts';
import { DYNAMODB, limited } from './limits.ts';
import { pageOf, type Tables } from './tables.ts';

/** @param now the time on the store's clock, as the process knows it. */
export const memoryBuckets = (tables: Tables, gate: Gate, now: () => Millis): Buckets => {
  const queueOf = (id: BucketId): Map<string, WaitingCall> => {
    const queue = tables.waitingCalls.get(id) ?? limited(new Map<string, WaitingCall>(), DYNAMODB.sortKey);
    tables.waitingCalls.set(id, queue);
    return queue;
  };
  return {
    now,
    read: (id) => through(gate, 'buckets.read', () => tables.buckets.get(id) ?? NEW_BUCKET),
    list: (limit, most, cursor, key) =>
      through(gate, 'buckets.list', () => {
        const isOf = (id: BucketId): boolean =>
          groupOf(id) === bucketPrefix(limit) && id.startsWith(bucketPrefix(limit, key));
        return pageOf([...tables.buckets.keys()].filter(isOf).sort(), most, cursor);
      }),
    write: (id, seen, next) =>
      through(gate, 'buckets.write', () => {
        const before = tables.buckets.get(id) ?? NEW_BUCKET;
        if (before.turn !== seen) return false;
        tables.buckets.set(id, { ...next, turn: seen + 1 });
        return true;
      }),
    enqueue: (id, waiting) => through(gate, 'buckets.enqueue', () => void queueOf(id).set(waiting.entry, waiting)),
    waiting: (id, { after, upTo }, limit) =>
      through(gate, 'buckets.waiting', () =>
        [...queueOf(id).values()]
          .filter(({ entry }) => entry > after && entry <= upTo)
          .sort((a, b) => (a.entry < b.entry ? -1 : 1))
          .slice(0, limit),
      ),
  };
};
