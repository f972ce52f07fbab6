/**
 * A long list is cleared by several sweeps. Each continues where the last one stopped, and does not read again what is
 * deleted.
 */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import type { ListId } from '../../src/domain/lists/ids.ts';
import type { Clearing, Lists } from '../../src/ports/lists.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { token } from '../factories/factories.ts';

let resources: Resources;
let lists: Lists;
/** The commands that were sent. */
const sent: string[] = [];
beforeAll(async () => {
  resources = await makeResources();
  resources.clients.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        sent.push(commandName ?? '');
        return next(args);
      },
    { step: 'initialize' },
  );
  lists = dynamoDBLists(resources.clients.dynamodb, resources.tables.fanOut, resources.tables.list);
});
afterAll(() => resources.stop());

/** Lets a clearing make `looks` reads. */
const inTime = (looks: number): Clearing => {
  let left = looks;
  return {
    mayGoOn: () => {
      left -= 1;
      return left >= 0;
    },
    isSettled: true,
  };
};
const requests = async (call: () => Promise<unknown>): Promise<{ answer: unknown; count: number }> => {
  const before = sent.length;
  const answer = await call();
  return { answer, count: sent.length - before };
};
const rowsUnder = async (key: string): Promise<number> => {
  const query = {
    TableName: resources.tables.list,
    KeyConditionExpression: 'Id = :id',
    ExpressionAttributeValues: { ':id': key },
    Select: 'COUNT' as const,
  };
  return (await resources.clients.dynamodb.send(new QueryCommand(query))).Count ?? 0;
};

it('the clearing of a list continues at the group of results where it stopped', async () => {
  const id = 'results-of-many-groups' as ListId;
  const groups = 200;
  await lists.putResults(
    id,
    [0, 99, 199].map((group) => ({ token: group * 450 + 7, outcome: 'succeeded' })),
  );
  const looks = 1 + 83;
  const first = await requests(() => lists.clear(id, groups, 0, inTime(looks)));
  expect(first).toEqual({ answer: 83, count: 85 });
  const second = await requests(() => lists.clear(id, groups, 83, inTime(looks)));
  expect(second).toEqual({ answer: 166, count: 85 });
  const third = await requests(() => lists.clear(id, groups, 166, inTime(looks)));
  expect(third).toEqual({ answer: undefined, count: 1 + 34 + 1 + 3 });
  for (const group of [0, 99, 199]) expect(await rowsUnder(`${id}#r#${group}`)).toBe(0);
});

it('the clearing of a list does not read again the jobs of a deleted addition', async () => {
  const id = 'jobs-of-many-additions' as ListId;
  const tokens = Array.from({ length: 40 }, (_, n) => token(`add-${String(n).padStart(2, '0')}`));
  for (const each of tokens) {
    await lists.beginAppend(id, each, { count: 1, hash: 'h' });
    await lists.putJobs(id, each, ['{}']);
  }
  const first = await requests(() => lists.clear(id, 0, 0, inTime(1 + 20)));
  expect(first.answer).toBe(0);
  // Twenty additions, each with a read and a deletion, and their own rows in three requests.
  expect(first.count).toBe(1 + 20 + 20 + 3);
  expect(await rowsUnder(id)).toBe(20);
  const second = await requests(() => lists.clear(id, 0, 0, inTime(100)));
  expect(second).toEqual({ answer: undefined, count: 1 + 20 + 20 + 4 + 2 });
  expect(await rowsUnder(id)).toBe(0);
  for (const each of tokens) expect(await rowsUnder(`${id}#a#${each}`)).toBe(0);
});

it('the clearing of a list keeps the note of an addition that may still store jobs', async () => {
  const id = 'not-yet-settled' as ListId;
  await lists.beginAppend(id, token('a'), { count: 1, hash: 'h' });
  await lists.putJobs(id, token('a'), ['{}']);
  expect(await lists.clear(id, 0, 0, { ...inTime(100), isSettled: false })).toBeUndefined();
  await lists.putJobs(id, token('a'), ['{}']);
  expect(await lists.clear(id, 0, 0, inTime(100))).toBeUndefined();
  expect([await rowsUnder(id), await rowsUnder(`${id}#a#a`)]).toEqual([0, 0]);
});
