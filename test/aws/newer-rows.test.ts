/** Rows of a later release, as an earlier release finds them after a rollback (docs/how-to/upgrade.md). */
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SHARE_KEY } from '../../src/aws/dynamodb-shares.ts';
import { dynamoDBStage } from '../../src/aws/dynamodb-stage.ts';
import { dynamoDBPatrolMarks } from '../../src/aws/dynamodb-waiting.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import { FULL_SIZE } from '../../src/domain/fan-outs/tree.ts';
import type { FleetName, NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Token } from '../../src/domain/ids.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { type ClaimKey, type ListId, trackerOf } from '../../src/domain/lists/ids.ts';
import type { InputKey } from '../../src/domain/merging/inputs.ts';
import { NewerRow } from '../../src/ports/rows.ts';
import { entryKey } from '../../src/rows/audit-rows.ts';
import { batchKey } from '../../src/rows/batch-rows.ts';
import { bucketKey, queueKey } from '../../src/rows/bucket-rows.ts';
import { headerKey, nodeRow, tokenKey } from '../../src/rows/fan-out-rows.ts';
import { checkpointKey, leaseKey, nodeKeyOf } from '../../src/rows/fleet-rows.ts';
import type { Item } from '../../src/rows/item.ts';
import { appendKey, claimKey, jobsKey, resultKey, segmentKey, triggerKey } from '../../src/rows/list-rows.ts';
import { lockKey, PATROL_KEY, STAGE_KEY, slotPageKey, waitingKey } from '../../src/rows/lock-rows.ts';
import { operationKey, partitionOf, waitingTargetKey } from '../../src/rows/operation-rows.ts';
import { ROW_KINDS, type RowKind } from '../../src/rows/row-version.ts';
import { newTaskRow, payloadRow } from '../../src/rows/task-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask, batchId, candidate, id, NOW, operationName } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, type Stores } from '../ports/stores.ts';

let resources: Resources;
let stores: Stores;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => stores.stop());

type Table = keyof Resources['tables'];

interface Case {
  readonly table: Table;
  readonly rows: readonly Item[];
  /** Rows of this release. */
  readonly beside?: readonly Item[];
  /** Each call reads or writes the row, and has not read it before. */
  readonly attempts: readonly (() => Promise<unknown>)[];
}

const LATER = 2;
const { target } = fresh();
const { target: waitsFor } = fresh();
const ship = operationName('newer-ship');
const bucket = 'limit:newer' as BucketId;
const [t, list, fleet] = ['newer' as Token, 'newer' as ListId, 'newer' as FleetName];
const fanOut = 'newer' as FanOutId;
const lease = { partition: 'p' as PartitionId, fence: 1 };
const position = { level: 0, n: 0 };
const pause = { id: 'p-2', by: 'person', since: NOW } as const;
const task = aTask({ id: id('newer-1') });
const large = aTask({ id: id('newer-2'), payload: JSON.stringify('x'.repeat(2_000)) });
const batch = batchId('newer#1#1');
const waiting = { target, at: NOW, fence: 1 };

