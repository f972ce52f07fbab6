/**
 * Rows expire at the right second after they are finished, and never before. The tests use a real engine, since the
 * stores in memory expire nothing (docs/decisions/0007). They check the attribute in the rows, since DynamoDB itself
 * deletes expired rows.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { partsOf } from '../../lambdas/compose.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { dynamoDBPatrolMarks } from '../../src/aws/dynamodb-waiting.ts';
import { CONFIG_ASSET, ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { type BatchId, batchIdOf, candidateOf, operationOf, type Target } from '../../src/domain/ids.ts';
import type { InputKey } from '../../src/domain/merging/inputs.ts';
import type { NewTask, Outcome } from '../../src/domain/tasks/task.ts';
import { batchKey } from '../../src/rows/batch-rows.ts';
import { lockKey, PATROL_KEY, waitingKey } from '../../src/rows/lock-rows.ts';
import { payloadKey, taskKey } from '../../src/rows/task-rows.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { patrol } from '../../src/steps/repair/patrol.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import {
  aConfig,
  aPostponed,
  aStart,
  aTask,
  batchId,
  candidate,
  operationName,
  token,
} from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, KEEP, type Stores } from '../ports/stores.ts';
import { PLENTY, stepKit } from '../steps/step-kit.ts';

const DAY = 24 * 3_600_000;
/** How much longer a lock row is kept than the batches of its Target. */
const LOCK_OUTLIVES = 60 * DAY;
/** In the far future, so that an engine that deletes expired rows does not delete these. */
const SECOND = Date.UTC(2100, 0, 1);
/** Not a whole second: the expiry has to be rounded up. */
const AT = SECOND + 1;
/** The second in which a row expires that is finished at `AT` and kept for `kept` milliseconds. */
const secondsAfter = (kept: number): number => (SECOND + kept) / 1_000 + 1;

let resources: Resources;
let stores: Stores;
let own: ReturnType<typeof fresh>;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => resources.stop());
beforeEach(() => {
  own = fresh();
});

/** The second of the epoch in which a row expires; `null` if never. */
const expiryOf = async (table: keyof Resources['tables'], Key: object): Promise<number | null> => {
  const get = new GetCommand({ TableName: resources.tables[table], Key, ConsistentRead: true });
  const { Item: row } = await resources.clients.dynamodb.send(get);
  if (!row) throw new Error(`no row ${JSON.stringify(Key)}`);
  return (row.ExpiresAt as number | undefined) ?? null;
};
const lockExpiry = (target: Target) => expiryOf('batchLock', lockKey(target));
const batchExpiry = (batch: BatchId) => expiryOf('batch', batchKey(batch));
/** The expiry of a task's row, and of its payload's row. */
const taskExpiries = (task: NewTask) =>
  Promise.all([expiryOf('task', taskKey(task.id)), expiryOf('task', payloadKey(task))]);

describe('a task with a payload of its own', () => {
  const large = (): NewTask => aTask({ id: own.t(1), target: own.target, payload: `{"s":"${'x'.repeat(2_000)}"}` });
  const stored = async (): Promise<NewTask> => {
    const task = large();
    await stores.tasks.insert([task]);
    await stores.tasks.storePayloads([{ ...task, run: 1 }]);
    return task;
  };
  const finish = async (task: NewTask, outcome: Outcome): Promise<void> => {
    const batch = { id: own.batch, target: own.target, attempts: 1, at: AT, keep: 30 * DAY };
    await stores.tasks.finish([{ id: task.id, outcome, payloadRow: { ...task, run: 1 } }], batch);
  };
  const failure = { status: 'failed', error: { code: 'bad', message: 'm', retriable: false } } as const;

  it('does not expire while it waits or is in a batch', async () => {
    const task = await stored();
    expect(await taskExpiries(task)).toEqual([null, null]);
    await stores.tasks.claim([candidate(task.id)], own.batch);
    expect(await taskExpiries(task)).toEqual([null, null]);
  });

  it.each<[string, Outcome]>([
    ['succeeded', { status: 'succeeded', result: '1' }],
    ['failed', failure],
  ])('expires with its payload after it has %s and was kept', async (_, outcome) => {
    const task = await stored();
    await stores.tasks.claim([candidate(task.id)], own.batch);
    await finish(task, outcome);
    expect(await taskExpiries(task)).toEqual([secondsAfter(30 * DAY), secondsAfter(30 * DAY)]);
  });

  it('does not expire any more once it is redriven', async () => {
    const task = await stored();
    await stores.tasks.claim([candidate(task.id)], own.batch);
    await finish(task, failure);
    const failed = await stores.tasks.get(task.id);
    await stores.tasks.redrive(failed ? [failed] : [], AT);
    expect(await taskExpiries(task)).toEqual([null, null]);
  });
});

