/**
 * Deferred lists through the stack's API: triggered jobs go in full batches, workers claim jobs, and each list ends
 * once.
 */
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { type ListId, taskOf, trackerOf } from '../../src/domain/lists/ids.ts';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { LISTS_QUEUE } from './operations.ts';
import { ask, rowsOfList } from './together.ts';

const [SIZE, MAX_WAIT] = [50, 5_000];

let flow: Flow;
let QueueUrl: string | undefined;
const got: { readonly id: string; readonly type: string; readonly subject: string; readonly data: object }[] = [];
beforeAll(async () => {
  flow = await startFlow('burst');
  ({ QueueUrl } = await flow.backend.clients.sqs.send(new CreateQueueCommand({ QueueName: LISTS_QUEUE })));
  flow.downstream.behave(({ items }) => ({
    status: 200,
    body: {
      results: items.map(({ id, payload }) =>
        payload.n === 3 || payload.n === 203
          ? { id, status: 'failed', error: 'it tore' }
          : { id, status: 'succeeded', result: { n: payload.n } },
      ),
    },
  }));
});
afterAll(async () => {
  await flow.backend.clients.sqs.send(new DeleteQueueCommand({ QueueUrl }));
  await flow.stop();
});

/** Part of each list's id, so that every run uses new lists. */
const run = Date.now().toString(36);
const idOf = (name: string): ListId => `${name}-${run}` as ListId;
const post = (path: string, body?: object) => ask(flow, 'POST', `/lists${path}`, body);
const look = (id: ListId, more = '') => ask(flow, 'GET', `/lists/${id}${more}`);
const jobs = (depot: string, count: number) => Array.from({ length: count }, (_, n) => ({ payload: { depot, n } }));
const tokens = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);
const tasksOf = (id: ListId, count: number) => tokens(0, count).map((n) => taskOf(id, n));
const tokensIn = ({ jobs: claimed }: Record<string, unknown>): number[] =>
  (claimed as { token: number }[]).map(({ token }) => token);
const store = () => {
  const { clients, settings } = flow.backend;
  return dynamoDBLists(clients.dynamodb, setting(settings, 'fanOutTable'), setting(settings, 'listTable'));
};
/** Read from the table: where functions are deployed, each request to the API starts one. */
const status = async (id: ListId) => {
  const { clients, settings } = flow.backend;
  return (await dynamoDBFanOuts(clients.dynamodb, setting(settings, 'fanOutTable')).read(trackerOf(id)))?.status;
};
/** Receives the events that are in the queue now. @returns their number */
const listen = async (): Promise<number> => {
  const { Messages = [] } = await flow.backend.clients.sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
  );
  for (const { Body = '', ReceiptHandle } of Messages) {
    got.push(JSON.parse(Body));
    await flow.backend.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  }
  return Messages.length;
};
const about = (id: ListId) => got.filter(({ subject }) => subject === id);
/** The events of a list, once there is one and no more arrive. */
const told = async (id: ListId) => {
  await eventually(async () => {
    await listen();
    return about(id).length > 0;
  });
  while ((await listen()) > 0);
  return about(id);
};

