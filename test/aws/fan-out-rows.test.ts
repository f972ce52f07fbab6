/**
 * Rows of fan-outs that outlive others, and writes that meet a transaction: the engines in these tests refuse neither.
 */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, type FanOutKit, fanOutKit, token } from '../fan-out/kit.ts';
import { cancelled, HELD, PLAIN_WRITES, refused, TRANSACTIONS, taken } from './refused.ts';

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());

const store = () => dynamoDBFanOuts(resources.clients.dynamodb, resources.tables.fanOut);

it('a token of a deleted fan-out does not count for a new one with the same id', async () => {
  const kit: FanOutKit = fanOutKit();
  kit.fanOuts = store();
  await kit.open();
  const first = await kit.add(500, 'a');
  // As its time to live does, while the rows of its tokens still exist.
  const { dynamodb } = resources.clients;
  await dynamodb.send(new DeleteCommand({ TableName: resources.tables.fanOut, Key: { Id: FAN_OUT } }));
  await kit.open({ createdAt: NOW + 1 });
  expect(await kit.add(500, 'a')).toEqual(first);
  expect(await kit.read()).toMatchObject({ total: 500, groups: 2 });
  expect(await kit.add(500, 'a'), 'and it is a token of this one then').toEqual(first);
  expect(await kit.read()).toMatchObject({ total: 500, groups: 2 });
});

afterEach(() => taken(resources.clients));

it("a header in another caller's transaction is written a moment later", async () => {
  const id = fanOutId('added-to') as FanOutId;
  const { clients } = resources;
  const seal = () => store().seal(id, NOW);
  for (const [write, status] of [
    [() => store().open({ id, createdAt: NOW }, NOW), 'open'],
    [() => store().noteFails(id, ['0:1'], 9), 'open'],
    [seal, 'sealed'],
  ] as const) {
    const { left } = refused(clients, PLAIN_WRITES, 2, HELD);
    await write();
    expect(left()).toBe(0);
    expect(await store().read(id)).toMatchObject({ status });
  }
  refused(clients, PLAIN_WRITES, 1_000, HELD);
  await expect(seal(), 'not for ever').rejects.toThrow('try again later');
});

it('an addition whose transaction is throttled is retried; a malformed one throws', async () => {
  const kit: FanOutKit = fanOutKit();
  kit.fanOuts = store();
  await kit.open({ id: fanOutId('throttled') as FanOutId });
  const reserved = () =>
    kit.fanOuts.reserve('throttled' as FanOutId, token('a'), { first: 0, count: 1, openedAt: NOW, groups: 1, at: NOW });
  for (const code of ['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict']) {
    refused(resources.clients, TRANSACTIONS, 1, cancelled(code));
    expect(await reserved(), code).toBe(false);
  }
  refused(resources.clients, TRANSACTIONS, 1, cancelled('ValidationError'));
  await expect(reserved()).rejects.toThrow('ValidationError');
  expect(await reserved()).toBe(true);
});
