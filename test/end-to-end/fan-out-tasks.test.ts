/** The function that ends a task acks its fan-out item. The last ack completes the fan-out. */
import { setTimeout } from 'node:timers/promises';
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { sqsQueues } from '../../src/aws/sqs-queues.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { type FanOutId, fanOutId, itemIdOf } from '../../src/domain/fan-out-ids.ts';
import type { NewFanOut } from '../../src/domain/fan-outs/fan-out.ts';
import { sentItemId } from '../../src/domain/fan-outs/item-token.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { within } from '../../src/ports/machine.ts';
import type { FanOutDeps } from '../../src/steps/deps.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { id as taskId, token } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { FAN_OUTS_QUEUE, suiteConfig } from './operations.ts';
import { ask, waitingIn } from './together.ts';

/** The largest group, and the most items that one write can ack. */
const [GROUP, AT_ONCE] = [450, 150];

let flow: Flow;
let deps: FanOutDeps;
let QueueUrl: string | undefined;
beforeAll(async () => {
  flow = await startFlow('burst');
  const { clients, settings } = flow.backend;
  ({ QueueUrl } = await clients.sqs.send(new CreateQueueCommand({ QueueName: FAN_OUTS_QUEUE })));
  deps = {
    config: suiteConfig(flow.downstream.url),
    fanOuts: dynamoDBFanOuts(clients.dynamodb, setting(settings, 'fanOutTable')),
    queues: sqsQueues(clients.sqs, { callback: flow.queue('callbackQueue') }),
    machine: { now: Date.now, sleep: setTimeout, within, random: Math.random, token: () => token('unused') },
    report: () => {},
  };
  flow.downstream.behave(({ items }) => ({
    status: 200,
    body: {
      results: items.map(({ id, payload }) =>
        payload.fail ? { id, status: 'failed', error: 'it tore' } : { id, status: 'succeeded' },
      ),
    },
  }));
});
afterAll(async () => {
  await flow.backend.clients.sqs.send(new DeleteQueueCommand({ QueueUrl }));
  await flow.stop();
});

/** The key of the items' tokens. */
const KEY = 'the key of the items';
/** Part of each fan-out's id, so that every run uses new fan-outs. */
const run = Date.now().toString(36);
const opened = async (name: string, count: number, fields: Partial<NewFanOut> = {}): Promise<FanOutId> => {
  const id = fanOutId(`${name}-${run}`) as FanOutId;
  const now = Date.now();
  await deps.fanOuts.open({ id, createdAt: now, itemKey: KEY, ...fields }, now + 120_000);
  await addItems(deps, id, count, token('all'));
  return id;
};
const storedTasks = () => dynamoDBTasks(flow.backend.clients.dynamodb, setting(flow.backend.settings, 'taskTable'));
const placeOf = (fanOut: FanOutId, n: number) => ({ fanOut, group: Math.floor(n / GROUP), index: n % GROUP });
/** The id that a message has. */
const itemOf = (fanOut: FanOutId, n: number) => sentItemId(KEY, placeOf(fanOut, n));

it('a fan-out of 250 tasks counts each task, and is reported once when all have ended', async () => {
  const fanOut = await opened('catalog', 250, { callback: 'fan-outs', userKey: 'catalog-7' });
  const ids = await flow.send(
    Array.from({ length: 250 }, (_, n) => ({
      operation: flow.operation,
      payload: { depot: 'catalog', n, ...(n % 10 === 3 ? { fail: true } : {}) },
      fanOutItem: itemOf(fanOut, n),
    })),
  );
  await flow.settled(ids);
  // Read from the table: a request to the API for each task would start too many functions.
  const tasks = await storedTasks().all(ids as TaskId[]);
  expect(tasks.map(({ fanOutItem }) => fanOutItem)).toEqual(ids.map((_, n) => itemIdOf(placeOf(fanOut, n))));
  expect((await deps.fanOuts.read(fanOut))?.status).toBe('open');
  expect(await seal(deps, fanOut)).toMatchObject({ kind: 'sealed' });
  const ended = await eventually(async () => (await deps.fanOuts.read(fanOut))?.ended);
  expect(ended).toMatchObject({ because: 'all-done', failed: 25 });
  const slots = (await deps.fanOuts.node(fanOut, { level: 0, n: 0 }))?.slots;
  expect(slots).toEqual(Array.from({ length: 250 }, (_, n) => n % 10 !== 3));
  const events: { id: string; data: object }[] = [];
  /** SQS may return the message late: three empty receives in a row show that there is no second event. */
  for (let quiet = 0; quiet < 3; ) {
    const { Messages = [] } = await flow.backend.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    events.push(...Messages.map(({ Body = '' }) => JSON.parse(Body)));
    quiet = events.length > 0 ? quiet + 1 : 0;
  }
  const { createdAt } = (await deps.fanOuts.read(fanOut)) ?? {};
  expect(new Set(events.map(({ id }) => id))).toEqual(new Set([`${fanOut}.${createdAt}.completed`]));
  expect(events[0]?.data).toMatchObject({ total: 250, succeeded: 225, failed: 25, userKey: 'catalog-7' });
});

