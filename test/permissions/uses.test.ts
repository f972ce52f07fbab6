import { describe, expect, it } from 'vitest';
import { usesOf } from './uses.ts';

const printed = (commandName: string, input: object): string[] =>
  usesOf(commandName, input).map(({ action, resource }) => `${action} ${resource}`);

const QueueUrl = 'http://127.0.0.1:4501/000000000000/Flow-Group-Queue';

describe('a command uses', () => {
  it.each<[string, object, string[]]>([
    ['GetItemCommand', { TableName: 'T' }, ['dynamodb:GetItem T']],
    ['GetCommand', { TableName: 'arn:aws:dynamodb:eu-west-1:1:table/T' }, ['dynamodb:GetItem T']],
    ['PutItemCommand', { TableName: 'T', ConditionExpression: 'c' }, ['dynamodb:PutItem T']],
    ['UpdateItemCommand', { TableName: 'T' }, ['dynamodb:UpdateItem T']],
    ['DeleteCommand', { TableName: 'T' }, ['dynamodb:DeleteItem T']],
    ['QueryCommand', { TableName: 'T' }, ['dynamodb:Query T']],
    ['QueryCommand', { TableName: 'T', IndexName: 'I' }, ['dynamodb:Query T/index/I']],
    ['ScanCommand', { TableName: 'T', IndexName: 'I' }, ['dynamodb:Scan T/index/I']],
    ['BatchGetItemCommand', { RequestItems: { T: {}, U: {} } }, ['dynamodb:BatchGetItem T', 'dynamodb:BatchGetItem U']],
    ['BatchWriteItemCommand', { RequestItems: { T: [] } }, ['dynamodb:BatchWriteItem T']],
    [
      'TransactWriteItemsCommand',
      {
        TransactItems: [
          { Put: { TableName: 'T' } },
          { Put: { TableName: 'T' } },
          { Update: { TableName: 'U' } },
          { Delete: { TableName: 'T' } },
          { ConditionCheck: { TableName: 'T' } },
        ],
      },
      ['dynamodb:PutItem T', 'dynamodb:UpdateItem U', 'dynamodb:DeleteItem T', 'dynamodb:ConditionCheckItem T'],
    ],
    ['TransactGetCommand', { TransactItems: [{ Get: { TableName: 'T' } }] }, ['dynamodb:GetItem T']],
    ['SendMessageCommand', { QueueUrl }, ['sqs:SendMessage Flow-Group-Queue']],
    ['SendMessageBatchCommand', { QueueUrl }, ['sqs:SendMessage Flow-Group-Queue']],
    ['ReceiveMessageCommand', { QueueUrl }, ['sqs:ReceiveMessage Flow-Group-Queue']],
    ['DeleteMessageBatchCommand', { QueueUrl }, ['sqs:DeleteMessage Flow-Group-Queue']],
    ['ChangeMessageVisibilityBatchCommand', { QueueUrl }, ['sqs:ChangeMessageVisibility Flow-Group-Queue']],
    ['GetQueueAttributesCommand', { QueueUrl }, ['sqs:GetQueueAttributes Flow-Group-Queue']],
    ['GetQueueUrlCommand', { QueueName: 'told' }, ['sqs:GetQueueUrl told']],
  ])('%s', (commandName, input, expected) => expect(printed(commandName, input)).toEqual(expected));
});

describe('a statement uses', () => {
  it.each([
    [`INSERT INTO "T-1" VALUE {'Id': ?}`, 'dynamodb:PartiQLInsert T-1'],
    [`UPDATE "T-1" SET "Status"='batched' WHERE "Id"=?`, 'dynamodb:PartiQLUpdate T-1'],
    ['update T set A=? where Id=?', 'dynamodb:PartiQLUpdate T'],
    [`DELETE FROM "T-1" WHERE "Id"=?`, 'dynamodb:PartiQLDelete T-1'],
    [`SELECT "Id" FROM "T-1" WHERE "Id"=?`, 'dynamodb:PartiQLSelect T-1'],
    [`SELECT * FROM "T-1"."By.Target" WHERE "Target"=?`, 'dynamodb:PartiQLSelect T-1/index/By.Target'],
    [`SELECT *\nFROM T`, 'dynamodb:PartiQLSelect T'],
    [`EXISTS(SELECT * FROM "T-1" WHERE "Id"=?)`, 'dynamodb:PartiQLSelect T-1'],
  ])('%s', (Statement, expected) => {
    expect(printed('ExecuteStatementCommand', { Statement })).toEqual([expected]);
    expect(printed('BatchExecuteStatementCommand', { Statements: [{ Statement }, { Statement }] })).toEqual([expected]);
    expect(printed('ExecuteTransactionCommand', { TransactStatements: [{ Statement }] })).toEqual([expected]);
  });
});

describe('an unknown use', () => {
  it.each<[string, object, RegExp]>([
    [
      'PurgeQueueCommand',
      { QueueUrl },
      /no permission is known for PurgeQueueCommand: add the IAM actions that it needs to test\/permissions/,
    ],
    ['undefined', {}, /known for undefined/],
    ['TransactWriteItemsCommand', { TransactItems: [{ Upsert: { TableName: 'T' } }] }, /a transaction's Upsert/],
    ['ExecuteStatementCommand', { Statement: 'MERGE INTO "T"' }, /the statement MERGE INTO/],
    ['GetItemCommand', {}, /GetItemCommand that names no table or queue/],
    ['SendMessageCommand', {}, /SendMessageCommand that names no table or queue/],
    ['BatchGetItemCommand', { RequestItems: {} }, /BatchGetItemCommand that names no table or queue/],
  ])('stops with a message: %s', (commandName, input, complaint) =>
    expect(() => usesOf(commandName, input)).toThrow(complaint),
  );
});