const CASES = (): Record<Exclude<RowKind, 'fleet name'>, Case> => ({
  task: {
    table: 'task',
    rows: [newTaskRow(task)],
    attempts: [
      () => stores.tasks.get(task.id),
      () => stores.tasks.all([task.id]),
      () => stores.tasks.outlines([task.id]),
      () => stores.tasks.insert([task]),
      () => stores.tasks.claim([candidate(task.id)], batch),
      () => stores.tasks.members([task.id], batch),
      () => stores.tasks.payload(task.id),
    ],
  },
  payload: {
    table: 'task',
    rows: [payloadRow({ ...large, run: 1 })],
    beside: [{ ...newTaskRow(large), Status: 'batched', BatchId: batch }],
    attempts: [() => stores.tasks.members([large.id], batch), () => stores.tasks.payload(large.id)],
  },
  batch: { table: 'batch', rows: [batchKey(batch)], attempts: [() => stores.batches.get(batch)] },
  lock: {
    table: 'batchLock',
    rows: [{ ...lockKey(target), Fence: 1, Operation: 'ship' }],
    attempts: [
      () => stores.locks.read(target),
      () => stores.locks.readAll([target]),
      () => stores.locks.readEventually(target),
      () => stores.locks.flush(target, NOW),
      () => stores.locks.releaseSlot(target, batch),
      () => stores.locks.pause(target, pause),
      () => stores.locks.skipFence(target, 2, 1, NOW),
      () => stores.locks.acquire(target, { fence: 2, token: t, seen: { fence: 1 }, now: NOW, until: NOW + 1 } as never),
    ],
  },
  'waiting task': {
    table: 'batchLock',
    rows: [waitingKey(waitsFor, '1#a#1')],
    attempts: [
      () => stores.waiting.first(waitsFor, 10),
      () => stores.waiting.page(waitsFor, 10),
      () => stores.locks.readEventually(waitsFor),
    ],
  },
  operation: {
    table: 'batchLock',
    rows: [operationKey(ship)],
    attempts: [
      () => stores.operations.read(ship),
      () => stores.operations.takeSlot(ship, 's' as never, 5),
      () => stores.operations.takeOnlyPage(ship, 's' as never, 5),
      () => stores.operations.noteCap(ship, 20),
      () => stores.operations.freeSlot(ship, 's' as never),
      () => stores.operations.pause(ship, pause),
      () => stores.operations.addFailure(ship),
      () => stores.operations.resetFailures(ship),
      () => stores.operations.markWaking(ship, undefined, { id: 'waking', at: NOW }),
    ],
  },
  'slot page': {
    table: 'batchLock',
    rows: [slotPageKey(partitionOf(ship), 1), slotPageKey(target, 1)],
    attempts: [
      () => stores.operations.slotPages(ship, 20),
      () => stores.operations.slotPagesEventually(ship, 20),
      () => stores.operations.slotPage(ship, 1),
      () => stores.operations.takeSlot(ship, 's' as never, 5, 1),
      () => stores.operations.freeSlot(ship, 's' as never, 1),
      () => stores.locks.dropPages(target, [1]),
    ],
  },
  'waiting Target': {
    table: 'batchLock',
    rows: [waitingTargetKey(ship, waiting)],
    attempts: [() => stores.operations.waiting(ship, 10)],
  },
  bucket: { table: 'batchLock', rows: [bucketKey(bucket)], attempts: [() => stores.buckets.read(bucket)] },
  'waiting call': {
    table: 'batchLock',
    rows: [queueKey(bucket, 'f#1')],
    attempts: [() => stores.buckets.waiting(bucket, { after: 'f#', upTo: 'f#~' }, 10)],
  },
  'patrol mark': {
    table: 'batchLock',
    rows: [PATROL_KEY],
    attempts: [() => dynamoDBPatrolMarks(resources.clients.dynamodb, resources.tables.batchLock).read()],
  },
  stage: {
    table: 'batchLock',
    rows: [STAGE_KEY],
    attempts: [() => dynamoDBStage(resources.clients.dynamodb, resources.tables.batchLock).readMode()],
  },
  'share of destinations': {
    table: 'batchLock',
    rows: [SHARE_KEY],
    attempts: [() => stores.shares.read('now'), () => stores.shares.read('eventually')],
  },
  'processed key': {
    table: 'batchLock',
    rows: [{ Target: `done:${target}`, Entry: 'key#a', Marks: [], Until: NOW + 1 }],
    attempts: [() => stores.processed.known(target, ['a' as InputKey], NOW)],
  },
  'fan-out': {
    table: 'fanOut',
    rows: [
      { ...headerKey(fanOut), Status: 'open', CheckAt: NOW, Event: { To: 'a', Text: '{}' } },
      { ...headerKey(trackerOf(list)), Status: 'open' },
    ],
    attempts: [
      () => stores.fanOuts.read(fanOut),
      () => stores.fanOuts.itemKeys([fanOut]),
      () => stores.fanOuts.seal(fanOut, NOW),
      () => stores.fanOuts.noteFails(fanOut, ['a'], 5),
      () => stores.fanOuts.forgetEvent(fanOut, NOW),
      () => stores.fanOuts.bury(fanOut, NOW),
      () => stores.fanOuts.checkAgain(fanOut, NOW, { checkAt: NOW + 1 } as never),
      () => stores.lists.read(list),
    ],
  },
  'fan-out node': {
    table: 'fanOut',
    // Slots of another version have another attribute name.
    rows: [{ ...nodeRow(fanOut, position, 0, NOW), q: [null] }].map(({ r: _, ...row }: Item) => row),
    attempts: [
      () => stores.fanOuts.node(fanOut, position),
      () => stores.fanOuts.counts(fanOut, [position]),
      () => stores.fanOuts.ack(fanOut, position, { slots: new Map([[0, true]]), failed: 0, at: NOW }),
    ],
  },
  'fan-out token': {
    table: 'fanOut',
    rows: [tokenKey(fanOut, t)],
    attempts: [() => stores.fanOuts.reservation(fanOut, t)],
  },
  'list append': { table: 'list', rows: [appendKey(list, t)], attempts: [() => stores.lists.append(list, t)] },
  'list segment': {
    table: 'list',
    rows: [segmentKey(list, 0)],
    attempts: [() => stores.lists.jobs(list, [{ first: 0, count: 1 }])],
  },
  'list claim': {
    table: 'list',
    rows: [{ ...claimKey(list, 'claim-01' as ClaimKey), Leases: '', Until: 0 }],
    attempts: [() => stores.lists.claimApart(list, 'claim-01' as ClaimKey), () => stores.lists.claimsApart(list)],
  },
  'list trigger': { table: 'list', rows: [triggerKey(list, t)], attempts: [() => stores.lists.trigger(list, t)] },
  'list jobs': {
    table: 'list',
    rows: [jobsKey('other' as ListId, t, 0)],
    beside: [{ ...segmentKey('other' as ListId, 0), Count: 1, Append: t, Version: 1 }],
    attempts: [() => stores.lists.jobs('other' as ListId, [{ first: 0, count: 1 }])],
  },
  'list result': {
    table: 'list',
    rows: [resultKey(list, 0, FULL_SIZE.width)],
    attempts: [
      () => stores.lists.results(list, { first: 0, count: 1 }),
      () => stores.lists.putResults(list, [{ token: 0, outcome: 'succeeded' }]),
    ],
  },
  'fleet lease': {
    table: 'fleet',
    rows: [leaseKey(fleet, lease.partition)],
    attempts: [() => stores.fleets.read(fleet)],
  },
  'fleet checkpoint': {
    table: 'fleet',
    rows: [checkpointKey(fleet, lease.partition)],
    attempts: [
      () => stores.fleets.open(fleet, { ...lease, checkpointApart: true }),
      () => stores.fleets.checkpointOf(fleet, lease.partition),
    ],
  },
  'fleet node': {
    table: 'fleet',
    rows: [nodeKeyOf('other' as FleetName, 'n@1' as NodeKey)],
    attempts: [() => stores.fleets.read('other' as FleetName)],
  },
  'audit entry': {
    table: 'audit',
    rows: [entryKey({ at: NOW, id: 'newer' })],
    attempts: [() => stores.audit.page({ now: NOW, limit: 1 })],
  },
});

