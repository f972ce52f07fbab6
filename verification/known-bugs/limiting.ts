/** Bugs in limits of calls. */
import type { Token } from '../../src/domain/ids.ts';
import type { Bucket } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import type { Buckets } from '../../src/ports/buckets.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as scenarios from './scenarios.ts';

/** Every function uses other buckets. */
const withBuckets = (change: (buckets: Buckets) => Partial<Buckets>): Bug => {
  const changed = <Deps extends { readonly buckets: Buckets }>(deps: Deps): Deps => ({
    ...deps,
    buckets: { ...deps.buckets, ...change(deps.buckets) },
  });
  return {
    electLeader: (deps, message, delivery) => electLeader(changed(deps), message, delivery),
    group: (deps, message, delivery) => group(changed(deps), message, delivery),
    handleBatch: (deps, message, delivery) => handleBatch(changed(deps), message, delivery),
  };
};

/** A moment is granted, but the line is stored as before, so that others are granted the moment too. */
const momentsNotStored = withBuckets((buckets) => ({
  write: (id, seen, { line, ...next }) =>
    buckets.write(id, seen, { ...next, ...(line ? { line: { ...line, callsAt: line.since } } : {}) }),
}));

/** The bucket is replaced although another function has changed it since it was read. */
const bucketsOverwritten = withBuckets((buckets) => ({
  write: async (id, _, next) => buckets.write(id, (await buckets.read(id)).turn, next),
}));

/** A Target that waits does not check whether anybody grants moments to it. */
const granterAssumed = withBuckets((buckets) => {
  let hasJoined = false;
  const withGranter = (bucket: Bucket): Bucket =>
    hasJoined ? { ...bucket, granter: { id: 'nobody' as Token, at: buckets.now() } } : bucket;
  return {
    enqueue: async (id, waiting) => {
      await buckets.enqueue(id, waiting);
      hasJoined = true;
    },
    read: async (id) => withGranter(await buckets.read(id)),
  };
});

/** A Target puts its row where the granter has been. */
const rowsPutBehind = withBuckets((buckets) => ({
  enqueue: (id, waiting) =>
    buckets.enqueue(id, { ...waiting, entry: waiting.entry.replace(/#\d{10}#/, `#${'0'.repeat(10)}#`) }),
}));

/** The chain's next message is not sent. */
const chainBroken: Bug = {
  electLeader: (deps, message, delivery) =>
    electLeader(
      message.kind === 'grant' ? { ...deps, queues: { ...deps.queues, grant: async () => {} } } : deps,
      message,
      delivery,
    ),
};

/** A batch calls however long ago its moment was. */
const lateMomentsUsed: Bug = {
  handleBatch: async (deps, message, delivery) => {
    const batch = message.kind === 'due' ? await deps.batches.get(message.batchId) : undefined;
    const own = batch?.attempt === 0 ? (batch.grants ?? []) : [];
    const latest = Math.max(0, ...own.map(({ at }) => at));
    const now = (): number => (latest > 0 ? Math.min(latest, deps.buckets.now()) : deps.buckets.now());
    return handleBatch({ ...deps, buckets: { ...deps.buckets, now } }, message, delivery);
  },
};

/** As in an earlier version: another call of an attempt drops the leases of all others. */
const leasesDropped: Bug = {
  handleBatch: (deps, message, delivery) => {
    const { buckets } = deps;
    const before = new Set<string>();
    const read: Buckets['read'] = async (id) => {
      const bucket = await buckets.read(id);
      for (const lease of bucket.leases) before.add(lease.id);
      return bucket;
    };
    const write: Buckets['write'] = (id: BucketId, seen, next) =>
      buckets.write(id, seen, { ...next, leases: next.leases.filter((lease) => !before.has(lease.id)) });
    return handleBatch({ ...deps, buckets: { ...buckets, read, write } }, message, delivery);
  },
};

/** As in an earlier version: a leader whose moments lie far ahead ends without a guard. */
const guardOfGrantedForgotten: Bug = {
  group: (deps, message, delivery) => {
    const sends: (typeof deps.queues)['group'] = async (sent, delay, ...rest) => {
      const isOwn = !sent.hint && sent.fence === message.fence && sent.token === message.token;
      if (!isOwn) await deps.queues.group(sent, delay, ...rest);
    };
    return group({ ...deps, queues: { ...deps.queues, group: sends } }, message, delivery);
  },
};

const calls = (count: number) => scenarios.underLimit({ calls: count });

export const LIMIT_BUGS: readonly KnownBug[] = [
  ['granted moments not stored', momentsNotStored, /calls stay within their limits/, calls(1)],
  ['buckets overwritten', bucketsOverwritten, /calls stay within their limits/, calls(3)],
  ['waiting Target does not look for a granter', granterAssumed, /waits for its limits no longer/, calls(1)],
  ['row put before the last granted one', rowsPutBehind, /waits for its limits no longer/, calls(1)],
  ['chain of grants broken', chainBroken, /waits for its limits no longer/, calls(1)],
  ['lapsed moments used', lateMomentsUsed, /calls stay within their limits/, scenarios.suspendedUnderLimit],
  ['leases of others dropped', leasesDropped, /calls in progress stay within/, scenarios.inProgressUnderLimit],
  ['waiting leader has no guard', guardOfGrantedForgotten, /a guard is deleted only after/, calls(1)],
];
