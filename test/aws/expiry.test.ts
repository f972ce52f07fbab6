/**
 * When rows expire: to the second, once they are finished, and never before. On a real engine, since the stores in memory
 * keep everything (docs/decisions/0007), and by the rows themselves, since expiry is DynamoDB's own doing.
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
/** What a lock row outlives the batches of its Target by. */
const LOCK_OUTLIVES = 60 * DAY;
/** Far away: an engine that takes expired rows out must leave these until they were looked at. */
const SECOND = Date.UTC(2100, 0, 1);
/** Not a whole second: a row must not go before its time. */
const AT = SECOND + 1;
/** The second after `AT` that a row expires in which is kept for so many whole seconds. */
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

/** When a row expires, in seconds of the epoch; `null` if never. */
const expiryOf = async (table: keyof Resources['tables'], Key: object): Promise<number | null> => {
  const get = new GetCommand({ TableName: resources.tables[table], Key, ConsistentRead: true });
  const { Item: row } = await resources.clients.dynamodb.send(get);
  if (!row) throw new Error(`no row ${JSON.stringify(Key)}`);
  return (row.ExpiresAt as number | undefined) ?? null;
};
const lockExpiry = (target: Target) => expiryOf('batchLock', lockKey(target));
const batchExpiry = (batch: BatchId) => expiryOf('batch', batchKey(batch));
/** Of a task's row, and of its payload's. */
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

  it('stays as long as it waits or is in a batch', async () => {
    const task = await stored();
    expect(await taskExpiries(task)).toEqual([null, null]);
    await stores.tasks.claim([candidate(task.id)], own.batch);
    expect(await taskExpiries(task)).toEqual([null, null]);
  });

  it.each<[string, Outcome]>([
    ['succeeded', { status: 'succeeded', result: '1' }],
    ['failed', failure],
  ])('expires with its payload once it has %s, when it has been kept', async (_, outcome) => {
    const task = await stored();
    await stores.tasks.claim([candidate(task.id)], own.batch);
    await finish(task, outcome);
    expect(await taskExpiries(task)).toEqual([secondsAfter(30 * DAY), secondsAfter(30 * DAY)]);
  });

  it('stays again once it is redriven', async () => {
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

  it('stays until it is finished, and expires when it has been kept', async () => {
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

  it('without members expires when it has been kept since it was sealed', async () => {
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
    ['burnt', () => stores.locks.skipFence(own.target, 1, 0, AT)],
    ['flushed', () => stores.locks.flush(own.target, AT)],
  ])('that is %s outlives by 60 days whatever batch it may have', async (_, write) => {
    await write();
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it('gets new time from its next leader, and keeps it when it is released', async () => {
    await take(AT - DAY);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - DAY));
    await stores.locks.handOver(own.target, mine, { token: token('b'), seen: { fence: 1 }, now: AT, until: AT });
    expect(await lockExpiry(own.target)).toBe(expected);
    await stores.locks.release(own.target, { fence: 2, token: token('b') });
    expect(await lockExpiry(own.target)).toBe(expected);
  });
});

describe('a lock row with a pause, or with batches in flight,', () => {
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

  it('does not expire while the pause lasts', async () => {
    await stores.locks.enlist([own.target], AT);
    await stores.locks.pause(own.target, pause);
    expect(await lockExpiry(own.target)).toBeNull();
    await stores.locks.resume(own.target, 'other', AT);
    expect(await lockExpiry(own.target)).toBeNull();
    await stores.locks.resume(own.target, pause.id, AT);
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['paused, and written as release 0.2.0 or a flush does', () => stores.locks.pause(own.target, pause)],
    ['in flight', () => stores.locks.openBatch(own.target, mine, open)],
    ['waiting for room', () => stores.locks.block(own.target, mine, { round: 0, at: AT })],
  ])('gets more time from the patrol before it would expire: %s', async (_, closed) => {
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
  ] as const)('gets more time while its operation is paused %s', async (_, paused) => {
    await led(AT - 40 * DAY);
    await stores.operations.pause(operationOf(own.target), paused);
    await patrolled(AT - 35 * DAY);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(KEEP + LOCK_OUTLIVES - 40 * DAY));
    await patrolled(AT);
    expect(await lockExpiry(own.target)).toBe(expected);
    await stores.operations.resume(operationOf(own.target), paused.id);
    await patrolled(AT + 40 * DAY);
    expect(await lockExpiry(own.target)).toBe(expected);
  });

  it('gets none once neither is there', async () => {
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

  it('stays until its other rows are gone, whatever ends it, and goes when it was said to', async () => {
    const id = await opened();
    const { fanOuts } = stores;
    expect([await header(id), await expiryOf('fanOut', { Id: `${id}#0.0` })]).toEqual([null, null]);
    const ending = { status: 'complete', from: ['sealed'], because: 'all-done', failed: 0 } as const;
    await fanOuts.end(id, { ...ending, at: AT, checkAt: AT });
    expect(await header(id)).toBeNull();
    await fanOuts.bury(id, AT + DAY);
    expect(await header(id)).toBe(secondsAfter(DAY));
  });

  it('knows what a token took for 30 days', async () => {
    expect(await expiryOf('fanOut', { Id: `${await opened()}#token#a` })).toBe(secondsAfter(30 * DAY));
  });
});

it('an input that was done is known for as long as it was said', async () => {
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

describe('what is never finished never expires:', () => {
  it('a waiting row', async () => {
    const row = { id: own.t(1), run: 1, target: own.target, createdAt: AT, bytes: 1 };
    await stores.waiting.put([row]);
    const [waiting] = await stores.waiting.first(own.target, 1);
    expect(await expiryOf('batchLock', waitingKey(own.target, waiting?.entry ?? ''))).toBeNull();
  });

  it('the mark of the patrol', async () => {
    const marks = dynamoDBPatrolMarks(resources.clients.dynamodb, resources.tables.batchLock);
    await marks.write({ operation: operationName('ship'), seen: 1, lastRound: 1 });
    expect(await expiryOf('batchLock', PATROL_KEY)).toBeNull();
  });
});

describe('the steps keep what they finish for as long as its operation says:', () => {
  /** A task that is led, by the steps; `prepared` may come between that and its batch. */
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

  it('tasks and their batch', async () => {
    const { task, batch } = await batched();
    const expiries = [await expiryOf('task', taskKey(task.id)), await batchExpiry(batch)];
    expect(expiries).toEqual([secondsAfter(7 * DAY), secondsAfter(7 * DAY)]);
  });

  it('a batch all of whose candidates another batch has', async () => {
    const { task, batch } = await batched(({ id }) =>
      stores.tasks.claim([candidateOf(id, AT)], batchId('another#1#1')),
    );
    expect(await batchExpiry(batch)).toBe(secondsAfter(7 * DAY));
    expect(await expiryOf('task', taskKey(task.id))).toBeNull();
  });

  it('and the lock rows of the functions, 60 days longer', async () => {
    const LAMBDA_TASK_ROOT = temporaryFolder('expiry');
    writeFileSync(join(LAMBDA_TASK_ROOT, CONFIG_ASSET), JSON.stringify(aConfig({ keepTasks: 7 * DAY })));
    const environment = { LAMBDA_TASK_ROOT, [ENVIRONMENT.batchLockTable]: resources.tables.batchLock };
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    await partsOf(environment, { clients: resources.clients, log }).locks().enlist([own.target], AT);
    expect(await lockExpiry(own.target)).toBe(secondsAfter(7 * DAY + LOCK_OUTLIVES));
  });
});