const inTable = async (table: Table): Promise<readonly Item[]> => {
  const scan = new ScanCommand({ TableName: resources.tables[table], ConsistentRead: true });
  return (await resources.clients.dynamodb.send(scan)).Items ?? [];
};

/** Of the row with a fleet's name, only the key is read. */
const KINDS = ROW_KINDS.filter((kind) => kind !== 'fleet name');

it.each(KINDS)('a %s row of a later release is not overwritten, and every call that meets it fails', async (kind) => {
  const { table, rows, beside = [], attempts } = CASES()[kind];
  const later = kind === 'fan-out node' ? { v: LATER } : { Version: LATER };
  for (const row of [...rows.map((each) => ({ ...each, ...later })), ...beside])
    await resources.clients.dynamodb.send(new PutCommand({ TableName: resources.tables[table], Item: row }));
  const before = await inTable(table);
  for (const attempt of attempts) {
    const failure = await attempt().then(
      (answer) => new Error(`${attempt} was answered ${JSON.stringify(answer)}`),
      (cause: unknown) => cause,
    );
    if (!(failure instanceof NewerRow)) throw failure;
    expect(failure).toMatchObject({ name: 'NewerRow', kind, version: LATER });
    expect(failure.message).toContain('Deploy that release again');
  }
  expect(await inTable(table)).toEqual(before);
});

it('a row that was stored without a version has version 1', async () => {
  await resources.clients.dynamodb.send(
    new PutCommand({
      TableName: resources.tables.batchLock,
      Item: { ...operationKey(operationName('before')), Failures: 2 },
    }),
  );
  expect(await stores.operations.read(operationName('before'))).toMatchObject({ failures: 2 });
  expect((await stores.operations.addFailure(operationName('before'))).failures).toBe(3);
  expect((await inTable('batchLock')).find(({ Target }) => Target === 'op:before')).toMatchObject({
    Failures: 3,
    Version: 1,
  });
});

it('the error names the row, and tells the user what to deploy', () => {
  const seen = { kind: 'task', name: 'a-1', version: 3, reads: 2, release: '1.2.3' };
  expect(new NewerRow(seen).message).toBe(
    'the task row "a-1" has version 3, and Groupage 1.2.3 reads versions up to 2: a later release wrote it. Deploy that release again, or a later one; until then the row stays unchanged',
  );
});
