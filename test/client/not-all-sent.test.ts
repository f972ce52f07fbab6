/** A `sendAll` that fails: its error lists the sent and unsent tasks. On a real engine. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Client,
  createClient,
  NotAllSent,
  SqsFailure,
  type TaskToSend,
  UnsendableTask,
} from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';
import { drain, type Fate, newQueue, withFates } from './faulty-sqs.ts';

type Ship = { readonly ship: { readonly n: number } };

describe('a sendAll that fails', () => {
  let engine: SqsEngine;
  beforeAll(async () => {
    engine = await startSqs({ port: 0 });
  });
  afterAll(() => engine.stop());

  interface Sender {
    readonly client: Client<Ship>;
    readonly requests: readonly number[];
    readonly sqs: SQSClient;
    /** The ids in the queue, in the order of their tasks' numbers. */
    ids(): Promise<string[]>;
  }
  const sender = async (fateOf: (request: number) => Fate | undefined = () => undefined): Promise<Sender> => {
    const { sqs } = localClients({ sqs: engine.endpoint });
    const queueUrl = await newQueue(sqs);
    return {
      client: createClient<Ship>({ queueUrl, sqs }),
      requests: withFates(sqs, fateOf),
      sqs,
      ids: async () => {
        const sent = (await drain(sqs, queueUrl)).map(
          (body) => JSON.parse(body) as { id: string; payload: { n: number } },
        );
        return sent.toSorted((a, b) => a.payload.n - b.payload.n).map(({ id }) => id);
      },
    };
  };
  const tasks = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ operation: 'ship' as const, payload: { n } }));
  const failureOf = async (sending: Promise<unknown>): Promise<NotAllSent<TaskToSend<Ship>>> => {
    const error = await sending.then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(NotAllSent);
    return error as NotAllSent<TaskToSend<Ship>>;
  };
  const numbersOf = ({ left }: NotAllSent<TaskToSend<Ship>>): number[] => left.map(({ payload }) => payload.n);

  it('sends no more after a refusal, and leaves no request in flight', async () => {
    const { client, requests, ids } = await sender((n) => (n === 1 ? 'refused' : undefined));
    const error = await failureOf(client.sendAll(tasks(500)));
    expect(requests).toHaveLength(8);
    const inQueue = await ids();
    expect(error.sent).toEqual(inQueue);
    expect([error.sent.length, error.failed.length, error.unsent.length, error.read]).toEqual([70, 10, 420, 500]);
    expect(error.left.map(({ id }) => id)).toEqual([...error.failed, ...error.unsent]);
    expect(error.message).toMatch(
      /^500 tasks were read: 70 were sent, 10 were possibly sent, and 420 were not sent: Access to/,
    );
    expect(await ids()).toEqual([]);
  });

  it('lists separately which tasks may have been sent', async () => {
    const { client, ids } = await sender((n) => (n === 2 ? 'answer-lost' : undefined));
    const error = await failureOf(client.sendAll(tasks(200)));
    const inQueue = await ids();
    expect(inQueue.toSorted()).toEqual([...error.sent, ...error.failed].toSorted());
    expect(error.failed).toHaveLength(10);
    expect(error.unsent).toHaveLength(200 - inQueue.length);
    expect(error.cause).toMatchObject({ message: 'socket hang up' });
  });

  it('counts each message of a partly accepted request', async () => {
    const { client, ids } = await sender((n) => (n === 1 ? 'partly-refused' : undefined));
    const error = await failureOf(client.sendAll(tasks(10)));
    expect(error.cause).toBeInstanceOf(SqsFailure);
    expect(error.sent).toEqual(await ids());
    expect(numbersOf(error)).toEqual([0, 3, 6, 9]);
    expect([error.failed.length, error.unsent.length]).toEqual([4, 0]);
  });

  it('can be repeated with the tasks left and unread, without a new id', async () => {
    const { client, ids } = await sender((n) => (n === 60 ? 'answer-lost' : undefined));
    const all = tasks(700);
    const error = await failureOf(client.sendAll(all));
    expect(error.read).toBe(700);
    const rest = await client.sendAll([...error.left, ...all.slice(error.read)]);
    // A task whose answer was lost is in the queue twice with the same id. The register function ignores the second
    // message.
    const inQueue = new Set(await ids());
    expect(inQueue.size).toBe(700);
    expect(new Set([...error.sent, ...rest])).toEqual(inQueue);
  });

  it('returns the ids of tasks, or those that it gave them', async () => {
    const { client, ids } = await sender((n) => (n === 1 ? 'answer-lost' : undefined));
    const error = await failureOf(
      client.sendAll([{ operation: 'ship', id: 'mine', payload: { n: 0 } }, ...tasks(2).slice(1)]),
    );
    expect(error.failed).toEqual(await ids());
    expect(error.left).toEqual([
      { operation: 'ship', id: 'mine', payload: { n: 0 } },
      { operation: 'ship', id: error.failed[1], payload: { n: 1 } },
    ]);
  });

  it('closes its iterable, and reads no more of it', async () => {
    let [given, isClosed] = [0, false];
    async function* coming() {
      try {
        for (const task of tasks(2_000)) {
          given += 1;
          yield task;
        }
      } finally {
        isClosed = true;
      }
    }
    const { client } = await sender((n) => (n === 70 ? 'throttled' : undefined));
    const error = await failureOf(client.sendAll(coming()));
    expect([given, isClosed, error.read]).toEqual([1_000, true, 1_000]);
    expect(error.sent.length).toBeGreaterThanOrEqual(500);
    expect(error.left.length).toBeLessThanOrEqual(500);
  });

  it('because its iterable throws or a task is invalid lists the tasks left', async () => {
    const broken = new Error('the file cannot be read');
    function* coming() {
      yield* tasks(700);
      throw broken;
    }
    const { client, ids } = await sender();
    const error = await failureOf(client.sendAll(coming()));
    expect(error.cause).toBe(broken);
    expect([error.sent.length, error.failed.length, error.unsent.length]).toEqual([500, 0, 200]);
    expect(await ids()).toEqual(error.sent);
    const unsendable = { operation: 'ship' as const, id: '-', payload: { n: 0 } };
    const second = await failureOf(client.sendAll([...tasks(600), unsendable]));
    expect(second.cause).toBeInstanceOf(UnsendableTask);
    expect(second.cause).toMatchObject({ index: 600 });
    expect(second.unsent).toHaveLength(101);
  });

  it('before it sends anything throws the plain cause for an array', async () => {
    const { client, requests } = await sender();
    const unsendable = { operation: 'ship' as const, id: '-', payload: { n: 0 } };
    await expect(client.sendAll([...tasks(3), unsendable])).rejects.toThrow(UnsendableTask);
    expect(requests).toEqual([]);
  });

  it('before it sends anything lists what it has read of an iterator', async () => {
    const { client, requests } = await sender();
    const broken = new Error('the file cannot be read');
    const coming = function* () {
      yield* tasks(3);
      throw broken;
    };
    const error = await failureOf(client.sendAll(coming()));
    expect([error.cause, error.sent, error.left.length, error.read, requests]).toEqual([broken, [], 3, 3, []]);
  });

  it('with a single task has the task and its id', async () => {
    const { client, ids } = await sender((n) => (n === 1 ? 'answer-lost' : undefined));
    const error = await failureOf(client.send({ operation: 'ship', payload: { n: 0 } }));
    expect(error.failed).toEqual(await ids());
    expect(await client.sendAll(error.left)).toEqual(error.failed);
  });
});