it('250 jobs triggered in two parts go in full batches, and their list is reported once', async () => {
  const id = idOf('catalog');
  const opening = { id, operation: 'burst', name: 'Katalog 7', callback: 'lists' };
  expect(await post('', opening)).toMatchObject({ code: 201, id, status: 'open', total: 0, available: 0 });
  expect(await post('', opening)).toMatchObject({ code: 200, id });
  for (const _ of ['once', 'again'])
    expect(await post(`/${id}/jobs`, { jobs: jobs(id, 250), token: 'a' })).toEqual({
      code: 200,
      first: 0,
      count: 250,
      total: 250,
    });
  expect(await look(id)).toMatchObject({
    operation: 'burst',
    name: 'Katalog 7',
    total: 250,
    available: 250,
    started: 0,
  });
  const from = performance.now();
  for (const _ of ['once', 'again'])
    expect(await post(`/${id}/triggers`, { percent: 30, token: 't' })).toEqual({ code: 200, triggered: 75, left: 175 });
  expect(await post(`/${id}/triggers`, { percent: 100 })).toEqual({ code: 200, triggered: 175, left: 0 });
  expect(await post(`/${id}/triggers`, { count: 9 })).toEqual({ code: 200, triggered: 0, left: 0 });
  expect(await post(`/${id}/seal`)).toMatchObject({ code: 200, id, total: 250 });
  await flow.settled(tasksOf(id, 250));
  const calls = flow.calls(id);
  expectEachTaskInOneBatch(calls, tasksOf(id, 250));
  expect(calls.flatMap(({ items }) => items.map((item) => `${id}:${item.payload.n}` === item.id))).toEqual(
    Array(250).fill(true),
  );
  expect(calls.length).toBeLessThanOrEqual(250 / SIZE + Math.ceil((performance.now() - from) / MAX_WAIT));
  await eventually(async () => (await status(id)) === 'complete');
  const events = await told(id);
  expect(new Set(events.map((event) => event.id))).toEqual(
    new Set([expect.stringMatching(`^${id}\\.\\d+\\.completed$`)]),
  );
  expect(events[0]).toMatchObject({
    type: 'groupage.list.completed',
    data: { id, name: 'Katalog 7', because: 'all-done', total: 250, succeeded: 248, failed: 2 },
  });
  expect(await look(id)).toMatchObject({
    status: 'complete',
    total: 250,
    available: 0,
    leased: 0,
    started: 0,
    done: 250,
    succeeded: 248,
    failed: 2,
  });
  expect((await look(id, '/jobs?from=202&limit=2')).jobs).toEqual([
    { token: 202, status: 'succeeded', payload: { depot: id, n: 202 }, task: `${id}:202`, result: { n: 202 } },
    {
      token: 203,
      status: 'failed',
      payload: { depot: id, n: 203 },
      task: `${id}:203`,
      error: expect.objectContaining({ message: expect.stringContaining('it tore') }),
    },
  ]);
});

it('workers claim, renew, release and complete jobs, each with its own result', async () => {
  const id = idOf('pulled');
  const claim = (claimId: string, count: number) => post(`/${id}/claims`, { claimId, count, leaseSeconds: 600 });
  const end = (handle: unknown, how: string, body?: object) => post(`/${id}/claims/${handle}/${how}`, body);
  await post('', { id, callback: 'lists' });
  await post(`/${id}/jobs`, { jobs: jobs(id, 10) });
  const mine = await claim('w1', 4);
  expect([mine.code, mine.jobs]).toEqual([200, jobs(id, 4).map((job, token) => ({ token, deliveries: 1, ...job }))]);
  expect(await claim('w1', 9)).toEqual(mine);
  const theirs = await claim('w2', 4);
  expect(tokensIn(theirs)).toEqual([4, 5, 6, 7]);
  expect(await look(id)).toMatchObject({ available: 2, leased: 8, done: 0 });
  const renewed = await ask(flow, 'PUT', `/lists/${id}/claims/${mine.claimId}`, { leaseSeconds: 3_600 });
  expect(Date.parse(String(renewed.expiresAt))).toBeGreaterThan(Date.parse(String(mine.expiresAt)) + 2_900_000);
  const released = { code: 200, failed: 0, complete: false };
  expect(await end(theirs.claimId, 'release')).toEqual({ ...released, released: 4 });
  expect(await end(theirs.claimId, 'release')).toEqual({ ...released, released: 0 });
  // Jobs that were never claimed are handed out before released ones.
  const next = await claim('w3', 4);
  expect(tokensIn(next)).toEqual([8, 9]);
  expect(await end(theirs.claimId, 'complete')).toMatchObject({ code: 409 });
  const some = [
    { token: 1, result: { a: [1] } },
    { token: 2, status: 'failed', error: { code: 'torn', message: 'it tore' } },
  ];
  // Of two results for one job, the first stands.
  for (const jobs of [some, [{ token: 1, result: 'other' }, { token: 2 }]])
    expect(await end(mine.claimId, 'complete', { jobs })).toEqual({ code: 200, complete: false });
  expect(tokensIn(await claim('w1', 4))).toEqual([0, 3]);
  for (const _ of ['once', 'again'])
    expect(await end(mine.claimId, 'complete')).toEqual({ code: 200, complete: false });
  expect(await post(`/${id}/seal`)).toMatchObject({ status: 'sealed', total: 10, available: 4, leased: 2, done: 4 });
  expect(await post(`/${id}/jobs`, { jobs: jobs(id, 1) })).toMatchObject({ code: 409 });
  expect(await end(next.claimId, 'complete')).toEqual({ code: 200, complete: false });
  const last = await claim('w4', 100);
  expect(tokensIn(last)).toEqual([4, 5, 6, 7]);
  expect(last.jobs).toMatchObject([4, 5, 6, 7].map((token) => ({ token, deliveries: 2 })));
  expect(await claim('w5', 1)).toEqual({ code: 200, jobs: [], status: 'sealed' });
  // A worker that held the job stored its result, and crashed before it completed the job. That result stands.
  await store().putResults(id, [{ token: 4, outcome: 'succeeded', result: '"first"' }]);
  const late = [{ token: 4, result: 'second' }];
  expect(await end(last.claimId, 'complete', { jobs: late })).toEqual({ code: 200, complete: false });
  expect(await end(last.claimId, 'complete')).toEqual({ code: 200, complete: true });
  expect(await end(last.claimId, 'complete')).toEqual({ code: 200, complete: true });
  expect(await claim('w5', 1)).toEqual({ code: 200, jobs: [], status: 'complete' });
  const events = await told(id);
  expect([...new Set(events.map(({ type, data }) => JSON.stringify([type, data])))]).toHaveLength(1);
  expect(events[0]).toMatchObject({ type: 'groupage.list.completed', data: { total: 10, succeeded: 9, failed: 1 } });
  expect((await look(id, '/jobs?from=1&limit=2')).jobs).toEqual([
    { token: 1, status: 'succeeded', payload: { depot: id, n: 1 }, result: { a: [1] } },
    { token: 2, status: 'failed', payload: { depot: id, n: 2 }, error: { code: 'torn', message: 'it tore' } },
  ]);
  expect((await look(id, '/jobs?from=4&limit=1')).jobs).toMatchObject([{ token: 4, result: 'first' }]);
  expect((await look(id, '/jobs?status=failed')).jobs).toMatchObject([{ token: 2, error: { code: 'torn' } }]);
});

