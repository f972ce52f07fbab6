/** Callbacks report every outcome of a task. Signed HTTP destinations are tested in test/local/callbacks.test.ts. */
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { backendName } from '../backends/given.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { TOLD_QUEUE } from './operations.ts';
import { ask, waitingIn } from './together.ts';

/** The id of the event of a task's first run. The first run's number is the time of its registration. */
const firstOf = (task: string) => expect.stringMatching(new RegExp(`^${task}\\.\\d{13}$`));

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly source: string;
  readonly data: Record<string, unknown>;
}

let flow: Flow;
let QueueUrl: string | undefined;
const got: (Event & { readonly text: string })[] = [];
/** Creates the destination's queue; locally the queue exists already. */
const makeQueue = async (): Promise<void> => {
  ({ QueueUrl } = await flow.backend.clients.sqs.send(new CreateQueueCommand({ QueueName: TOLD_QUEUE })));
};
beforeAll(async () => {
  flow = await startFlow('told', TOLD_QUEUE);
  await makeQueue();
  flow.downstream.behave(({ items }) => ({
    status: 200,
    body: {
      results: items.map(({ id, payload }) =>
        payload.fail
          ? { id, status: 'failed', error: { code: 'torn', message: 'it tore' } }
          : { id, status: 'succeeded', result: { n: payload.n } },
      ),
    },
  }));
});
afterAll(async () => {
  await flow.backend.clients.sqs.send(new DeleteQueueCommand({ QueueUrl }));
  await flow.stop();
});

/** The events of a task, once at least `count` have arrived. */
const told = (task: string, count = 1): Promise<typeof got> =>
  eventually(async () => {
    const { Messages = [] } = await flow.backend.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      got.push({ ...(JSON.parse(Body) as Event), text: Body });
      await flow.backend.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    const about = got.filter(({ subject }) => subject === task);
    return about.length >= count ? about : undefined;
  });
/** Puts a message into a queue that only Groupage writes to. */
const put = (queue: 'callbackQueue' | 'callbackDeadLetters', message: object) =>
  flow.backend.clients.sqs.send(
    new SendMessageCommand({ QueueUrl: flow.queue(queue), MessageBody: JSON.stringify(message) }),
  );
const one = async (task: string): Promise<Event> => (await told(task))[0] as Event;

it('each task of a batch gets an event of its own, which reports how the task ended', async () => {
  const [good = '', bad = ''] = await flow.send([
    { operation: 'told', payload: { depot: 'batch', n: 7 }, correlationId: 'order-7' },
    { depot: 'batch', fail: true },
  ]);
  const about = { operation: 'told', target: 'told/depot=batch', attempts: 1, batchId: expect.any(String) };
  expect(await one(good)).toMatchObject({
    id: firstOf(good),
    type: 'groupage.task.succeeded',
    data: { ...about, id: good, status: 'succeeded', result: { n: 7 }, correlationId: 'order-7' },
  });
  expect(await one(bad)).toMatchObject({
    id: firstOf(bad),
    type: 'groupage.task.failed',
    data: { ...about, id: bad, status: 'failed', error: { code: 'torn', message: 'it tore' } },
  });
});

it('a redriven task gets a second event, whose id has the number of the new run', async () => {
  const [bad = ''] = await flow.send([{ depot: 'run', fail: true }, { depot: 'run' }]);
  const [first] = await told(bad);
  await ask(flow, 'POST', '/tasks/redrive', { ids: [bad] });
  await eventually(async () => (await waitingIn(flow, 'run')) === 1);
  await flow.send([{ depot: 'run' }]);
  const ids = (await told(bad, 2)).map(({ id }) => id);
  const run = Number(first?.id.slice(bad.length + 1));
  expect([first?.id, ids.at(-1)]).toEqual([firstOf(bad), `${bad}.${run + 1}`]);
});