describe('a full group is acked in its parent', () => {
  /**
   * Opens a fan-out of two groups, and acks all items of the first group but the last. Its fail-fast count is too
   * large to note failures item by item.
   */
  const allButOne = async (name: string): Promise<{ fanOut: FanOutId; fanOutItem: string }> => {
    const fanOut = await opened(name, GROUP + 1, { failFast: { count: 200 } });
    for (let from = 0; from < GROUP; from += AT_ONCE) {
      const indexes = Array.from({ length: AT_ONCE }, (_, n) => from + n).filter((index) => index < GROUP - 1);
      const slots = new Map(indexes.map((index) => [index, true]));
      await deps.fanOuts.ack(fanOut, { level: 0, n: 0 }, { slots, failed: 0, at: Date.now() });
    }
    return { fanOut, fanOutItem: itemOf(fanOut, GROUP - 1) };
  };
  const parent = (fanOut: FanOutId) =>
    eventually(async () => (await deps.fanOuts.node(fanOut, { level: 1, n: 0 }))?.slots.slice(0, 2));
  const patient = (depot: string, more: object) => ({ operation: 'patient', payload: { depot }, ...more });

  it('by the batch handler if the last task was called', async () => {
    const { fanOut, fanOutItem } = await allButOne('handled');
    // A failed item: with such a fail-fast count, failures are summed only when their group is done.
    await flow.send([{ operation: flow.operation, payload: { depot: 'handled', fail: true }, fanOutItem }]);
    expect(await parent(fanOut)).toEqual([true, null]);
  });

  it('by the leader if the last task expired', async () => {
    const { fanOut, fanOutItem } = await allButOne('expired');
    await flow.send([patient('expired', { fanOutItem, expiresIn: '1s' })]);
    expect(await parent(fanOut)).toEqual([true, null]);
  });

  it('by the API if the last task was cancelled', async () => {
    const { fanOut, fanOutItem } = await allButOne('cancelled');
    const [id] = await flow.send([patient('cancelled', { fanOutItem })]);
    await eventually(async () => (await ask(flow, 'DELETE', `/tasks/${id}`)).code === 200);
    expect(await parent(fanOut)).toEqual([true, null]);
  });

  it("by register if a crash followed the last task's end", async () => {
    const { fanOut, fanOutItem } = await allButOne('settled');
    const id = taskId(`settled-${run}`);
    const message = patient('settled', { fanOutItem, id });
    await flow.send([message]);
    await eventually(async () => (await waitingIn(flow.of('patient'), 'settled')) === 1);
    const tasks = storedTasks();
    const task = await tasks.get(id);
    if (!task) throw new Error('it is not registered');
    const error = { code: 'cancelled', message: 'by a process that died then', retriable: true };
    await tasks.settle([{ task, as: { status: 'failed', error } }], { at: Date.now(), keep: 3_600_000 });
    await flow.send([message]);
    expect(await parent(fanOut)).toEqual([true, null]);
  });
});

describe('the sweep', () => {
  const sweep = () => flow.backend.invoke('SweepHandler', { source: 'aws.events' });

  it('acks a group in its parent after a crash, and deletes an ended fan-out', async () => {
    const fanOut = await opened('left', GROUP + 1, { failFast: { count: 200 } });
    const ended = await opened('ended', 1);
    for (let from = 0; from < GROUP; from += AT_ONCE) {
      const slots = new Map(Array.from({ length: AT_ONCE }, (_, n) => [from + n, true]));
      await deps.fanOuts.ack(fanOut, { level: 0, n: 0 }, { slots, failed: 0, at: Date.now() });
    }
    const { checkAt = 0 } = (await deps.fanOuts.read(fanOut)) ?? {};
    expect(await deps.fanOuts.checkAgain(fanOut, checkAt, { checkAt: Date.now() - 1_000 })).toBe(true);
    const past = Date.now() - 1_000;
    await deps.fanOuts.end(ended, {
      status: 'expired',
      from: ['open'],
      because: 'idle',
      failed: 0,
      at: past,
      checkAt: past,
    });
    await eventually(async () => {
      await sweep();
      const node = await deps.fanOuts.node(fanOut, { level: 1, n: 0 });
      const isGone = (await deps.fanOuts.node(ended, { level: 0, n: 0 })) === undefined;
      return node?.slots[0] === true && isGone;
    });
  });
});
