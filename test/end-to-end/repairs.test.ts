/**
 * Automatic repairs: the sweep redrives dead letters, and a guard finishes the batch of a leader that died between two
 * writes.
 */
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printBatch, printElect, printGroup } from '../../src/domain/batches/messages.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { batchIdOf, type Target, type Token } from '../../src/domain/ids.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { batchId, target } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('pair');
});
afterAll(() => flow?.stop());

const send = (QueueUrl: string, MessageBody: string) =>
  flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
const table = (name: 'taskTable' | 'batchLockTable'): string => setting(flow.backend.settings, name);
const lockOf = async (Target: Target): Promise<Record<string, unknown>> => {
  const key = { TableName: table('batchLockTable'), Key: { Target, Entry: 'lock' } };
  return (await flow.backend.clients.dynamodb.send(new GetCommand({ ...key, ConsistentRead: true }))).Item ?? {};
};
/** Waits until a Target has a leader. @returns its fence and token */
const leaderOf = (Target: Target): Promise<{ readonly fence: number; readonly token: Token }> =>
  eventually(async () => {
    const { Fence, LockHolder } = await lockOf(Target);
    return LockHolder === undefined ? undefined : { fence: Fence as number, token: LockHolder as Token };
  });

describe('the sweep', () => {
  const deadLetters = (queue: WorkingQueue): string => flow.queue(`${queue}DeadLetters`);
  const sweep = () => flow.backend.invoke('SweepHandler', { source: 'aws.events' });

  it('sends dead letters of every queue again, and rejects those that it cannot parse', async () => {
    const unknown = target(flow.target('unknown'));
    const tasks = [1, 2].map((n) => JSON.stringify({ operation: 'pair', payload: { depot: 'revived', n } }));
    for (const task of tasks) await send(deadLetters('register'), task);
    await send(deadLetters('elect'), printElect({ kind: 'elect', target: unknown }));
    await send(deadLetters('elect'), 'nonsense');
    await send(deadLetters('group'), printGroup({ target: unknown, fence: 1, token: 'lost' as Token }));
    await send(deadLetters('batch'), printBatch({ kind: 'due', batchId: batchId('unknown') }));

    await sweep();

    // In a deployed stack the scheduled sweep may have been faster.
    const nonsense = await eventually(async () => (await flow.rejected()).find(({ body }) => body === 'nonsense'));
    expect(nonsense.errors).toMatchObject([{ reason: expect.stringMatching(/^elect queue/) }]);
    for (const queue of ['register', 'elect', 'group', 'batch'] as const) {
      const left = await flow.backend.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: deadLetters(queue) }));
      expect(left.Messages ?? []).toEqual([]);
    }
    await eventually(() => flow.calls('revived').some(({ items }) => items.length === 2));
  });
});

describe('a lock row that expires soon', () => {
  it('gets a new expiry from the next task of its Target', async () => {
    const Target = target(flow.target('idle'));
    const inTwoDays = Math.floor(Date.now() / 1_000) + 2 * 24 * 3_600;
    await flow.backend.clients.dynamodb.send(
      new PutCommand({
        TableName: table('batchLockTable'),
        Item: { Target, Entry: 'lock', Operation: 'pair', ExpiresAt: inTwoDays, Fence: 3, Round: 7 },
      }),
    );
    await flow.ended(await flow.send([1, 2].map((n) => ({ depot: 'idle', n }))));
    expect((await lockOf(Target)).ExpiresAt).toBeGreaterThan(inTwoDays + 50 * 24 * 3_600);
  });
});

describe('a leader that died', () => {
  it('has its batch finished by the guard, with the tasks that it had claimed', async () => {
    const Target = target(flow.target('left'));
    const [id = ''] = await flow.send([{ depot: 'left' }]);
    const { fence, token } = await leaderOf(Target);
    const batch = batchIdOf(Target, fence, 1);
    await flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: table('batchLockTable'),
        Key: { Target, Entry: 'lock' },
        UpdateExpression: 'SET OpenBatch = :batch, Round = :one',
        ExpressionAttributeValues: { ':batch': batch, ':one': 1 },
      }),
    );
    await flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: table('taskTable'),
        Key: { Id: id },
        UpdateExpression: 'SET #status = :batched, BatchId = :batch',
        ExpressionAttributeNames: { '#status': 'Status' },
        ExpressionAttributeValues: { ':batched': 'batched', ':batch': batch },
      }),
    );

    await send(flow.queue('groupQueue'), printGroup({ target: Target, fence, token }));

    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded', batchId: batch }]);
  });
});

describe('a guard', () => {
  it('that comes before its time sends the next guard and seals no batch', async () => {
    const Target = target(flow.target('early'));
    const [id = ''] = await flow.send([{ depot: 'early' }]);
    const { fence, token } = await leaderOf(Target);
    await send(flow.queue('groupQueue'), printGroup({ target: Target, fence, token }));
    await eventually(async () => (await lockOf(Target)).Fence === fence + 1);
    expect((await lockOf(Target)).LockHolder).toEqual(expect.any(String));
    expect((await flow.task(id))?.status).toBe('created');
  });
});

describe('a flush', () => {
  it('of a Target without a leader and tasks answers 202', async () => {
    const Target = target(flow.target('free'));
    await flow.ended(await flow.send([1, 2].map((n) => ({ depot: 'free', n }))));
    await eventually(async () => (await lockOf(Target)).LockHolder === undefined);
    const answer = await flow.backend.api('/targets/flush', {
      method: 'POST',
      body: JSON.stringify({ target: Target }),
    });
    expect([answer.status, await answer.json()]).toEqual([202, { target: Target, waiting: 0 }]);
  });
});
