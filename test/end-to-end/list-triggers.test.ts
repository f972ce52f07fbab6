/** Triggered jobs of deferred lists become tasks through the register queue, and each task that ends acks its job. */
import { setTimeout } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { sqsQueues } from '../../src/aws/sqs-queues.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { type ClaimId, claimKeyOf, type ListId, listId, taskOf, trackerOf } from '../../src/domain/lists/ids.ts';
import { leased } from '../../src/domain/lists/list.ts';
import { printTrigger } from '../../src/domain/register/trigger-message.ts';
import { within } from '../../src/ports/machine.ts';
import type { ListDeps } from '../../src/steps/deps.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { append } from '../../src/steps/lists/append.ts';
import { listProgress } from '../../src/steps/lists/jobs.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { token } from '../factories/factories.ts';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { type OperationOfSuite, suiteConfig } from './operations.ts';
import { ask, rowsOfList } from './together.ts';

const SIZE = 50;
/** The `maxWait` of the operation, in milliseconds. */
const MAX_WAIT = 5_000;

let flow: Flow;
let deps: ListDeps;
beforeAll(async () => {
  flow = await startFlow('burst');
  const { clients, settings } = flow.backend;
  const [headers, table] = [setting(settings, 'fanOutTable'), setting(settings, 'listTable')];
  deps = {
    config: suiteConfig(flow.downstream.url),
    fanOuts: dynamoDBFanOuts(clients.dynamodb, headers),
    lists: dynamoDBLists(clients.dynamodb, headers, table),
    queues: sqsQueues(clients.sqs, { register: flow.queue('registerQueue'), callback: flow.queue('callbackQueue') }),
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
afterAll(() => flow.stop());

/** Part of each list's id, so that every run uses new lists. */
const run = Date.now().toString(36);
const opened = async (
  name: string,
  payloads: readonly object[],
  operation: OperationOfSuite = 'ship',
): Promise<ListId> => {
  const id = listId(`${name}-${run}`) as ListId;
  const now = Date.now();
  await deps.lists.open({ id: trackerOf(id), createdAt: now, operation }, now + 120_000);
  const texts = payloads.map((payload) => JSON.stringify(payload));
  expect(await append(deps, id, texts, token('all'))).toMatchObject({ kind: 'appended', first: 0 });
  return id;
};
const jobs = (depot: string, count: number) => Array.from({ length: count }, (_, n) => ({ depot, n }));
const tokens = (count: number) => Array.from({ length: count }, (_, n) => n);
const tasksOf = (id: ListId, count: number) => tokens(count).map((n) => taskOf(id, n));
const progress = async (id: ListId) => {
  const list = await deps.lists.read(id);
  return list && listProgress(deps, list);
};
const ended = (id: ListId) => eventually(async () => (await deps.lists.read(id))?.ended);
const storedTasks = () => dynamoDBTasks(flow.backend.clients.dynamodb, setting(flow.backend.settings, 'taskTable'));

it('1,200 jobs triggered by two calls at once go in full batches, and complete their list', async () => {
  const COUNT = 1_200;
  const id = await opened('large', jobs('large', 1_000), 'burst');
  const more = jobs('large', COUNT).slice(1_000);
  expect(
    await append(
      deps,
      id,
      more.map((each) => JSON.stringify(each)),
      token('more'),
    ),
  ).toMatchObject({ total: COUNT });
  const from = performance.now();
  const asked = await Promise.all([300, COUNT].map((count, n) => trigger(deps, id, { count }, token(`t${n}`))));
  expect(asked.reduce((sum, each) => sum + (each.kind === 'triggered' ? each.count : 0), 0)).toBe(COUNT);
  expect(await trigger(deps, id, { count: 300 }, token('t0'))).toEqual(asked[0]);
  expect(await trigger(deps, id, { count: 1 }, token('t0'))).toEqual({ kind: 'other-amount', wanted: '300 jobs' });
  await seal(deps, trackerOf(id));
  await flow.settled(tasksOf(id, COUNT));
  const calls = flow.calls('large');
  expectEachTaskInOneBatch(calls, tasksOf(id, COUNT));
  expect(calls.flatMap(({ items }) => items)).toHaveLength(COUNT);
  expect(calls.flatMap(({ items }) => items).every((item) => item.id === `${id}:${item.payload.n}`)).toBe(true);
  const waited = Math.ceil((performance.now() - from) / MAX_WAIT);
  expect(calls.length).toBeLessThanOrEqual(COUNT / SIZE + waited);
  expect(await ended(id)).toMatchObject({ because: 'all-done', failed: 0 });
});

it("a job that fails downstream, is refused, or has another task's id counts as failed", async () => {
  const depot = 'mixed';
  const id = await opened(depot, [
    { depot, n: 0 },
    { depot, n: 1, fail: true },
    { depots: depot, n: 2 },
    { depot, n: 3 },
    { depot, n: 4 },
  ]);
  await flow.send([{ operation: 'ship', id: taskOf(id, 3), payload: { depot: 'elsewhere' } }]);
  await flow.settled([taskOf(id, 3)]);
  await trigger(deps, id, { percent: 100 }, token('t'));
  await flow.settled([0, 1, 3, 4].map((n) => taskOf(id, n)));
  await eventually(async () => (await progress(id))?.started === 0);
  expect(await progress(id)).toEqual({ available: 0, leased: 0, started: 0, succeeded: 2, failed: 3 });
  expect((await deps.fanOuts.node(trackerOf(id), { level: 0, n: 0 }))?.slots.slice(0, 5)).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
  await seal(deps, trackerOf(id));
  expect(await ended(id)).toMatchObject({ failed: 3 });
  const refused = (await flow.rejected()).filter(({ body }) => body.includes(id));
  expect(refused.map(({ body, errors }) => [JSON.parse(body).id, errors[0]?.path]).toSorted()).toEqual([
    [taskOf(id, 2), 'payload.depot'],
    [taskOf(id, 3), 'id'],
  ]);
});

describe('a full group of jobs is acked in its parent', () => {
  const GROUP = 450;
  /** Opens a list of one full group and one job more, and acks all jobs of the group but the last as a worker does. */
  const allButOne = async (name: string, last: object, operation: OperationOfSuite): Promise<ListId> => {
    const id = await opened(name, [...jobs(name, GROUP - 1), last, { depot: name }], operation);
    for (let first = 0; first < GROUP; first += 150) {
      const indexes = tokens(150).map((n) => first + n);
      const slots = new Map(indexes.filter((n) => n < GROUP - 1).map((n) => [n, true]));
      const written = { slots, failed: 0, at: Date.now() };
      const leaf = { level: 0, n: 0 };
      if (first === 0) await deps.fanOuts.putNode(trackerOf(id), leaf, written);
      else await deps.fanOuts.ack(trackerOf(id), leaf, written);
    }
    // The trigger includes the jobs that are done already, which start no task.
    await trigger(deps, id, { count: GROUP }, token('t'));
    return id;
  };
  const parent = (id: ListId) =>
    eventually(async () => (await deps.fanOuts.node(trackerOf(id), { level: 1, n: 0 }))?.slots.slice(0, 2));

  it('by the batch handler if the last was called', async () => {
    const id = await allButOne('list-handled', { depot: 'list-handled', fail: true }, 'ship');
    expect(await parent(id)).toEqual([true, null]);
    expect(
      flow
        .of('ship')
        .calls('list-handled')
        .flatMap(({ items }) => items),
    ).toHaveLength(1);
    expect((await deps.fanOuts.counts(trackerOf(id), [{ level: 1, n: 0 }]))[0]?.failed).toBe(1);
  });

  it('by register if the last was refused', async () => {
    expect(await parent(await allButOne('list-refused', { depots: 'list-refused' }, 'ship'))).toEqual([true, null]);
  });

  it('by the API if the last was cancelled', async () => {
    const id = await allButOne('list-cancelled', { depot: 'list-cancelled' }, 'patient');
    const task = taskOf(id, GROUP - 1);
    await eventually(async () => (await storedTasks().get(task)) !== undefined);
    await eventually(async () => (await ask(flow, 'DELETE', `/tasks/${task}`)).code === 200);
    expect(await parent(id)).toEqual([true, null]);
  });
});

it('a trigger message starts the jobs if the caller of the trigger crashed', async () => {
  const id = await opened('stood-in', jobs('stood-in', 20));
  const message = printTrigger({ list: id, token: token('t'), count: 7, from: 0 });
  // Twice: SQS delivers at least once.
  for (const _ of [1, 2])
    await flow.backend.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: flow.queue('registerQueue'), MessageBody: message }),
    );
  await flow.settled(tasksOf(id, 7));
  expect(await trigger(deps, id, { count: 9 }, token('t'))).toEqual({ kind: 'triggered', count: 7 });
  await eventually(async () => (await progress(id))?.succeeded === 7);
  expect(await progress(id)).toEqual({ available: 13, leased: 0, started: 0, succeeded: 7, failed: 0 });
});