it('expired, cancelled and superseded tasks get an event; a repeated message repeats it', async () => {
  const message = (id: string, depot: string, more: object = {}) => ({
    operation: 'told',
    id,
    payload: { depot },
    ...more,
  });
  const cancelled = message('told-cancelled', 'cancelled');
  const older = message('told-older', 'superseded', { coalesceKey: 'k' });
  await flow.send([message('told-expired', 'expired', { expiresIn: '1s' }), cancelled, older]);
  await eventually(async () => (await waitingIn(flow, 'cancelled')) + (await waitingIn(flow, 'superseded')) === 2);
  await ask(flow, 'DELETE', '/tasks/told-cancelled');
  await flow.send([message('told-newer', 'superseded', { coalesceKey: 'k' })]);
  const failed = (code: string) => ({ type: 'groupage.task.failed', data: { status: 'failed', error: { code } } });
  expect(await one('told-expired')).toMatchObject(failed('expired'));
  expect(await one('told-cancelled')).toMatchObject(failed('cancelled'));
  expect(await one('told-older')).toMatchObject({
    type: 'groupage.task.succeeded',
    data: { status: 'succeeded', supersededBy: 'told-newer' },
  });
  // A producer that does not know whether the first send arrived sends the message again.
  await flow.send([cancelled]);
  const texts = (await told('told-cancelled', 2)).map(({ text }) => text);
  expect(new Set(texts).size).toBe(1);
});

it('an operation without destinations reports a task that names its own, and no other', async () => {
  const payload = { depot: 'own' };
  const pair = flow.of('pair');
  const [asked = '', quiet = ''] = await pair.send([{ operation: 'pair', payload, callback: 'told' }, payload]);
  await pair.settled([asked, quiet]);
  expect(await one(asked)).toMatchObject({ type: 'groupage.task.succeeded', data: { operation: 'pair' } });
  expect(got.filter(({ subject }) => subject === quiet)).toEqual([]);
});

it('an event for a destination that is not configured is moved to the rejected queue', async () => {
  await put('callbackQueue', { to: 'nobody', event: got[0] });
  const refused = await eventually(async () => (await flow.rejected()).find(({ body }) => body.includes('"nobody"')));
  expect(refused.errors).toEqual([
    { path: 'to', reason: expect.stringMatching(/"nobody"; configured are told, fan-outs, lists$/) },
  ]);
});

const counted = async (queue: string): Promise<number | undefined> => {
  const { queues } = (await flow.get('/dead-letters')) as { queues: { queue: string; messages: number }[] };
  return queues.find((each) => each.queue === queue)?.messages;
};

// Events wait longer with each failed delivery: on the slow functions of an emulator for minutes. It is not asked this,
// since CI counts a skipped test as failed.
if (backendName() !== 'ministack')
  it('a missing destination delays events; given-up events are sent again on request', async () => {
    const { sqs } = flow.backend.clients;
    await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    const [lost = ''] = await flow.send([{ depot: 'gone' }, { depot: 'gone' }]);
    expect(await flow.ended([lost])).toMatchObject([{ status: 'succeeded' }]);
    const old = { ...got[0], subject: 'told-old', time: new Date(Date.now() - 80 * 3_600_000).toISOString() };
    await put('callbackQueue', { to: 'told', event: old });
    await eventually(async () => (await counted('given-up')) === 1);
    await makeQueue();
    const event = await one(lost);
    expect(event).toMatchObject({ id: firstOf(lost), type: 'groupage.task.succeeded' });
    expect(await flow.task(lost)).toMatchObject({ status: 'succeeded' });
    await ask(flow, 'POST', '/dead-letters/given-up/redrive', {});
    await told('told-old');
    // The sweep sends dead letters again, and moves those that are too old to the given-up queue.
    await put('callbackDeadLetters', { to: 'told', event });
    await put('callbackDeadLetters', { to: 'told', event: old });
    await flow.backend.invoke('SweepHandler', {});
    await told(lost, 2);
    await eventually(async () => (await counted('given-up')) === 1);
  });

it('a dead letter of the callback queue is delivered when a person redrives it', async () => {
  const event = { ...got[0], subject: 'told-dead', time: new Date().toISOString() };
  await put('callbackDeadLetters', { to: 'told', event });
  await eventually(async () => (await counted('callback')) === 1);
  await ask(flow, 'POST', '/dead-letters/callback/redrive', {});
  await told('told-dead');
});
