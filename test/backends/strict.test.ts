import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { numberProblem } from '../../src/memory/limits.ts';
import { localClients } from '../../tools/local/clients.ts';
import { strict } from './strict.ts';

const NOWHERE = 'http://127.0.0.1:9';
const { dynamodb, sqs } = strict(localClients({ dynamodb: NOWHERE, sqs: NOWHERE }));
const SENT = 'sent';
/** Thrown behind the limits: a request that gets here would be sent. */
class Sent extends Error {
  override readonly name = SENT;
}
const stop = () => async (): Promise<never> => {
  throw new Sent();
};
dynamodb.middlewareStack.add(stop, { step: 'finalizeRequest', priority: 'high', name: 'sent' });
sqs.middlewareStack.add(stop, { step: 'finalizeRequest', priority: 'high', name: 'sent' });
const ask = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => 'answered',
    (cause: Error) => cause.name,
  );
const put = (Item: Record<string, unknown>) => ask(dynamodb.send(new PutCommand({ TableName: 'T', Item })));
const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ Id: `a${n}`, Entry: 'e' }));
const statements = (ids: readonly string[]) =>
  ask(
    dynamodb.send(
      new BatchExecuteStatementCommand({
        Statements: ids.map((id) => ({ Statement: 'UPDATE "T" SET "A"=? WHERE "Id"=?', Parameters: [1, id] })),
      }),
    ),
  );
const REFUSED = 'ValidationException';

it('numbers, sizes and keys are limited as in DynamoDB', async () => {
  expect(await put({ Id: 'a', N: 1e-130, M: -9e15, Z: -0 })).toBe(SENT);
  expect(await put({ Id: 'a', N: 9.99e-131 })).toBe(REFUSED);
  expect(await put({ Id: 'a', N: { deep: [1e-131] } })).toBe(REFUSED);
  const numbers = [
    '9.99e125',
    '1e126',
    '-1e126',
    '0.00e999',
    `0.${'0'.repeat(130)}1`,
    '1'.repeat(38),
    '1'.repeat(39),
    'x',
  ];
  expect(numbers.map((text) => numberProblem(text) === undefined)).toEqual([
    true,
    false,
    false,
    true,
    false,
    true,
    false,
    false,
  ]);
  expect(await put({ Id: 'a', Text: 'x'.repeat(409_600 - 7) })).toBe(SENT);
  expect(await put({ Id: 'a', Text: 'x'.repeat(409_600 - 6) })).toBe(REFUSED);
  expect(await put({ Id: 'ü'.repeat(1_024), Entry: 'x'.repeat(1_024) })).toBe(SENT);
  expect(await put({ Id: `${'ü'.repeat(1_024)}x` })).toBe(REFUSED);
  expect(await put({ Id: 'a', Entry: 'x'.repeat(1_025) })).toBe(REFUSED);
  expect(await put({ Id: 'a', Entry: '' })).toBe(REFUSED);
  const update = (set: string) =>
    ask(dynamodb.send(new UpdateCommand({ TableName: 'T', Key: { Id: 'a' }, UpdateExpression: set })));
  expect([await update('x'.repeat(4_096)), await update('x'.repeat(4_097))]).toEqual([SENT, REFUSED]);
});

it('requests of many rows are limited as in DynamoDB, and name each row once', async () => {
  const write = (Items: readonly object[]) =>
    ask(dynamodb.send(new BatchWriteCommand({ RequestItems: { T: Items.map((Item) => ({ PutRequest: { Item } })) } })));
  const get = (Keys: Record<string, unknown>[]) =>
    ask(dynamodb.send(new BatchGetCommand({ RequestItems: { T: { Keys } } })));
  const transact = (Items: readonly object[]) =>
    ask(
      dynamodb.send(
        new TransactWriteCommand({ TransactItems: Items.map((Item) => ({ Put: { TableName: 'T', Item } })) }),
      ),
    );
  expect([await write(rows(25)), await write(rows(26)), await write([...rows(2), ...rows(1)])]).toEqual([
    SENT,
    REFUSED,
    REFUSED,
  ]);
  expect([await get(rows(100)), await get(rows(101)), await get([...rows(2), ...rows(1)])]).toEqual([
    SENT,
    REFUSED,
    REFUSED,
  ]);
  expect([await transact(rows(100)), await transact(rows(101)), await transact([...rows(2), ...rows(1)])]).toEqual([
    SENT,
    REFUSED,
    REFUSED,
  ]);
  const large = rows(11).map((row) => ({ ...row, Text: 'x'.repeat(400_000) }));
  expect([await transact(large.slice(1)), await transact(large)]).toEqual([SENT, REFUSED]);
  const ids = rows(26).map(({ Id }) => Id);
  expect([await statements(ids.slice(1)), await statements(ids), await statements(['a', 'b', 'a'])]).toEqual([
    SENT,
    REFUSED,
    REFUSED,
  ]);
});

it('messages are limited as in SQS', async () => {
  const send = (MessageBody: string, DelaySeconds = 0) =>
    ask(sqs.send(new SendMessageCommand({ QueueUrl: NOWHERE, MessageBody, DelaySeconds })));
  const INVALID = 'InvalidParameterValue';
  expect([await send('x', 900), await send('x', 901), await send(''), await send('x', 0.5)]).toEqual([
    SENT,
    INVALID,
    INVALID,
    INVALID,
  ]);
  expect([await send('x'.repeat(1_048_576)), await send('x'.repeat(1_048_577))]).toEqual([SENT, INVALID]);
  const batch = (count: number, bytes = 1, id = (n: number) => String(n)) =>
    ask(
      sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: NOWHERE,
          Entries: Array.from({ length: count }, (_, n) => ({ Id: id(n), MessageBody: 'x'.repeat(bytes) })),
        }),
      ),
    );
  expect([await batch(10), await batch(11), await batch(2, 524_289), await batch(2, 1, () => '0')]).toEqual([
    SENT,
    INVALID,
    INVALID,
    INVALID,
  ]);
});

it('other requests are not limited', async () => {
  const create = new CreateTableCommand({ TableName: 'T', KeySchema: [], AttributeDefinitions: [] });
  expect(await ask(dynamodb.send(create))).toBe(SENT);
});
