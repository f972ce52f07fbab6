import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivered, type Polling, type Source, startSource } from '../../bench/performance/event-source.ts';
import { counting, emptied, newUsage, type Usage } from '../../bench/performance/site.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';
import { eventually } from '../end-to-end/flow.ts';

let engine: SqsEngine;
let clients: ReturnType<typeof localClients>;
let queues = 0;

beforeAll(async () => {
  engine = await startSqs({ port: 0 }, new URL('../../bench/performance/fifo-thread.ts', import.meta.url));
  clients = localClients({ sqs: engine.endpoint, patient: true });
});
afterAll(() => engine.stop());

const newQueue = async (Attributes: Record<string, string> = {}): Promise<string> => {
  queues += 1;
  const QueueName = `q${queues}${Attributes.FifoQueue ? '.fifo' : ''}`;
  const { QueueUrl = '' } = await clients.sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
};

/** @param group of a body, for a FIFO queue */
const send = async (QueueUrl: string, bodies: readonly string[], group?: (body: string) => string): Promise<void> => {
  for (let first = 0; first < bodies.length; first += 10)
    await clients.sqs.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: bodies.slice(first, first + 10).map((body, index) => ({
          Id: String(index),
          MessageBody: body,
          ...(group ? { MessageGroupId: group(body), MessageDeduplicationId: body } : {}),
        })),
      }),
    );
};

/** The count of requests to one queue that returned messages. */
const requests = ({ sqsRequests }: Usage, name: string): number =>
  [...sqsRequests].reduce((sum, [what, count]) => sum + (what.endsWith(` ${name}`) ? count : 0), 0);

const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

describe('an event source', () => {
  const source = async (change: Partial<Source>) => {
    const usage = newUsage();
    const polling = counting(localClients({ sqs: engine.endpoint, patient: true }), usage);
    const payer = { polling, usage, errors: [] as string[] };
    const queueUrl = await newQueue();
    const invocations: string[][] = [];
    const handle = async (messages: readonly Delivered[]): Promise<string[]> => {
      invocations.push(messages.map(({ body }) => body));
      return [];
    };
    const begin = (): Polling => startSource(payer, { name: 'fn', queueUrl, batchSize: 10, handle, ...change });
    return { ...payer, queueUrl, invocations, begin };
  };

  it('invokes with up to batchSize messages, and deletes them', async () => {
    const { begin, queueUrl, invocations, usage } = await source({ batchSize: 4 });
    await send(queueUrl, numbered(10));
    const polling = begin();
    expect(await emptied(clients.sqs, [queueUrl], 60_000)).toBe(true);
    await polling.stop();
    expect(invocations.flat().sort()).toEqual(numbered(10));
    expect(Math.max(...invocations.map(({ length }) => length))).toBe(4);
    expect(usage.invocations.get('fn')).toBe(invocations.length);
    expect(requests(usage, 'DeleteMessageBatch')).toBe(invocations.length);
    expect(requests(usage, 'ReceiveMessage')).toBe(invocations.length);
  });

  it('gathers the messages of many receives during a window', async () => {
    const { begin, queueUrl, invocations, usage } = await source({ batchSize: 1_000, window: 1_500 });
    await send(queueUrl, numbered(100));
    const polling = begin();
    expect(await emptied(clients.sqs, [queueUrl], 60_000)).toBe(true);
    await polling.stop();
    expect(invocations.flat()).toHaveLength(100);
    // At most one invocation for each poller, as long as none needs a second window.
    expect(invocations.length).toBeLessThan(requests(usage, 'ReceiveMessage'));
    expect(Math.max(...invocations.map(({ length }) => length))).toBeGreaterThan(10);
  });

  it('is billed for each 64 KB that it receives', async () => {
    const { begin, queueUrl, polling: clientsOfSource, usage } = await source({});
    await send(queueUrl, ['x'.repeat(100_000)]);
    expect(usage.sqsRequests.size).toBe(0);
    const polling = begin();
    expect(await emptied(clients.sqs, [queueUrl], 60_000)).toBe(true);
    await polling.stop();
    expect(requests(usage, 'ReceiveMessage')).toBe(2);
    expect(requests(usage, 'DeleteMessageBatch')).toBe(1);
    await clientsOfSource.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'x'.repeat(200_000) }));
    expect(requests(usage, 'SendMessage')).toBe(4);
  });

  it('keeps messages that failed, or whose function threw', async () => {
    const handle = async ([first]: readonly Delivered[]): Promise<string[]> => {
      if (first?.body === '0') throw new Error('no');
      return first?.body === '1' ? [first.messageId] : [];
    };
    const { begin, queueUrl, errors, usage } = await source({ batchSize: 1, handle });
    await send(queueUrl, numbered(3));
    const polling = begin();
    await eventually(() => requests(usage, 'DeleteMessageBatch') === 1 && errors.length === 1);
    await polling.stop();
    expect(errors).toEqual(['fn: no']);
    expect(requests(usage, 'DeleteMessageBatch')).toBe(1);
    expect(await emptied(clients.sqs, [queueUrl], 0)).toBe(false);
  });

  it('has an invocation for each message if it scales', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let underWay = 0;
    const handle = async (): Promise<string[]> => {
      underWay += 1;
      await released;
      return [];
    };
    const { begin, queueUrl } = await source({ batchSize: 1, scales: true, handle });
    await send(queueUrl, numbered(12));
    const polling = begin();
    await eventually(() => underWay === 12);
    release();
    expect(await emptied(clients.sqs, [queueUrl], 60_000)).toBe(true);
    await polling.stop();
  });
});

describe('a local FIFO queue', () => {
  const receive = async (QueueUrl: string) => {
    const { Messages = [] } = await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    return Messages;
  };
  const bodies = (messages: Awaited<ReturnType<typeof receive>>) => messages.map(({ Body = '' }) => Body);

  it('gives all messages of a group in order, then those of the next', async () => {
    const queue = await newQueue({ FifoQueue: 'true' });
    await send(queue, ['a1', 'b1', 'a2', 'b2', 'a3'], (body) => body.slice(0, 1));
    expect(bodies(await receive(queue))).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  });

  it('holds a group back until every received message of it is deleted', async () => {
    const queue = await newQueue({ FifoQueue: 'true' });
    const a = Array.from({ length: 12 }, (_, n) => `a${n}`);
    await send(queue, [...a, 'b1'], (body) => body.slice(0, 1));
    const first = await receive(queue);
    expect(bodies(first)).toEqual(a.slice(0, 10));
    expect(bodies(await receive(queue))).toEqual(['b1']);
    for (const { ReceiptHandle } of first.slice(1))
      await clients.sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle }));
    expect(await receive(queue)).toEqual([]);
    await clients.sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: first[0]?.ReceiptHandle }));
    expect(bodies(await receive(queue))).toEqual(a.slice(10));
  });
});
