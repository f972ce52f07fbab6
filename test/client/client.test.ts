import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  type SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, GaveUp, NotAllSent, UnsendableTask } from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';

interface Sent {
  readonly operation: string;
  readonly id: string;
  readonly payload: { readonly n: number };
}

describe('the producer client', () => {
  let engine: SqsEngine;
  let queues = 0;
  beforeAll(async () => {
    engine = await startSqs({ port: 0 });
  });
  afterAll(() => engine.stop());

  /** A new queue, a client for it, and the sizes of the client's requests. */
  const fresh = async (fail?: (request: number, entry: number) => boolean) => {
    const { sqs } = localClients({ sqs: engine.endpoint });
    queues += 1;
    const name = `client-${queues}`;
    await sqs.send(new CreateQueueCommand({ QueueName: name }));
    const queueUrl = `${engine.endpoint}/000000000000/${name}`;
    const requests: number[] = [];
    sqs.middlewareStack.add(
      (next, context) => async (args) => {
        if (context.commandName !== 'SendMessageBatchCommand') return next(args);
        const input = args.input as SendMessageBatchCommand['input'];
        requests.push(input.Entries?.length ?? 0);
        const request = requests.length;
        const refused = (input.Entries ?? []).filter((_, entry) => fail?.(request, entry));
        if (refused.length === 0) return next(args);
        // As an overloaded SQS does: it accepts only some entries.
        input.Entries = input.Entries?.filter((entry) => !refused.includes(entry)) ?? [];
        const answer =
          input.Entries.length > 0 ? await next(args) : { output: { Successful: [] as object[] }, response: {} };
        const Failed = refused.map(({ Id }) => ({
          Id,
          Code: 'ServiceUnavailable',
          SenderFault: false,
          Message: 'busy',
        }));
        return { ...answer, output: { ...(answer.output as object), Failed } } as never;
      },
      { step: 'initialize', name: 'watch' },
    );
    return {
      client: createClient<{ ship: { n: number; text?: string } }>({ queueUrl, sqs }),
      requests,
      sent: () => drain(sqs, queueUrl),
    };
  };

  const drain = async (sqs: SQSClient, QueueUrl: string): Promise<Sent[]> => {
    const all: Sent[] = [];
    for (;;) {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      if (Messages.length === 0) return all.toSorted((a, b) => a.payload.n - b.payload.n);
      all.push(...Messages.map(({ Body = '' }) => JSON.parse(Body) as Sent));
    }
  };
  const tasks = (count: number, text?: string) =>
    Array.from({ length: count }, (_, n) => ({
      operation: 'ship' as const,
      payload: { n, ...(text ? { text } : {}) },
    }));

  it('returns a new id, or the id of the task', async () => {
    const { client, sent } = await fresh();
    const id = await client.send({ operation: 'ship', payload: { n: 0 } });
    expect(await client.send({ operation: 'ship', payload: { n: 1 }, id: 'mine' })).toBe('mine');
    expect((await sent()).map((message) => message.id)).toEqual([id, 'mine']);
  });

  it('sends the optional fields of a task', async () => {
    const { client, sent } = await fresh();
    const wishes = {
      priority: 9,
      weight: 0.5,
      coalesceKey: 'k',
      expiresIn: '10m',
      callback: 'ops',
      fanOutItem: 'f:0:1',
    } as const;
    const id = await client.send({ operation: 'ship', payload: { n: 0 }, ...wishes });
    expect(await sent()).toEqual([{ operation: 'ship', payload: { n: 0 }, id, ...wishes }]);
  });

  it('fills requests by count, keeps the order of ids, and reports progress', async () => {
    const { client, requests, sent } = await fresh();
    const progress: number[] = [];
    const ids = await client.sendAll(tasks(1_234), { onProgress: (count) => progress.push(count) });
    expect(requests.toSorted((a, b) => a - b)).toEqual([4, ...Array.from({ length: 123 }, () => 10)]);
    expect((await sent()).map(({ id }) => id)).toEqual(ids);
    expect(ids).toEqual(ids.toSorted());
    expect(progress).toEqual([500, 1_000, 1_234]);
  });

  it('fills requests by bytes', async () => {
    const { client, requests, sent } = await fresh();
    await client.sendAll(tasks(9, 'ü'.repeat(120_000)));
    expect(requests.toSorted()).toEqual([1, 4, 4]);
    expect(await sent()).toHaveLength(9);
  });

  it('sends only those messages again that SQS did not accept', async () => {
    const { client, requests, sent } = await fresh((request, entry) => request === 1 && entry % 3 === 0);
    const ids = await client.sendAll(tasks(10));
    expect(requests).toEqual([10, 4]);
    expect((await sent()).map(({ id }) => id)).toEqual(ids);
  });

  it('throws NotAllSent with the cause if SQS keeps refusing', async () => {
    const { client } = await fresh(() => true);
    const error: unknown = await client.sendAll(tasks(2)).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(NotAllSent);
    expect((error as NotAllSent).cause).toBeInstanceOf(GaveUp);
  });

  it('accepts tasks from an async iterable', async () => {
    const { client, sent } = await fresh();
    async function* coming() {
      yield* tasks(3);
    }
    expect(await client.sendAll(coming())).toHaveLength(3);
    expect(await client.sendAll([])).toEqual([]);
    expect(await sent()).toHaveLength(3);
  });

  it('refuses invalid tasks before it sends any', async () => {
    const { client, requests } = await fresh();
    const large = { operation: 'ship' as const, payload: { n: 0, text: 'x'.repeat(300_000) } };
    await expect(client.sendAll([...tasks(3), large])).rejects.toThrow(/task 3: its payload has 3000\d\d bytes/);
    await expect(client.send({ operation: 'ship', payload: { n: 0 }, id: '-' })).rejects.toThrow(UnsendableTask);
    expect(requests).toEqual([]);
  });
});
