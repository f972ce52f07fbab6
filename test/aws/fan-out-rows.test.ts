/** Rows of fan-outs that outlive others, and writes that meet a transaction: what no engine here does by itself. */
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { type FanOutId, fanOutId } from '../../src/fan-out/ids.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, type FanOutKit, fanOutKit, token } from '../fan-out/kit.ts';

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());

const store = () => dynamoDBFanOuts(resources.clients.dynamodb, resources.tables.fanOut);

it('a token of a fan-out that is gone is none of another that has its id', async () => {
  const kit: FanOutKit = fanOutKit();
  kit.fanOuts = store();
  await kit.open();
  const first = await kit.add(500, 'a');
  // As its time to live does, while what its tokens took is still known.
  const { dynamodb } = resources.clients;
  await dynamodb.send(new DeleteCommand({ TableName: resources.tables.fanOut, Key: { Id: FAN_OUT } }));
  await kit.open({ createdAt: NOW + 1 });
  expect(await kit.add(500, 'a')).toEqual(first);
  expect(await kit.read()).toMatchObject({ total: 500, groups: 2 });
  expect(await kit.add(500, 'a'), 'and it is a token of this one then').toEqual(first);
  expect(await kit.read()).toMatchObject({ total: 500, groups: 2 });
});

/** The next so many requests of a kind are refused, as DynamoDB does, and not sent. */
const refused = (
  { dynamodb }: AwsClients,
  kind: RegExp,
  times: number,
  cause: Error,
): { readonly left: () => number } => {
  let left = times;
  const meddle =
    <Args, Answer>(next: (args: Args) => Promise<Answer>, { commandName }: { readonly commandName?: string }) =>
    async (args: Args): Promise<Answer> => {
      if (left === 0 || !kind.test(commandName ?? '')) return next(args);
      left -= 1;
      throw cause;
    };
  dynamodb.middlewareStack.add(meddle as never, { step: 'initialize', name: 'refused', override: true });
  return { left: () => left };
};
afterEach(() => resources.clients.dynamodb.middlewareStack.remove('refused'));

const HELD = new TransactionConflictException({ message: 'said to be held by a transaction', $metadata: {} });
const PLAIN_WRITES = /^(Put|Update)ItemCommand$/;

it('a header that somebody adds to just now is written a moment later', async () => {
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

it('an add whose transaction is throttled tries again; one that is malformed is a defect', async () => {
  const kit: FanOutKit = fanOutKit();
  kit.fanOuts = store();
  await kit.open({ id: fanOutId('throttled') as FanOutId });
  const reserved = () =>
    kit.fanOuts.reserve('throttled' as FanOutId, token('a'), { first: 0, count: 1, openedAt: NOW, groups: 1, at: NOW });
  const cancelled = (Code: string) =>
    new TransactionCanceledException({
      message: Code,
      $metadata: {},
      CancellationReasons: [{ Code: 'None' }, { Code }],
    });
  for (const code of ['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict']) {
    refused(resources.clients, /^TransactWriteItemsCommand$/, 1, cancelled(code));
    expect(await reserved(), code).toBe(false);
  }
  refused(resources.clients, /^TransactWriteItemsCommand$/, 1, cancelled('ValidationError'));
  await expect(reserved()).rejects.toThrow('ValidationError');
  expect(await reserved()).toBe(true);
});
