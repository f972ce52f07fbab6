/**
 * Calls of a store that send several requests are stopped before each request in turn. The rows left must be safe, and
 * a repetition of the call must complete it.
 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '../../src/domain/tasks/task.ts';
import { payloadKey, taskKey } from '../../src/rows/task-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask, candidate, NOW } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, type Stores } from '../ports/stores.ts';

let resources: Resources;
let stores: Stores;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => resources.stop());
afterEach(() => {
  resources.clients.dynamodb.middlewareStack.remove('cut');
});

class Gone extends Error {
  override readonly name = 'Gone';
}

/** Fails every request from the `n`th on, counted from 1. `isReached` tells whether there were so many. */
const cutAt = (n: number) => {
  let requests = 0;
  const cut =
    <Args, Answer>(next: (args: Args) => Promise<Answer>) =>
    async (args: Args): Promise<Answer> => {
      requests += 1;
      if (requests >= n) throw new Gone();
      return next(args);
    };
  resources.clients.dynamodb.middlewareStack.add(cut as never, { step: 'initialize', name: 'cut', override: true });
  return {
    isReached: () => requests >= n,
    end: () => resources.clients.dynamodb.middlewareStack.remove('cut'),
  };
};

const rowOf = async (Key: object) => {
  const get = new GetCommand({ TableName: resources.tables.task, Key, ConsistentRead: true });
  return (await resources.clients.dynamodb.send(get)).Item;
};
const FAILED = { status: 'failed', error: { code: 'bad', message: 'm', retriable: false } } as const;

/** Three tasks with payloads in rows of their own. */
const made = async () => {
  const { t, target, batch } = fresh();
  const tasks = [1, 2, 3].map((n) => aTask({ id: t(n), target, payload: `{"n":${n},"s":"${'x'.repeat(2_000)}"}` }));
  await stores.tasks.insert(tasks);
  await stores.tasks.storePayloads(tasks.map((task) => ({ ...task, run: 1 })));
  const end = { id: batch, target, attempts: 1, at: NOW, keep: 1_000 };
  const claim = () =>
    stores.tasks.claim(
      tasks.map(({ id }) => candidate(id)),
      batch,
    );
  const finish = () =>
    stores.tasks.finish(
      tasks.map(({ id, payloadHash }) => ({ id, outcome: FAILED, payloadRow: { payloadHash, run: 1 } })),
      end,
    );
  /** For each task: its status, its run, and whether its row and its payload's row have an expiry. */
  const standing = () =>
    Promise.all(
      tasks.map(async (task) => {
        const [row, payload] = [await rowOf(taskKey(task.id)), await rowOf(payloadKey(task))];
        return [row?.Status, row?.Run, row?.ExpiresAt !== undefined, payload?.ExpiresAt !== undefined];
      }),
    );
  return { tasks, claim, finish, standing };
};
type Made = Awaited<ReturnType<typeof made>>;

/** Each call: its preparation, the call itself, and the state after it is complete. */
const CALLS: readonly [name: string, prepare: (made: Made) => Promise<() => Promise<unknown>>, end: unknown][] = [
  [
    'finish',
    async ({ claim, finish }) => {
      await claim();
      return finish;
    },
    ['failed', 1, true, true],
  ],
  [
    'settle',
    async ({ tasks }) =>
      () =>
        stores.tasks.settle(
          tasks.map((task) => ({ task: { ...task, run: 1 }, as: FAILED })),
          { at: NOW, keep: 1_000 },
        ),
    ['failed', 1, true, true],
  ],
  [
    'redrive',
    async ({ tasks, claim, finish }) => {
      await claim();
      await finish();
      const failed = (await stores.tasks.all(tasks.map(({ id }) => id))) as readonly Task[];
      return () => stores.tasks.redrive(failed, NOW);
    },
    ['created', 2, false, false],
  ],
];

describe.each(CALLS)('tasks.%s', (_, prepare, end) => {
  it('that stops midway expires no payload of an open task, and completes if repeated', async () => {
    let cuts = 0;
    for (let isReached = true; isReached; cuts += 1) {
      const own = await made();
      const call = await prepare(own);
      const cut = cutAt(cuts + 1);
      await call().catch((cause) => {
        if (!(cause instanceof Gone)) throw cause;
      });
      cut.end();
      isReached = cut.isReached();
      for (const [status, , taskExpires, payloadExpires] of await own.standing())
        if (status === 'created' || status === 'batched') expect([taskExpires, payloadExpires]).toEqual([false, false]);
      await call();
      expect(await own.standing()).toEqual(own.tasks.map(() => end));
    }
    expect(cuts).toBeGreaterThan(2);
  });
});
