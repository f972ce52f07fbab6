/**
 * Requests that a service leaves undone are sent again, and no others: on a real engine, whose clients return the
 * errors of an overloaded service. A throttled statement is never counted as refused (F2).
 */
import { BatchStatementErrorCodeEnum } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { DynamoDBFailure, execute, insertion } from '../../src/aws/dynamodb.ts';
import { GaveUp } from '../../src/aws/rounds.ts';
import type { NewTask } from '../../src/domain/tasks/task.ts';
import type { FinishingBatch } from '../../src/ports/tasks.ts';
import { newTaskRow } from '../../src/rows/task-rows.ts';
import { aTask, batchId, candidate, NOW } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, type Stores } from '../ports/stores.ts';
import { type TroubleOf, throttle } from './overload.ts';
import { failuresOf, numberOf, overloaded, relieve, resources, SOME, withResources } from './overloaded.ts';

withResources();
let stores: Stores;
beforeAll(() => {
  stores = dynamoDBStores(resources);
});

const isLost = (n: number): boolean => failuresOf(n) === 0 && n % 4 === 1;
/** For some entries only the answer is lost. */
const SOME_LOST: TroubleOf = (entry, time) =>
  time === 1 && isLost(numberOf(entry)) ? { code: 'InternalServerError', isDone: true } : SOME(entry, time);

const COUNT = 60;
const LARGE = `{"s":"${'x'.repeat(2_000)}"}`;
const finishing = (batch: FinishingBatch['id'], to: FinishingBatch['target']): FinishingBatch => ({
  id: batch,
  target: to,
  attempts: 1,
  at: NOW,
  // So long that no engine deletes the rows during the test.
  keep: 100 * 365 * 24 * 3_600_000,
});

/** Tasks with new ids, numbered from 0. */
const manyTasks = (fields: Partial<NewTask> = {}) => {
  const { t, target: to, batch } = fresh();
  const tasks = Array.from({ length: COUNT }, (_, n) => aTask({ id: t(n), target: to, ...fields }));
  return { tasks, ids: tasks.map(({ id }) => id), candidates: tasks.map(({ id }) => candidate(id)), to, batch };
};

describe('a statement with the error', () => {
  const FATES: Readonly<Record<BatchStatementErrorCodeEnum, 'again' | 'refused' | 'thrown'>> = {
    ThrottlingError: 'again',
    ProvisionedThroughputExceeded: 'again',
    RequestLimitExceeded: 'again',
    InternalServerError: 'again',
    TransactionConflict: 'again',
    ConditionalCheckFailed: 'refused',
    DuplicateItem: 'refused',
    ValidationError: 'thrown',
    AccessDenied: 'thrown',
    ResourceNotFound: 'thrown',
    ItemCollectionSizeLimitExceeded: 'thrown',
  };

  it.each(Object.values(BatchStatementErrorCodeEnum).map((code) => [code, FATES[code]] as const))(
    '%s is %s',
    async (code, fate) => {
      const { t } = fresh();
      const inserted = [1, 2, 3].map((n) => insertion(resources.tables.task, newTaskRow(aTask({ id: t(n) }))));
      const times = overloaded((entry, time) => (numberOf(entry) === 2 && time === 1 ? { code } : undefined));
      const answers = execute(resources.clients.dynamodb, inserted);
      if (fate === 'thrown') await expect(answers).rejects.toMatchObject({ name: DynamoDBFailure.name, code });
      else expect(await answers).toEqual([true, fate === 'again', true]);
      expect(times(() => true)).toEqual([1, fate === 'again' ? 2 : 1, 1]);
      relieve();
      const Key = { Id: t(2) };
      const get = new GetCommand({ TableName: resources.tables.task, Key, ConsistentRead: true });
      expect((await resources.clients.dynamodb.send(get)).Item !== undefined).toBe(fate === 'again');
    },
  );
});

