/** Callbacks on the local stack, with the queue, the function, the sweep and the API of the template. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sqsQueues } from '../../src/aws/sqs-queues.ts';
import { callbackOf } from '../../src/domain/callbacks/callback.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { verify } from '../../src/domain/downstream/signature.ts';
import { type RunningStack, startStack } from '../../tools/local/stack.ts';
import { backendOf } from '../backends/here.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { aStored, id } from '../factories/factories.ts';

interface Got {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly data: Record<string, unknown>;
}

/** A receiver of events: the events it got, and the status it answers. */
const startReceiver = async () => {
  const got: (Got & { readonly isSigned: boolean })[] = [];
  let answer = (_: Got): number => 204;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const event = JSON.parse(body.toString()) as Got;
    const header = String(request.headers['groupage-signature']);
    got.push({ ...event, isSigned: verify({ header, body, secrets: [SIGNING], now: Date.now() }) });
    response.writeHead(answer(event)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    got,
    answers: (next: typeof answer) => {
      answer = next;
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
};

const SIGNING = 'the signing key';
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let stack: RunningStack;
let flow: Flow;
const events: { readonly event: string }[] = [];

beforeAll(async () => {
  process.env.GROUPAGE_SECRET_HOOKS_SIGNING = SIGNING;
  receiver = await startReceiver();
  const downstream = await startTestDownstream(({ items }) => ({
    status: 200,
    body: {
      results: items.map(({ id: item, payload }) =>
        payload.fail
          ? { id: item, status: 'failed', error: { code: 'no-such-depot', message: 'there is none' } }
          : { id: item, status: 'succeeded', result: { done: true } },
      ),
    },
  }));
  const errors: string[] = [];
  stack = await startStack({
    config: configFrom({
      operations: { ship: { ...operationAt(downstream.url), callbacks: { failed: 'ops' } } },
      destinations: {
        ops: { kind: 'queue', name: 'groupage-ops' },
        hook: { kind: 'http', url: receiver.url, secret: { ssm: '/hooks/signing' }, timeout: '1s' },
        news: { kind: 'topic', name: 'news' },
      },
    }),
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: {
      log: { info: () => {}, warn: () => {}, error: (message) => errors.push(message) },
      onEvent: (event) => events.push(event),
    },
    onError: (error) => errors.push(error.message),
  });
  flow = flowOn(backendOf(stack, errors), downstream, 'ship');
});
afterAll(async () => {
  await flow.stop();
  await receiver.stop();
});
afterEach(() => receiver.answers(() => 204));

const callback = (name: string, to: string, finishedAt = Date.now()) => {
  const error = { code: 'refused', message: 'no', retriable: false };
  const task = aStored({ status: 'failed', error, attempts: 1, finishedAt }, { id: id(name) });
  const message = callbackOf({ callbacks: { failed: to, succeeded: null } }, task);
  if (!message) throw new Error('there is no callback message');
  return message;
};
const tell = (...messages: readonly ReturnType<typeof callback>[]): Promise<void> =>
  sqsQueues(stack.clients.sqs, { callback: flow.queue('callbackQueue') }).callbacks(messages);
const gotOf = (subject: string) => receiver.got.filter((event) => event.subject === subject);

const lying = async (): Promise<number> => {
  const { queues } = (await flow.get('/dead-letters')) as { queues: { queue: string; messages: number }[] };
  return queues.find(({ queue }) => queue === 'given-up')?.messages ?? Number.NaN;
};

/** The next event on a task in the destination's queue. */
const inQueue = (subject: string): Promise<Got> =>
  eventually(async () => {
    const QueueUrl = flow.queue('callbackQueue').replace(/[^/]+$/, 'groupage-ops');
    const { Messages = [] } = await stack.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    for (const { ReceiptHandle } of Messages)
      await stack.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return Messages.map(({ Body = '' }) => JSON.parse(Body) as Got).find((event) => event.subject === subject);
  });

describe('callbacks', () => {
  it('have a queue, which the local addresses name', () => {
    expect(stack.addresses.queues.callback).toBe(setting(stack.settings, 'callbackQueue'));
  });

  it('arrive signed over HTTP, and unchanged on each retry after a 500', async () => {
    receiver.answers(() => (gotOf('twice').length <= 2 ? 500 : 200));
    await tell(callback('twice', 'hook'));
    const got = await eventually(() => (gotOf('twice').length >= 3 ? gotOf('twice') : undefined), 60_000);
    expect(got.map((event) => [event.id, event.isSigned])).toEqual([1, 2, 3].map(() => ['twice.1', true]));
    expect(got[0]).toMatchObject({ type: 'groupage.task.failed', source: '/groupage/local/ship' });
    await eventually(() => events.some((each) => JSON.stringify(each).includes('"delivered","destination":"hook"')));
    const failures = events.filter(({ event }) => event === 'not-delivered');
    expect(failures).toEqual(
      [1, 2].map(() => ({ event: 'not-delivered', destination: 'hook', cause: 'answered 500' })),
    );
  });

  it('are given up if the destination refuses them, counted, and redriven by the API', async () => {
    receiver.answers(() => 410);
    // Too old for automatic retries: after some attempts the event waits for a redrive by a person.
    await tell(callback('gone', 'hook', Date.now() - 80 * 3_600_000));
    await eventually(async () => (await lying()) === 1, 60_000);
    expect(gotOf('gone')).toHaveLength(3);
    receiver.answers(() => 204);
    const response = await eventually(async () => {
      const answer = await flow.backend.api('/dead-letters/given-up/redrive', { method: 'POST' });
      const { redriven } = (await answer.json()) as { redriven: number };
      return redriven === 1 ? answer.status : undefined;
    });
    expect(response).toBe(202);
    await eventually(() => gotOf('gone').length === 4, 60_000);
    expect(new Set(gotOf('gone').map((event) => event.id))).toEqual(new Set(['gone.1']));
    await eventually(async () => (await lying()) === 0, 60_000);
  });

  it('to a topic fail on the local stack, and the error says what to set', async () => {
    await tell(callback('nowhere', 'news'));
    const failure = await eventually(
      () => events.find((each) => JSON.stringify(each).includes('"destination":"news"')),
      60_000,
    );
    expect(failure).toMatchObject({ event: 'not-delivered', cause: expect.stringContaining('AWS_ENDPOINT_URL_SNS') });
  });

  it('to an unknown destination lie in the rejected queue', async () => {
    await tell(callback('lost', 'elsewhere'));
    const refused = await eventually(async () => (await flow.rejected())[0], 60_000);
    expect(refused.errors).toEqual([{ path: 'to', reason: expect.stringMatching(/"elsewhere"; configured are ops/) }]);
  });
});

describe('the callback of a task', () => {
  it("that failed goes to the operation's destination, or the task's own", async () => {
    const [first = '', second = ''] = await flow.send([
      { depot: 'MUC', fail: true },
      { operation: 'ship', payload: { depot: 'MUC', fail: true }, callback: 'hook', correlationId: 'c-1' },
    ]);
    expect(await inQueue(first)).toMatchObject({
      id: expect.stringMatching(new RegExp(`^${first}\\.\\d{13}$`)),
      type: 'groupage.task.failed',
      data: { id: first, status: 'failed', attempts: 1, error: { code: 'no-such-depot', message: 'there is none' } },
    });
    const got = await eventually(() => gotOf(second)[0], 60_000);
    expect(got).toMatchObject({ isSigned: true, data: { correlationId: 'c-1', error: { code: 'no-such-depot' } } });
  });

  it('that succeeded is sent only if the task names a destination', async () => {
    const [quiet = '', asked = ''] = await flow.send([
      { depot: 'HAM' },
      { operation: 'ship', payload: { depot: 'HAM' }, callback: 'hook' },
    ]);
    const got = await eventually(() => gotOf(asked)[0], 60_000);
    expect(got).toMatchObject({ type: 'groupage.task.succeeded', data: { result: { done: true } } });
    expect(gotOf(quiet)).toEqual([]);
  });

  it("does not change the task's result if no destination takes it", async () => {
    receiver.answers(() => 500);
    const [task = ''] = await flow.send([{ operation: 'ship', payload: { depot: 'BER' }, callback: 'hook' }]);
    await eventually(() => gotOf(task).length >= 2, 60_000);
    expect(await flow.task(task)).toMatchObject({ status: 'succeeded', result: { done: true } });
  });
});
