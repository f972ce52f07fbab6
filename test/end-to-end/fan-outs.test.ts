/** A fan-out through the stack's API: the fan-out ends once, and every report of the end has one id. */
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { downstreamPort } from '../backends/backend.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { TOLD_QUEUE } from './operations.ts';
import { ask } from './together.ts';

/** A deployed stack runs one test file at a time and has only the suite's destination. */
const queueName = (): string => (downstreamPort() === 0 ? 'groupage-suite-fan-outs' : TOLD_QUEUE);

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Record<string, unknown>;
}

let flow: Flow;
let QueueUrl: string | undefined;
const got: Event[] = [];
beforeAll(async () => {
  flow = await startFlow('told', queueName());
  ({ QueueUrl } = await flow.backend.clients.sqs.send(new CreateQueueCommand({ QueueName: queueName() })));
});
afterAll(async () => {
  await flow.backend.clients.sqs.send(new DeleteQueueCommand({ QueueUrl }));
  await flow.stop();
});

const post = (path: string, body?: object) => ask(flow, 'POST', `/fan-outs${path}`, body);
const look = (id: string) => ask(flow, 'GET', `/fan-outs/${id}`);
/** The events of a fan-out, once there is one. */
const told = (id: string): Promise<Event[]> =>
  eventually(async () => {
    const { Messages = [] } = await flow.backend.clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { Body = '', ReceiptHandle } of Messages) {
      got.push(JSON.parse(Body) as Event);
      await flow.backend.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    const about = got.filter(({ subject }) => subject === id);
    return about.length > 0 ? about : undefined;
  });
const itemsOf = (id: string, answer: Record<string, unknown>): string[] =>
  (answer.groups as { id: number; count: number }[]).flatMap((group) =>
    Array.from({ length: group.count }, (_, index) => `${id}:${group.id}:${index}`),
  );

it('a fan-out acked twice, in parts and concurrently, completes once and is reported', async () => {
  expect(await post('', { id: 'e2e-1', userKey: 'catalog-7', callback: 'told' })).toMatchObject({ code: 201 });
  const items = [
    ...itemsOf('e2e-1', await post('/e2e-1/items', { count: 1_000, token: 'a' })),
    ...itemsOf('e2e-1', await post('/e2e-1/items', { count: 7 })),
  ];
  expect(itemsOf('e2e-1', await post('/e2e-1/items', { count: 1_000, token: 'a' }))).toEqual(items.slice(0, 1_000));
  expect(await post('/e2e-1/items', { count: 999, token: 'a' })).toMatchObject({ code: 409 });
  const early = items.slice(0, 600);
  await post('/acks', {
    items: early.map((item) => ({ item, outcome: item.endsWith(':3') ? 'failed' : 'succeeded' })),
  });
  expect(await post('/e2e-1/seal')).toEqual({ code: 200, complete: false });
  expect(await look('e2e-1')).toMatchObject({
    status: 'sealed',
    total: 1_007,
    succeeded: 598,
    failed: 2,
    pending: 407,
  });
  expect(await post('/e2e-1/items', { count: 1 })).toMatchObject({ code: 409 });
  // Ten callers ack a tenth of the items each, spread over all groups. Each makes its call twice.
  const shares = Array.from({ length: 10 }, (_, n) => items.filter((_, index) => index % 10 === n));
  const answers = await Promise.all([...shares, ...shares].map((share) => post('/acks', { items: share })));
  expect(answers).toEqual(answers.map(() => expect.objectContaining({ code: 200 })));
  const completing = answers.flatMap(({ fanOuts }) => fanOuts as { complete: boolean; userKey?: string }[]);
  expect(completing.some(({ complete, userKey }) => complete && userKey === 'catalog-7')).toBe(true);
  expect(answers.flatMap(({ unknown }) => unknown as string[])).toEqual([]);
  const events = await told('e2e-1');
  expect([...new Set(events.map(({ id }) => id))]).toEqual([expect.stringMatching(/^e2e-1\.\d+\.completed$/)]);
  expect(events[0]).toMatchObject({
    type: 'groupage.fan-out.completed',
    data: { status: 'complete', because: 'all-done', total: 1_007, succeeded: 1_005, failed: 2, userKey: 'catalog-7' },
  });
  expect(await look('e2e-1')).toMatchObject({ status: 'complete', succeeded: 1_005, failed: 2, pending: 0 });
  expect(await ask(flow, 'GET', '/fan-outs/e2e-1/items?status=failed&limit=1')).toEqual({
    code: 200,
    items: ['e2e-1:0:3'],
    cursor: '1.3',
  });
  expect(await ask(flow, 'GET', '/fan-outs/e2e-1/failed')).toEqual({ code: 200, items: ['e2e-1:0:3', 'e2e-1:1:3'] });
  expect(await post('/acks', { items: [items[0] as string] })).toMatchObject({ fanOuts: [{ complete: true }] });
  expect(await post('/e2e-1/seal')).toEqual({ code: 200, complete: true });
});

