/** `concurrency.perTarget: 1` under faults, and added later. pauses.test.ts tests the same without faults. */
import { setTimeout } from 'node:timers/promises';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { Behaviour } from '../factories/downstream.ts';
import { target } from '../factories/factories.ts';
import { type Flow, startFlow } from './flow.ts';
import { countAtOnce } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('alone');
});
afterAll(() => flow?.stop());

it('a Target capped at one call has one at a time, despite errors, slow answers and timeouts', async () => {
  const atOnce = countAtOnce();
  let hung = 0;
  const turns: readonly Behaviour[] = [
    () => ({ status: 503 }),
    async () => {
      await setTimeout(400);
      return { status: 200 };
    },
    () => {
      hung += 1;
      return undefined;
    },
    () => ({ status: 429, headers: { 'retry-after': '1' } }),
    () => ({ status: 200 }),
  ];
  const made = new Map<string, number>();
  flow.downstream.behave(
    atOnce.count((call, response) => {
      const turn = made.get(call.target) ?? 0;
      made.set(call.target, turn + 1);
      return turns[turn % turns.length]?.(call, response);
    }),
  );
  const depots = ['A', 'B', 'C'];
  const ids = await flow.send(depots.flatMap((depot) => Array.from({ length: 8 }, (_, n) => ({ depot, n }))));
  const tasks = await flow.ended(ids);
  expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  expect(hung).toBeGreaterThanOrEqual(depots.length);
  expect(atOnce.ofTarget).toBe(1);
  expect(atOnce.all).toBeGreaterThan(1);
});

it('a Target without a cap so far has its batches counted before it opens another one', async () => {
  const { dynamodb } = flow.backend.clients;
  const lock = { Target: target(flow.target('uncapped')), Entry: 'lock' };
  const TableName = setting(flow.backend.settings, 'batchLockTable');
  const uncounted = { Operation: 'alone', Fence: 3, Round: 7, UncountedAt: Date.now() - 60_000 };
  await dynamodb.send(new PutCommand({ TableName, Item: { ...lock, ...uncounted } }));
  const tasks = await flow.ended(await flow.send([{ depot: 'uncapped' }]));
  expect(tasks.map(({ status }) => status)).toEqual(['succeeded']);
  const { Item } = await dynamodb.send(new GetCommand({ TableName, Key: lock, ConsistentRead: true }));
  expect(Item).not.toHaveProperty('UncountedAt');
});