it('a cancelled list hands out no more jobs; its running jobs end, and no event is sent', async () => {
  const id = idOf('cancelled');
  await post('', { id, operation: 'patient', callback: 'lists' });
  await post(`/${id}/jobs`, { jobs: jobs(id, 20) });
  expect(await post(`/${id}/triggers`, { count: 8 })).toEqual({ code: 200, triggered: 8, left: 12 });
  const claimed = await post(`/${id}/claims`, { count: 3, leaseSeconds: 600 });
  expect(await post(`/${id}/cancel`)).toMatchObject({
    code: 200,
    status: 'cancelled',
    total: 20,
    available: 0,
    leased: 3,
  });
  for (const [path, body] of [
    ['triggers', { count: 1 }],
    ['claims', { count: 1, leaseSeconds: 60 }],
    ['jobs', { jobs: jobs(id, 1) }],
    ['seal', undefined],
  ] as const)
    expect(await post(`/${id}/${path}`, body)).toMatchObject({
      code: 409,
      detail: expect.stringContaining('is cancelled'),
    });
  await flow.settled(tasksOf(id, 8));
  expect(flow.of('patient').calls(id)).toHaveLength(1);
  expect(await post(`/${id}/claims/${claimed.claimId}/complete`)).toEqual({ code: 200, complete: false });
  await eventually(async () => (await look(id)).started === 0);
  expect(await look(id)).toMatchObject({
    status: 'cancelled',
    total: 20,
    leased: 0,
    done: 11,
    succeeded: 10,
    failed: 1,
  });
  expect(about(id)).toEqual([]);
});

it('a deleted list is unknown, sends no event, and its rows are gone after a sweep', async () => {
  const id = idOf('deleted');
  await post('', { id, callback: 'lists' });
  await post(`/${id}/jobs`, { jobs: jobs(id, 30), token: 'a' });
  const { claimId } = await post(`/${id}/claims`, { count: 3, leaseSeconds: 600 });
  await post(`/${id}/claims/${claimId}/complete`, { jobs: [{ token: 1, result: 7 }] });
  expect((await rowsOfList(flow, id)).length).toBeGreaterThanOrEqual(4);
  expect(await ask(flow, 'DELETE', `/lists/${id}`)).toMatchObject({ code: 200, id, total: 30 });
  expect(await look(id)).toMatchObject({ code: 404 });
  expect(await post(`/${id}/claims`, { count: 1, leaseSeconds: 60 })).toMatchObject({ code: 404 });
  expect(await post(`/${id}/claims/${claimId}/complete`)).toMatchObject({ code: 404 });
  expect(await post('', { id })).toMatchObject({ code: 409 });
  await flow.backend.invoke('SweepHandler', { source: 'aws.events' });
  // The token stays for a while: the same addition may still be under way.
  expect(await rowsOfList(flow, id)).toEqual([`${id} a#a`]);
  expect(about(id)).toEqual([]);
});