describe('a batch', () => {
  const form = () =>
    stores.batches.form({
      id: own.batch,
      target: own.target,
      sealedBy: 'full',
      candidates: [candidate('a')],
      oldestAt: AT,
      createdAt: AT,
    });

  it('expires after it is finished and was kept, and not before', async () => {
    const expiries: (number | null)[] = [];
    const note = async () => void expiries.push(await batchExpiry(own.batch));
    const formed = await form();
    await note();
    await stores.batches.seal(formed, [], AT, DAY);
    await note();
    await stores.batches.start(own.batch, aStart(1, AT, AT + 1));
    await note();
    await stores.batches.postpone(own.batch, 1, aPostponed(AT));
    await note();
    expect(expiries).toEqual([null, null, null, null]);
    const end = { status: 'failed', counts: { succeeded: 0, failed: 1 }, at: AT, keep: 30 * DAY } as const;
    await stores.batches.finish(own.batch, 1, end);
    expect(await batchExpiry(own.batch)).toBe(secondsAfter(30 * DAY));
  });

  it('without members expires after it was sealed and kept', async () => {
    const formed = await form();
    await stores.batches.seal(formed, formed.candidates, AT, 30 * DAY);
    expect(await batchExpiry(own.batch)).toBe(secondsAfter(30 * DAY));
  });
});

describe('a lock row', () => {
  const expected = secondsAfter(KEEP + LOCK_OUTLIVES);
  const mine = { fence: 1, token: token('mine') };
  const take = (now: number) => stores.locks.acquire(own.target, { ...mine, seen: { fence: 0 }, now, until: now + 1 });

  it.each<[string, () => Promise<unknown>]>([
    ['listed', () => stores.locks.enlist([own.target], AT)],
    ['taken', () => take(AT)],
    ['skipped', () => stores.locks.skipFence(own.target, 1, 0, AT)],
    ['flushed', () => stores.locks.flush(own.target, AT)],
  ])('that is %s outlives any batch of its Target by 60 days', async (_, write) => {
    await write();
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it('gets a new expiry from its next leader, and keeps it when released', async () => {
    await take(AT - DAY);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - DAY));
    await stores.locks.handOver(own.target, mine, { token: token('b'), seen: { fence: 1 }, now: AT, until: AT });
    expect(await lockExpiry(own.target)).toBe(expected);
    await stores.locks.release(own.target, { fence: 2, token: token('b') });
    expect(await lockExpiry(own.target)).toBe(expected);
  });
});

describe('a lock row', () => {
  const pause = { id: 'p', by: 'person', since: AT } as const;
  const mine = { fence: 1, token: token('mine') };
  const expected = secondsAfter(KEEP + LOCK_OUTLIVES);
  const open = { batch: batchId('b#1#1'), round: 1, by: token('turn'), until: AT, perTarget: 1 };
  const led = (now: number) => stores.locks.acquire(own.target, { ...mine, seen: { fence: 0 }, now, until: now + 1 });
  const patrolled = async (now: number) => {
    const kit = stepKit(stores, aConfig());
    kit.now = now;
    const locks = { ...kit.locks, targets: async () => ({ items: [own.target] }) };
    await patrol({ ...kit, locks }, () => true);
  };

  it('does not expire while its Target is paused', async () => {
    await stores.locks.enlist([own.target], AT);
    await stores.locks.pause(own.target, pause);
    expect(await lockExpiry(own.target)).toBeNull();
    await stores.locks.resume(own.target, 'other', AT);
    expect(await lockExpiry(own.target)).toBeNull();
    await stores.locks.resume(own.target, pause.id, AT);
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['paused, and written by release 0.2.0 or a flush', () => stores.locks.pause(own.target, pause)],
    ['with a batch in flight', () => stores.locks.openBatch(own.target, mine, open)],
    ['waiting for a slot', () => stores.locks.block(own.target, mine, { round: 0, at: AT })],
  ])('gets a new expiry from the patrol if it is %s', async (_, closed) => {
    await led(AT - 40 * DAY);
    await closed();
    await stores.locks.flush(own.target, AT - 40 * DAY);
    await patrolled(AT - 35 * DAY);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - 40 * DAY));
    await patrolled(AT);
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it.each([
    ['by a person', pause],
    ['by its circuit', { ...pause, by: 'circuit', until: AT }],
  ] as const)('gets a new expiry from the patrol while its operation is paused %s', async (_, paused) => {
    await led(AT - 40 * DAY);
    await stores.operations.pause(operationOf(own.target), paused);
    await patrolled(AT - 35 * DAY);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - 40 * DAY));
    await patrolled(AT);
    expect(await lockExpiry(own.target)).toBe(expected);
    await stores.operations.resume(operationOf(own.target), paused.id, AT);
    await patrolled(AT + 40 * DAY);
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it('gets no new expiry without a pause or a batch in flight', async () => {
    await led(AT - 40 * DAY);
    await stores.locks.openBatch(own.target, mine, open);
    await stores.locks.releaseSlot(own.target, open.batch);
    await patrolled(AT);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - 40 * DAY));
  });
});

