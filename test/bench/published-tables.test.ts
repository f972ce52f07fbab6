import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPublishedTables, dynamoDBPublishedTables } from '../../bench/baselines/published/dynamodb-tables.ts';
import { simulatedTables } from '../../bench/baselines/published/simulated-tables.ts';
import { Store } from '../../bench/baselines/published/store.ts';
import type { Tables, TaskRow } from '../../bench/baselines/published/tables.ts';
import { TargetIndex } from '../../bench/baselines/published/target-index.ts';
import type { BatchId, Target, TaskId } from '../../src/domain/ids.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type DynamoDBEngine, startDynamoDB } from '../../tools/local/dynamodb-engine.ts';

const TARGET = 'ship/depot=1' as Target;
const [A, B, BATCH] = ['a' as TaskId, 'b' as TaskId, 'batch-1' as BatchId];
const aRow = (id: TaskId, createdAt: number): TaskRow => ({
  id,
  target: TARGET,
  status: 'created',
  payload: '{}',
  createdAt,
});

let engine: DynamoDBEngine;
let now = 0;
let made = 0;

const inMemory = async (): Promise<Tables> =>
  simulatedTables(new Store(new TargetIndex(new Scheduler(0), () => 0), 'as-read'), openGate, () => now);
const onEngine = async (): Promise<Tables> => {
  made += 1;
  const { dynamodb } = localClients({ dynamodb: engine.endpoint });
  const names = { task: `Task-${made}`, lock: `Lock-${made}`, batch: `Batch-${made}` };
  await createPublishedTables(dynamodb, names);
  return dynamoDBPublishedTables(dynamodb, names, () => now);
};

beforeAll(async () => {
  engine = await startDynamoDB({ port: 0 });
});
afterAll(() => engine.stop());

describe.each([
  ['in memory', inMemory],
  ['on an engine', onEngine],
])('the published tables %s', (_, make) => {
  it('keep the existing task if it is registered again', async () => {
    const tables = await make();
    expect(await tables.insert(aRow(A, 1))).toEqual(aRow(A, 1));
    expect(await tables.insert(aRow(A, 2))).toEqual(aRow(A, 1));
    expect(await tables.read([B, A])).toEqual([undefined, aRow(A, 1)]);
  });

  it('list waiting tasks, oldest first, until a batch has them', async () => {
    const tables = await make();
    await tables.insert(aRow(B, 2));
    await tables.insert(aRow(A, 1));
    const waiting = async () => (await tables.waiting(TARGET)).map(({ id }) => id);
    expect(await waiting()).toEqual([A, B]);
    expect(await tables.claim([A], BATCH)).toEqual([true]);
    expect(await waiting()).toEqual([B]);
    expect((await tables.poll(TARGET)).map(({ id }) => id)).toEqual([B]);
    expect(await tables.read([A])).toEqual([{ ...aRow(A, 1), status: 'batched', batchId: BATCH }]);
  });

  it('give a lock to one holder until its end or release', async () => {
    const tables = await make();
    now = 1_000;
    const take = (holder: string) => tables.acquire(TARGET, holder, 500);
    expect([await take('x'), await take('y'), await take('x')]).toEqual([true, false, true]);
    now = 1_500;
    expect(await take('y')).toBe(false);
    now = 1_501;
    expect(await take('y')).toBe(true);
    await tables.release(TARGET, 'x');
    expect(await take('x')).toBe(false);
    await tables.release(TARGET, 'y');
    expect(await take('x')).toBe(true);
  });

  it('take a task to its end, and never back', async () => {
    const tables = await make();
    await tables.insert(aRow(A, 1));
    await tables.putBatch({ id: BATCH, target: TARGET, members: [A] });
    expect(await tables.batch(BATCH)).toEqual({ id: BATCH, target: TARGET, members: [A] });
    expect(await tables.batch('none' as BatchId)).toBeUndefined();
    const state = async (): Promise<readonly [TaskRow['status'] | undefined, boolean]> => {
      const [task] = await tables.read([A]);
      return [task?.status, task !== undefined && tables.isOpen(task, BATCH)];
    };
    await tables.claim([A], BATCH);
    expect(await state()).toEqual(['batched', true]);
    await tables.start([A], BATCH);
    expect(await state()).toEqual(['in-progress', true]);
    await tables.finish([{ id: A, outcome: { status: 'succeeded' } }], BATCH);
    await tables.start([A], BATCH);
    expect(await state()).toEqual(['succeeded', false]);
  });
});
