/**
 * The expired payload row of an earlier task with the same id is deleted between the insert that it refuses and the
 * write that replaces it.
 */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { payloadKey } from '../../src/rows/task-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';

let resources: Resources;
let tasks: Tasks;
/** Runs just after DynamoDB has answered a batch of statements. */
let afterStatements: () => Promise<void> = async () => {};

beforeAll(async () => {
  resources = await makeResources();
  const { dynamodb } = resources.clients;
  dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === 'BatchExecuteStatementCommand') await afterStatements();
        return answer;
      },
    { step: 'initialize', name: 'expiring' },
  );
  tasks = dynamoDBTasks(dynamodb, resources.tables.task);
});
afterAll(() => resources.stop());

it('a payload is stored although the expired row that refused its insert is deleted then', async () => {
  const { t } = fresh();
  const earlier = aTask({ id: t(1), payload: `{"s":"${'x'.repeat(2_000)}"}` });
  const task = { ...earlier, createdAt: earlier.createdAt + 3_600_000, run: 2 };
  await tasks.storePayloads([earlier]);
  await tasks.insert([task]);
  let deleted = 0;
  afterStatements = async () => {
    deleted += 1;
    const Key = payloadKey(earlier);
    await resources.clients.dynamodb.send(new DeleteCommand({ TableName: resources.tables.task, Key }));
  };
  await tasks.storePayloads([task]);
  afterStatements = async () => {};
  expect(deleted).toBe(1);
  expect(await tasks.payload(t(1))).toBe(task.payload);
});