describe('a fan-out', () => {
  const header = (id: FanOutId) => expiryOf('fanOut', { Id: id });
  const opened = async () => {
    const id = fanOutId(`f-${own.t(1)}`) as FanOutId;
    const { fanOuts } = stores;
    await fanOuts.open({ id, createdAt: AT }, AT);
    const take = { first: 0, count: 1, groups: 1, openedAt: AT, at: AT };
    await fanOuts.reserve(id, token('a'), take);
    await fanOuts.putGroups(id, [{ n: 0, size: 1 }], AT);
    await fanOuts.seal(id, AT);
    return id;
  };

  it('stays until its other rows are gone, and then expires at the given time', async () => {
    const id = await opened();
    const { fanOuts } = stores;
    expect([await header(id), await expiryOf('fanOut', { Id: `${id}#0.0` })]).toEqual([null, null]);
    const ending = { status: 'complete', from: ['sealed'], because: 'all-done', failed: 0 } as const;
    await fanOuts.end(id, { ...ending, at: AT, checkAt: AT });
    expect(await header(id)).toBeNull();
    await fanOuts.bury(id, AT + DAY);
    expect(await header(id)).toBe(secondsAfter(DAY));
  });

  it("keeps a token's groups for 30 days", async () => {
    expect(await expiryOf('fanOut', { Id: `${await opened()}#token#a` })).toBe(secondsAfter(30 * DAY));
  });
});

it('the key of a done input expires after the given time', async () => {
  await stores.processed.remember(own.target, [{ key: '"a"' as InputKey, marks: [] }], AT, 3 * DAY);
  const rows = await resources.clients.dynamodb.send(
    new QueryCommand({
      TableName: resources.tables.batchLock,
      KeyConditionExpression: 'Target = :target',
      ExpressionAttributeValues: { ':target': `done:${own.target}` },
    }),
  );
  expect(rows.Items?.map(({ ExpiresAt }) => ExpiresAt)).toEqual([secondsAfter(3 * DAY)]);
});

describe('among rows that are never finished', () => {
  it('a waiting row does not expire', async () => {
    const row = { id: own.t(1), run: 1, target: own.target, createdAt: AT, bytes: 1 };
    await stores.waiting.put([row]);
    const [waiting] = await stores.waiting.first(own.target, 1);
    expect(await expiryOf('batchLock', waitingKey(own.target, waiting?.entry ?? ''))).toBeNull();
  });

  it("the patrol's mark does not expire", async () => {
    const marks = dynamoDBPatrolMarks(resources.clients.dynamodb, resources.tables.batchLock);
    await marks.write({ operation: operationName('ship'), seen: 1, lastRound: 1 });
    expect(await expiryOf('batchLock', PATROL_KEY)).toBeNull();
  });
});

describe('`keepTasks` of an operation', () => {
  /** Has the steps lead and batch a task. `prepared` runs between election and batch. */
  const batched = async (prepared: (task: NewTask) => Promise<unknown> = async () => {}) => {
    const kit = stepKit(stores, aConfig({ keepTasks: 7 * DAY }));
    kit.now = AT;
    const task = aTask({ id: own.t(1), target: own.target, payload: `{"depot":"${own.target.split('=')[1]}"}` });
    const body = `{"operation":"ship","id":"${task.id}","payload":${task.payload}}`;
    await register(kit, [{ messageId: 'm', body }]);
    await electLeader(kit, { kind: 'elect', target: own.target });
    await prepared(task);
    const batch = batchIdOf(own.target, 1, 1);
    await finishBatch(kit, own.target, batch);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    return { task, batch };
  };

  it('sets the expiry of tasks and their batch', async () => {
    const { task, batch } = await batched();
    const expiries = [await expiryOf('task', taskKey(task.id)), await batchExpiry(batch)];
    expect(expiries).toEqual([secondsAfter(7 * DAY), secondsAfter(7 * DAY)]);
  });

  it('sets the expiry of a batch without members', async () => {
    const { task, batch } = await batched(({ id }) =>
      stores.tasks.claim([candidateOf(id, AT)], batchId('another#1#1')),
    );
    expect(await batchExpiry(batch)).toBe(secondsAfter(7 * DAY));
    expect(await expiryOf('task', taskKey(task.id))).toBeNull();
  });

  it('sets the expiry of lock rows, 60 days longer', async () => {
    const LAMBDA_TASK_ROOT = temporaryFolder('expiry');
    writeFileSync(join(LAMBDA_TASK_ROOT, CONFIG_ASSET), JSON.stringify(aConfig({ keepTasks: 7 * DAY })));
    const environment = { LAMBDA_TASK_ROOT, [ENVIRONMENT.batchLockTable]: resources.tables.batchLock };
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    await partsOf(environment, { clients: resources.clients, log }).locks().enlist([own.target], AT);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(7 * DAY + LOCK_OUTLIVES));
  });
});