describe('the sweep', () => {
  const sweep = () => flow.backend.invoke('SweepHandler', { source: 'aws.events' });
  it('completes a sealed list after a crash, and clears a deleted list', async () => {
    const left = await opened('left', jobs('left', 2));
    await deps.fanOuts.putNode(
      trackerOf(left),
      { level: 0, n: 0 },
      { slots: new Map([0, 1].map((n) => [n, true])), failed: 0, at: Date.now() },
    );
    await deps.fanOuts.seal(trackerOf(left), Date.now());
    const { checkAt = 0 } = (await deps.fanOuts.read(trackerOf(left))) ?? {};
    expect(await deps.fanOuts.checkAgain(trackerOf(left), checkAt, { checkAt: Date.now() - 1_000 })).toBe(true);
    const gone = await opened('gone', jobs('gone', 30));
    await deps.lists.putResults(gone, [{ token: 3, outcome: 'succeeded' }]);
    await trigger(deps, gone, { count: 1 }, token('t'));
    await flow.settled(tasksOf(gone, 1));
    // The jobs, their token and their place, the trigger, and a result.
    expect(await rowsOfList(flow, gone)).toHaveLength(5);
    const header = await deps.fanOuts.read(trackerOf(gone));
    if (!header) throw new Error('it is not there');
    await discard(deps, header);
    await eventually(async () => {
      await sweep();
      const isComplete = (await deps.lists.read(left))?.status === 'complete';
      const rows = await rowsOfList(flow, gone);
      // The token stays for a while: the same addition may still be under way.
      return isComplete && rows.join() === `${gone} a#all`;
    });
    expect(await deps.fanOuts.node(trackerOf(gone), { level: 0, n: 0 })).toBeUndefined();
  });
});

it('the register function takes jobs of dead workers whose claims have rows of their own', async () => {
  const id = await opened('apart', jobs('apart', 2));
  const { lists } = deps;
  const long = Date.now() - 600_000;
  const until = 1_000 * Math.ceil(long / 1_000);
  const list = await lists.read(id);
  if (!list) throw new Error('the list does not exist');
  const key = claimKeyOf('dead' as ClaimId);
  const claim = { key, leases: [leased(key, 0, { first: 0, count: 2, deliveries: 1, isSuspect: false }, until)] };
  const change = { from: [], to: [], fresh: { head: 0, count: 2 }, gone: [], apart: 'none' as const };
  expect(await lists.putApart(id, claim, { ...change, becomes: { count: 1, until } })).toBe(true);
  // The API has died between its message and the taking of the jobs.
  const MessageBody = printTrigger({ list: id, token: token('late'), count: 2, from: 0 });
  const QueueUrl = flow.queue('registerQueue');
  await flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  await flow.settled(tasksOf(id, 2));
  await seal(deps, trackerOf(id));
  expect(await ended(id)).toMatchObject({ because: 'all-done', failed: 0 });
  expect(await lists.claimsApart(id)).toEqual([]);
});
