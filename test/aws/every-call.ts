/** Calls every method of every port on tables at least once. */

import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { type LimitName, operationOf } from '../../src/domain/ids.ts';
import { NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { type ClaimId, type ClaimKey, claimKeyOf, type ListId, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { freed, leased } from '../../src/domain/lists/list.ts';
import type { InputKey } from '../../src/domain/merging/inputs.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import type { PatrolMarks } from '../../src/ports/locks.ts';
import { aPostponed, aStart, aTask, candidate, NOW, operationName, token } from '../factories/factories.ts';
import { aNode, fleet, nodeOf, partition } from '../factories/fleets.ts';
import { fresh } from '../ports/names.ts';
import type { Stores } from '../ports/stores.ts';

type Port =
  | 'tasks'
  | 'waiting'
  | 'locks'
  | 'batches'
  | 'operations'
  | 'buckets'
  | 'fanOuts'
  | 'lists'
  | 'fleets'
  | 'processed';
export type Ports = Pick<Stores, Port> & {
  readonly patrolMarks: PatrolMarks;
  /** Not a port: what a local start reads first. */
  readonly recovery: { voidLeases(): Promise<unknown>; voidAttempts(): Promise<unknown> };
};

/**
 * Calls every method of every port. A method that reads only when it is refused is called a second time, so that it is
 * refused.
 */
export const callAll = async (ports: Ports): Promise<void> => {
  const { tasks, waiting, locks, batches, operations, buckets, processed, patrolMarks, recovery } = ports;
  const { t, target, batch } = fresh();
  const task = aTask({ id: t(1), target, payload: `{"s":"${'x'.repeat(2_000)}"}` });
  const end = { id: batch, target, attempts: 1, at: NOW, keep: 1_000 };
  const error = { code: 'bad', message: 'm', retriable: false };
  for (const _ of ['done', 'refused']) {
    await tasks.insert([task]);
    await tasks.storePayloads([{ ...task, run: 1 }]);
    await tasks.claim([candidate(t(1))], batch);
    await tasks.touch(t(1), batch);
    await tasks.members([t(1)], batch);
    await tasks.readEventually([t(1)], batch);
    await tasks.payload(t(1));
    await tasks.finish([{ id: t(1), outcome: { status: 'failed', error } }], end);
  }
  const settlement = { task: { id: t(1), run: 1, target }, as: { status: 'failed', error } as const };
  await tasks.settle([settlement], { at: NOW, keep: 1_000 });
  await tasks.all([t(1)]);
  await tasks.outlines([t(1)]);
  await tasks.failed(target, 9);
  await tasks.failedAnywhere(9);
  await tasks.failures(undefined, 9);
  const failed = (await tasks.get(t(1))) as Task;
  for (const _ of ['done', 'refused']) await tasks.redrive([failed], NOW);

  const [operation, slot] = [operationName(`op-${target.length}`), slotOf(target, 1, 1)];
  const pause = { id: 'p', by: 'circuit', since: NOW } as const;
  for (const _ of ['done', 'refused']) {
    await operations.takeSlot(operation, slot, 1);
    await operations.takeSlot(operation, slot, 1, 1);
    await operations.takeOnlyPage(operation, slot, 1);
    await operations.noteCap(operation, 20);
    await operations.slotPages(operation, 20);
    await operations.slotPagesEventually(operation, 20);
    await operations.slotPage(operation, 1);
    await operations.freeSlot(operation, slot, 1);
    await operations.freeSlot(operation, slot);
    await operations.isWaiting(operation, { target, at: NOW, fence: 1 });
    await operations.enqueue(operation, { target, at: NOW, fence: 1 });
    await operations.waiting(operation, 9);
    await operations.dequeue(operation, { target, at: NOW, fence: 1 });
    await operations.pause(operation, pause);
    await operations.resume(operation, pause.id, NOW);
    await operations.addFailure(operation);
    await operations.markThrottled(operation, NOW);
    await operations.resetFailures(operation);
    await operations.noteAnswers(operation, 'without-results');
    await operations.markWaking(operation, undefined, { id: 'waking', at: NOW });
    await operations.read(operation);
  }

  await waiting.put([{ ...task, run: 1 }]);
  const [row] = await waiting.first(target, 9);
  await waiting.has(target, row?.entry ?? '');
  await waiting.page(target, 9);
  await waiting.count(target, 9);
  await locks.readEventually(target);
  await waiting.remove(target, [row?.entry ?? '']);

  const [mine, next] = [
    { fence: 2, token: token('a') },
    { fence: 3, token: token('b') },
  ];
  for (const _ of ['done', 'refused']) {
    await locks.enlist([target], NOW);
    await locks.skipFence(target, 1, 0, NOW);
    await locks.acquire(target, { ...mine, seen: { fence: 1 }, now: NOW, until: NOW + 1 });
    await locks.handOver(target, mine, { token: next.token, seen: { fence: 2 }, now: NOW, until: NOW + 1 });
    await locks.extend(target, next, NOW + 1);
    await locks.openBatch(target, next, { batch, round: 1, by: token('turn'), until: NOW + 1 });
    await locks.closeBatch(target, batch, NOW);
    await locks.count(target, next, [batch]);
    await locks.counted(target, next, NOW);
    await locks.releaseSlot(target, batch);
    await locks.block(target, next, { round: 1, at: NOW });
    await locks.pause(target, { id: 'p', by: 'person', since: NOW });
    await locks.resume(target, 'p', NOW);
    await locks.keep(target, NOW);
    await locks.noteCall(target, 'failed', NOW);
    await locks.release(target, next);
    await locks.blockUnled(target, { fence: 3, at: NOW });
    await locks.flush(target, NOW);
    await locks.takeSlot(target, slot, 1, 1);
    await locks.slotPages(target, 20);
    await locks.slotPagesEventually(target, 20);
    await locks.slotPage(target, 1);
    await locks.freeSlot(target, slot, 1);
    await locks.dropPages(target, [1]);
  }
  const bucket = 'limit:vendor#depot=MUC' as BucketId;
  for (const turn of [0, 0]) await buckets.write(bucket, turn, NEW_BUCKET);
  await buckets.enqueue(bucket, { entry: 'f#1#1#a', operation, target, since: NOW, weight: 1 });
  await buckets.waiting(bucket, { after: 'f#', upTo: 'f#~' }, 9);
  await buckets.read(bucket);
  await buckets.list('vendor' as LimitName, 9);
  await locks.read(target);
  await locks.readAll([target]);
  await locks.targets(operationName('ship'), 9);

  for (const _ of ['done', 'refused']) {
    const candidates = [candidate(t(1))];
    const formed = { id: batch, target, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW } as const;
    await batches.seal(await batches.form(formed), [], NOW, 1_000);
    await batches.start(batch, aStart(1, NOW, NOW));
    for (const isUncounted of [false, true])
      await batches.hold(batch, { by: token('look'), span: 1, isUncounted, after: token('before') });
    await batches.postpone(batch, 1, aPostponed(NOW));
    await batches.place(batch);
    const counts = { succeeded: 0, failed: 1 };
    await batches.finish(batch, 1, { status: 'failed', counts, at: NOW, keep: 1_000 });
  }
  await batches.get(batch);
  await batches.ofTarget(target, 9);
  await batches.underWay(operationOf(target), 9);
  await locks.everyTarget(9);

  await processed.remember(target, [{ key: '"a"' as InputKey, marks: [] }], NOW, 1_000);
  await processed.known(target, ['"a"' as InputKey], NOW);

  await patrolMarks.write({ operation: operationName('ship'), seen: 1, lastRound: 1 });
  await patrolMarks.read();
  await recovery.voidLeases();
  await recovery.voidAttempts();
  await callFanOuts(ports);
  await callLists(ports);
  await callFleets(ports);
};

const callFanOuts = async ({ fanOuts }: Ports): Promise<void> => {
  const id = fanOutId(`f-${fresh().t(1)}`) as FanOutId;
  const [group, slots] = [
    { level: 0, n: 0 },
    { slots: new Map([[0, true]]), failed: 0, at: NOW },
  ];
  for (const _ of ['done', 'refused']) {
    await fanOuts.open({ id, createdAt: NOW }, NOW);
    await fanOuts.reserve(id, token('a'), { first: 0, count: 3, groups: 1, openedAt: NOW, at: NOW });
    await fanOuts.putGroups(id, [{ n: 0, size: 3 }], NOW);
    await fanOuts.ack(id, group, slots);
    await fanOuts.putNode(id, { level: 1, n: 0 }, slots);
    await fanOuts.noteFails(id, ['0:1'], 0);
    await fanOuts.beginSum(id, undefined, NOW);
    await fanOuts.correct(id, 0, [0], NOW);
    await fanOuts.noteCorrection(id);
    await fanOuts.forgetFails(id, ['0:9']);
    await fanOuts.noteFailedGroup(id, undefined, 0);
    await fanOuts.note(id, { notice: 'first-failure', firstFailure: { item: 'f:0:0' as never, at: NOW } }, NOW);
    await fanOuts.noticeSent(id, 'first-failure');
    await fanOuts.seal(id, NOW);
    await fanOuts.checkAgain(id, NOW, { checkAt: NOW + 1 });
    const ending = { status: 'complete', from: ['sealed'], because: 'all-done', failed: 0 } as const;
    await fanOuts.end(id, { ...ending, at: NOW, checkAt: NOW, event: { to: 'ops', event: '{}' } });
    await fanOuts.forgetEvent(id, NOW);
    await fanOuts.bury(id, NOW);
  }
  await fanOuts.read(id);
  await fanOuts.reservation(id, token('a'));
  await fanOuts.itemKeys([id]);
  await fanOuts.node(id, group);
  await fanOuts.counts(id, [group]);
  await fanOuts.due(NOW, 9);
  await fanOuts.page(9);
  await fanOuts.removeNodes(id, [group]);
};

/** Puts a claim into a row of its own, renews it, and moves its jobs back. */
const callApart = async (lists: Stores['lists'], id: ListId, key: ClaimKey): Promise<void> => {
  const apart = { count: 1, until: NOW };
  const lease = leased(key, 0, { first: 0, count: 1, deliveries: 1, isSuspect: false }, NOW);
  const stored = { key, leases: [lease] };
  await lists.putApart(id, stored, { from: [], to: [], gone: [], apart: 'none', becomes: apart });
  await lists.claimApart(id, key);
  await lists.claimsApart(id);
  await lists.changeApart(id, stored, stored.leases);
  const becomes = { count: 0, until: NOW };
  await lists.gather(id, [{ claim: stored, keep: [] }], [freed(lease, lease)], { was: apart, becomes });
  await lists.changeApart(id, stored, []);
};

const callLists = async ({ lists }: Ports): Promise<void> => {
  const id = listId(`l-${fresh().t(1)}`) as ListId;
  const name = token('a');
  const claim = claimKeyOf('a' as ClaimId);
  const [first, second] = [
    { count: 2, first: 0 },
    { count: 2, first: 2 },
  ];
  for (const _ of ['done', 'refused']) {
    await lists.open({ id: trackerOf(id), createdAt: NOW }, NOW);
    await lists.beginAppend(id, name, { count: 2, hash: 'h' });
    await lists.putJobs(id, name, ['{"n":0}', '{"n":1}']);
    await lists.publish(id, name, { ...first, at: NOW });
    const wanted = leased(claim, 0, { first: 0, count: 1, deliveries: 1, isSuspect: false }, NOW);
    const holder = { since: NOW, name: 'worker' };
    const lease = await lists.leaseFresh(id, wanted, { total: 2, most: 1, begins: { claim, holder }, apart: 'none' });
    if (lease) await lists.change(id, { from: [lease], to: [], gone: [] });
    await callApart(lists, id, claim);
    const ranges = [{ first: 1, count: 1 }];
    await lists.take(id, name, { ranges, from: [], head: 1, fresh: 1, wanted: '1 jobs', gone: [] });
    await lists.putResults(id, [{ token: 0, outcome: 'succeeded' }]);
  }
  await lists.beginAppend(id, token('b'), { count: 2, hash: 'h' });
  await lists.putJobs(id, token('b'), ['{"n":2}', '{"n":3}']);
  await lists.publish(id, token('b'), { ...second, at: NOW });
  await lists.read(id);
  await lists.page(9);
  await lists.append(id, name);
  // Jobs of one addition, and of two.
  for (const range of [
    { first: 1, count: 1 },
    { first: 1, count: 3 },
  ])
    await lists.jobs(id, [range]);
  await lists.trigger(id, name);
  await lists.noteAmount(id, name, '1 jobs');
  await lists.goOn(id, name, 1);
  await lists.results(id, { first: 0, count: 2 });
  await lists.clear(id, 1, 0, { mayGoOn: () => true, isSettled: true });
};

const callFleets = async ({ fleets }: Ports): Promise<void> => {
  const name = fleet(`f-${fresh().t(1)}`);
  const [a, b] = [nodeOf('a'), nodeOf('b')];
  const lease = { partition: partition('p'), fence: 1, owner: a };
  for (const _ of ['done', 'refused']) {
    await fleets.join(name, aNode({ key: a }));
    await fleets.beat(name, aNode({ key: a, beat: 1 }));
    await fleets.take(name, { partition: lease.partition, fence: 0 }, a, NOW);
    await fleets.pin(name, lease.partition, b);
    await fleets.ask(name, lease, b);
    await fleets.decline(name, lease, b);
    await fleets.checkpoint(name, lease, 'c', 1);
    await fleets.open(name, { ...lease, checkpoint: 'c' });
    await fleets.checkpoint(name, { ...lease, checkpointApart: true }, 'd', 1);
    await fleets.checkpointOf(name, lease.partition);
    await fleets.separate(name);
    await fleets.handOver(name, lease, b, NOW);
    await fleets.drain(name, a, true);
    await fleets.evict(name, a, 1, NOW);
  }
  await fleets.read(name);
  await fleets.names();
  await fleets.leave(name, a);
};
