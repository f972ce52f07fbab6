import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { BatchExecuteStatementCommand, BatchWriteCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { awsClients } from '../../src/aws/clients.ts';
import { recorded, usesIn } from './record.ts';
import { recording } from './recorder.ts';

/** Clients whose requests end before they are sent. */
const closedClients = () => {
  const options = { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
  const clients = awsClients({ ...options, dynamodb: 'http://127.0.0.1:1', sqs: 'http://127.0.0.1:1' });
  const ended = () => async () => Promise.reject(new Error('ended'));
  clients.dynamodb.middlewareStack.add(ended, { step: 'build', name: 'end' });
  clients.sqs.middlewareStack.add(ended, { step: 'build', name: 'end' });
  opened.push(clients);
  return clients;
};
const opened: ReturnType<typeof awsClients>[] = [];
afterEach(() => {
  for (const { dynamodb, sqs } of opened.splice(0)) {
    dynamodb.destroy();
    sqs.destroy();
  }
});

const QueueUrl = 'http://127.0.0.1:1/000000000000/Q';

describe('clients that record their uses', () => {
  it('see all commands of both SDK clients', async () => {
    const uses: string[] = [];
    const { dynamodb, sqs } = recording(closedClients(), ({ action, resource }) => uses.push(`${action} ${resource}`));
    const sent = [
      dynamodb.send(new PutCommand({ TableName: 'T', Item: { Id: 'a' } })),
      dynamodb.send(new QueryCommand({ TableName: 'T', IndexName: 'I', KeyConditionExpression: 'a = b' })),
      dynamodb.send(new BatchWriteCommand({ RequestItems: { U: [{ DeleteRequest: { Key: { Id: 'a' } } }] } })),
      dynamodb.send(new BatchExecuteStatementCommand({ Statements: [{ Statement: 'UPDATE "T" SET A=1' }] })),
      sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'b' })),
    ];
    for (const each of sent) await expect(each).rejects.toThrow('ended');
    expect(uses).toEqual([
      'dynamodb:PutItem T',
      'dynamodb:Query T/index/I',
      'dynamodb:BatchWriteItem U',
      'dynamodb:PartiQLUpdate T',
      'sqs:SendMessage Q',
    ]);
  });

  it('refuse a command without known permissions', async () => {
    const { dynamodb } = recording(closedClients(), () => {});
    await expect(dynamodb.send(new DeleteTableCommand({ TableName: 'T' }) as never)).rejects.toThrow(
      /is known for Delete/,
    );
  });
});

describe('the record', () => {
  it('has each use once, under the name of its function', async () => {
    const folder = join(temporaryFolder('record'), 'run');
    for (const functionName of ['Elect', 'Group', 'Elect']) {
      const { sqs } = recorded(closedClients(), functionName, folder);
      await expect(sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'b' }))).rejects.toThrow('ended');
    }
    expect(usesIn(folder)).toEqual(
      ['Elect', 'Group'].map((functionName) => ({ functionName, action: 'sqs:SendMessage', resource: 'Q' })),
    );
  });

  it('is empty if none was kept', () => expect(usesIn('/nowhere')).toEqual([]));
});