describe('under overload the store repeats only', () => {
  const isStatement = (text: string): boolean => text.startsWith('{"Statement"');

  it('claims that were not done, not refused ones (F2)', async () => {
    const { ids, tasks, candidates, batch } = manyTasks();
    await stores.tasks.insert(tasks);
    const isAnothers = (n: number): boolean => n % 10 === 4;
    await stores.tasks.claim(
      candidates.filter((_, n) => isAnothers(n)),
      batchId(`${batch}-rival`),
    );
    const times = overloaded(SOME_LOST);
    expect(await stores.tasks.claim(candidates, batch)).toEqual(ids.map((_, n) => !isAnothers(n)));
    expect(times(isStatement)).toEqual(ids.map((_, n) => 1 + failuresOf(n) + (isLost(n) ? 1 : 0)));
    const shown = (await stores.tasks.outlines(ids)).map((task) => task?.batchId);
    expect(shown).toEqual(ids.map((_, n) => (isAnothers(n) ? `${batch}-rival` : batch)));
  });

  it('inserts that were not done (R1)', async () => {
    const { ids, tasks } = manyTasks();
    await stores.tasks.insert(tasks.filter((_, n) => n % 10 === 4));
    overloaded(SOME_LOST);
    const written = await stores.tasks.insert(tasks.map((task) => ({ ...task, createdAt: NOW + 1 })));
    expect(written.map(({ stored }) => [stored.id, stored.createdAt])).toEqual(
      ids.map((id, n) => [id, n % 10 === 4 ? NOW : NOW + 1]),
    );
    // If the answer is lost, the store cannot tell whether its own insert succeeded.
    expect(written.map(({ isNew }) => isNew)).toEqual(ids.map((_, n) => n % 10 !== 4 && !isLost(n)));
  });

  it('results and payload expiries that were not done (H4)', async () => {
    const { ids, tasks, candidates, to, batch } = manyTasks({ payload: LARGE });
    await stores.tasks.insert(tasks);
    await stores.tasks.storePayloads(tasks.map((task) => ({ ...task, run: 1 })));
    await stores.tasks.claim(candidates, batch);
    overloaded(SOME_LOST);
    const results = tasks.map(({ id, payloadHash }, n) => ({
      id,
      outcome: { status: 'succeeded', result: String(n) } as const,
      payloadRow: { payloadHash, run: 1 },
    }));
    expect(await stores.tasks.finish(results, finishing(batch, to))).toEqual(ids.map(() => 'succeeded'));
    const stored = await Promise.all(ids.map((id) => stores.tasks.get(id)));
    expect(stored.map((task) => task?.state)).toMatchObject(ids.map((_, n) => ({ result: String(n) })));
    const expire = await Promise.all(tasks.map((task) => stores.payloadExpires(task)));
    expect(expire).toEqual(ids.map(() => true));
  });

  it('puts and deletions that were not done (R2, F5)', async () => {
    const { tasks, to } = manyTasks();
    const waiting = tasks.map((task, n) => ({ ...task, run: 1, createdAt: NOW + n }));
    const times = overloaded(SOME);
    await stores.waiting.put(waiting);
    expect(times((text) => text.includes('PutRequest'))).toEqual(tasks.map((_, n) => 1 + failuresOf(n)));
    const rows = await stores.waiting.first(to, 2 * COUNT);
    expect(rows.map((row) => row.candidate)).toEqual(tasks.map(({ id }) => candidate(id)));
    const gone = rows.slice(0, COUNT - 1);
    await stores.waiting.remove(
      to,
      gone.map(({ entry }) => entry),
    );
    expect(times((text) => text.includes('DeleteRequest'))).toEqual(gone.map((_, n) => 1 + failuresOf(n)));
    expect(await stores.waiting.first(to, 2 * COUNT)).toEqual(rows.slice(COUNT - 1));
  });

  it('keys that were not read, of tasks and payloads (H3)', async () => {
    const { ids, tasks, candidates, batch } = manyTasks({ payload: LARGE });
    await stores.tasks.insert(tasks);
    await stores.tasks.storePayloads(tasks.map((task) => ({ ...task, run: 1 })));
    await stores.tasks.claim(candidates, batch);
    const times = overloaded(SOME);
    const { open, lost } = await stores.tasks.members(ids, batch);
    expect([open.map(({ id }) => id), lost]).toEqual([ids, []]);
    expect(open.every(({ payload }) => payload === LARGE)).toBe(true);
    const expected = ids.map((_, n) => 1 + failuresOf(n));
    expect(times((text) => !text.includes('#payload'))).toEqual(expected);
    expect(times((text) => text.includes('#payload'))).toEqual(expected);
  });

  it('requests that were throttled as a whole', async () => {
    const { tasks, ids, candidates, to, batch } = manyTasks();
    throttle(resources.clients, 2);
    expect((await stores.tasks.insert(tasks)).every(({ isNew }) => isNew)).toBe(true);
    throttle(resources.clients, 2);
    expect(await stores.tasks.claim(candidates, batch)).toEqual(ids.map(() => true));
    throttle(resources.clients, 2);
    await stores.waiting.put(tasks.map((task) => ({ ...task, run: 1 })));
    throttle(resources.clients, 2);
    expect(await stores.waiting.first(to, COUNT)).toHaveLength(COUNT);
    throttle(resources.clients, 2);
    expect((await stores.tasks.members(ids, batch)).open).toHaveLength(COUNT);
  });

  it.each([
    ['statement', 'ThrottlingError', /said to be ThrottlingError \(ThrottlingError\)/],
    ['write', 'Unprocessed', /items were left unprocessed/],
    ['key', 'Unprocessed', /keys were left unprocessed/],
  ])('a %s that is never done, eight times, then throws', async (what, code, reason) => {
    const { t, target: to, batch } = fresh();
    const tasks = [1, 2, 3].map((n) => aTask({ id: t(n), target: to }));
    await stores.tasks.insert(tasks);
    const times = overloaded((entry) => (numberOf(entry) === 2 ? { code: 'ThrottlingError' } : undefined));
    const asked = {
      statement: () =>
        stores.tasks.claim(
          [1, 2, 3].map((n) => candidate(t(n))),
          batch,
        ),
      write: () => stores.waiting.put(tasks.map((task) => ({ ...task, run: 1 }))),
      key: () => stores.tasks.outlines([1, 2, 3].map(t)),
    }[what];
    const error = await asked?.().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(GaveUp);
    expect((error as GaveUp).message).toMatch(/^1 of 3 not done after 8 rounds: DynamoDB: .*; try again later$/);
    expect((error as GaveUp).message).toMatch(reason);
    expect((error as GaveUp).cause).toMatchObject({ name: 'DynamoDBFailure', code });
    expect(times(() => true)).toEqual([1, 8, 1]);
  });
});