it('invalid requests to lists are refused and change nothing', async () => {
  const [id, other] = [idOf('refused'), idOf('other')];
  await post('', { id });
  await post('', { id: other, operation: 'burst' });
  await post(`/${id}/jobs`, { jobs: jobs(id, 3), token: 'a' });
  await post(`/${other}/jobs`, { jobs: jobs(other, 3) });
  const { claimId } = await post(`/${id}/claims`, { claimId: 'w', count: 2, leaseSeconds: 600 });
  for (const [path, body, first] of [
    ['', { id: 'a:b' }, 'id'],
    ['', { operation: 'none' }, 'operation'],
    [`/${other}/triggers`, { percent: 0 }, 'percent'],
    [`/${other}/triggers`, { percent: 101 }, 'percent'],
    [`/${other}/jobs`, { jobs: [...jobs(other, 1), { payload: { depots: 1 } }] }, 'jobs[1].payload.depot'],
    [`/${id}/claims`, { count: 0, leaseSeconds: 60 }, 'count'],
    [`/${id}/claims/${claimId}/complete`, { jobs: [{ token: 0 }, { token: 2 }] }, 'jobs[1].token'],
  ] as const)
    expect([path, await post(path, body)]).toMatchObject([path, { code: 400, errors: [{ path: first }] }]);
  for (const [path, body, code] of [
    [`/nobody-${run}/triggers`, { count: 1 }, 404],
    [`/${id}/triggers`, { count: 1 }, 409],
    [`/${id}/jobs`, { jobs: jobs(id, 2), token: 'a' }, 409],
    [`/${other}/claims/${claimId}/complete`, undefined, 409],
  ] as const)
    expect([path, await post(path, body)]).toMatchObject([path, { code }]);
  expect(await look(id)).toMatchObject({ total: 3, available: 1, leased: 2, done: 0 });
  expect(await look(other)).toMatchObject({ total: 3, available: 3, leased: 0, done: 0 });
});

it('claims beyond the 64 of the row of a list are listed, ended, completed and broken', async () => {
  const id = idOf('crowded');
  const claim = (claimId: string) => post(`/${id}/claims`, { claimId, count: 1, leaseSeconds: 600, holder: claimId });
  await post('', { id });
  await post(`/${id}/jobs`, { jobs: jobs(id, 70) });
  for (let n = 0; n < 67; n += 1) expect((await claim(`w${n}`)).code).toBe(200);
  const { claims } = (await look(id, '/claims')) as { claims: { claim: string; holder: string; jobs: number }[] };
  expect(claims.map(({ holder }) => holder).toSorted()).toEqual(
    tokens(0, 67)
      .map((n) => `w${n}`)
      .toSorted(),
  );
  expect((await store().read(id as ListId))?.apart?.count).toBe(3);
  expect(await ask(flow, 'PUT', `/lists/${id}/claims/w66`, { leaseSeconds: 900 })).toMatchObject({ code: 200 });
  expect(await post(`/${id}/claims/w66/complete`, {})).toEqual({ code: 200, complete: false });
  expect(await post(`/${id}/claims/w65/release`, { attempted: [] })).toMatchObject({ code: 200, released: 1 });
  const named = claims.find(({ holder }) => holder === 'w64')?.claim;
  expect(await ask(flow, 'DELETE', `/lists/${id}/claims/${named}`)).toEqual({ code: 200, claim: named, released: 1 });
  expect(await post(`/${id}/claims/w64/complete`, {})).toMatchObject({ code: 409 });
  expect(await look(id)).toMatchObject({ available: 5, leased: 64, done: 1 });
  expect(await ask(flow, 'DELETE', `/lists/${id}`)).toMatchObject({ code: 200 });
});
