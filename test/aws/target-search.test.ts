/** A search among ten thousand Targets of an operation reads only the Targets that it finds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeAll } from '../../src/aws/dynamodb.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import type { OperationName, Target } from '../../src/domain/ids.ts';
import { InvalidCursor } from '../../src/ports/rows.ts';
import { lockItem } from '../../src/rows/lock-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { target } from '../factories/factories.ts';

const TARGETS = 10_000;
const operation = 'search' as OperationName;

let resources: Resources;
/** The keys that queries have scanned, as DynamoDB reports. */
let looked = 0;
beforeAll(async () => {
  resources = await makeResources();
  const { clients, tables } = resources;
  const targets = Array.from({ length: TARGETS }, (_, n) => target(`search/depot=${String(n).padStart(5, '0')}`));
  await writeAll(
    clients.dynamodb,
    tables.batchLock,
    targets.map((each) => ({ put: lockItem(each, 4_000_000_000) })),
  );
  clients.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === 'QueryCommand') looked += (answer.output as { ScannedCount: number }).ScannedCount;
        return answer;
      },
    { step: 'initialize', name: 'looked' },
  );
});
afterAll(() => resources.stop());

it.each([
  ['depot=0042', 10],
  ['depot=04242', 1],
  ['depot=x', 0],
  ['depot=012', 100],
])('a search for %s finds and reads %i Targets', async (prefix, count) => {
  const locks = dynamoDBLocks(resources.clients.dynamodb, resources.tables.batchLock, () => 1_000);
  const found: Target[] = [];
  looked = 0;
  let cursor: string | undefined;
  do {
    const page = await locks.targets(operation, 100, cursor, prefix);
    found.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(found).toHaveLength(count);
  expect(found.every((each) => each.startsWith(`search/${prefix}`))).toBe(true);
  expect(looked).toBe(count);
});

it('a cursor is invalid for a search with another prefix', async () => {
  const locks = dynamoDBLocks(resources.clients.dynamodb, resources.tables.batchLock, () => 1_000);
  const { cursor } = await locks.targets(operation, 10, undefined, 'depot=012');
  expect(cursor).toBeDefined();
  await expect(locks.targets(operation, 10, cursor, 'depot=0042')).rejects.toThrow(InvalidCursor);
});