it('a fan-out completes at its seal if all items are done, or once too many failed', async () => {
  await post('', { id: 'e2e-2', callback: 'told' });
  const items = itemsOf('e2e-2', await post('/e2e-2/items', { count: 460 }));
  expect(await post('/acks', { items })).toEqual({
    code: 200,
    fanOuts: [{ id: 'e2e-2', complete: false }],
    unknown: [],
  });
  expect(await post('/e2e-2/seal')).toEqual({ code: 200, complete: true });
  expect(await told('e2e-2')).toMatchObject([{ id: expect.stringMatching(/^e2e-2\.\d+\.completed$/) }]);
  await post('', { id: 'e2e-3', callback: 'told', failFast: { count: 1 } });
  const [one = '', two = ''] = itemsOf('e2e-3', await post('/e2e-3/items', { count: 3 }));
  const failed = (item: string) => post('/acks', { items: [{ item, outcome: 'failed' }] });
  expect(await failed(one)).toMatchObject({ fanOuts: [{ complete: false }] });
  expect(await failed(two)).toMatchObject({ fanOuts: [{ complete: true }] });
  expect(await told('e2e-3')).toMatchObject([{ data: { because: 'too-many-failed', failed: 2, total: 3 } }]);
});

it('a deleted fan-out sends no event, and its items are unknown', async () => {
  await post('', { id: 'e2e-4', callback: 'told' });
  const [item = ''] = itemsOf('e2e-4', await post('/e2e-4/items', { count: 1_000 }));
  for (const _ of [1, 2])
    expect(await ask(flow, 'DELETE', '/fan-outs/e2e-4')).toMatchObject({
      code: 200,
      status: 'expired',
      because: 'deleted',
    });
  expect(await post('/acks', { items: [item] })).toEqual({ code: 200, fanOuts: [], unknown: [item] });
  expect(await post('/e2e-4/seal')).toMatchObject({ code: 409 });
  expect(await post('/e2e-4/items', { count: 1 })).toMatchObject({ code: 409 });
  expect(got.filter(({ subject }) => subject === 'e2e-4')).toEqual([]);
});

it('invalid requests to fan-outs are refused and change nothing', async () => {
  await post('', { id: 'e2e-5' });
  await post('/e2e-5/items', { count: 2 });
  for (const [path, body, first] of [
    ['', { id: 'a:b' }, 'id'],
    ['', { id: 'e2e-6', callback: 'nobody' }, 'callback'],
    ['', { id: 'e2e-6', failFast: { count: -1 } }, 'failFast.count'],
    ['/e2e-5/items', { count: 0 }, 'count'],
    ['/e2e-5/items', { count: 450_001 }, 'count'],
    ['/e2e-5/seal', { now: true }, 'now'],
    ['/acks', { items: [] }, 'items'],
    ['/acks', { items: ['e2e-5:0:0', 'e2e-5:0'] }, 'items[1]'],
  ] as const)
    expect([path, body, await post(path, body)]).toMatchObject([path, body, { code: 400, errors: [{ path: first }] }]);
  expect(await look('e2e-6')).toMatchObject({ code: 404 });
  expect(await look('e2e-5')).toMatchObject({ status: 'open', total: 2, pending: 2 });
  const strangers = ['e2e-5:0:2', 'e2e-5:1:0', 'e2e-6:0:0'];
  const { unknown } = await post('/acks', { items: strangers });
  expect((unknown as string[]).toSorted()).toEqual(strangers);
  expect(await look('e2e-5')).toMatchObject({ pending: 2 });
});
