/** The configurations for Expo on the pages, against a server that answers like Expo's push API. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import { formattedDownstream } from '../../src/downstreams/formatted-http.ts';
import { batchId, id, NOW, operationName, someSecrets, target } from '../factories/factories.ts';
import { configsOf } from './configs.ts';

interface Notification {
  readonly to: string;
  readonly title: string;
}

const requests: Notification[][] = [];
let status = 200;
const expo = createServer(async (incoming, outgoing) => {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  const notifications = JSON.parse(body) as Notification[];
  requests.push(notifications);
  const tickets = notifications.map(({ to }) => {
    if (to === 'gone') return { status: 'error', message: 'not registered', details: { error: 'DeviceNotRegistered' } };
    if (to === 'busy') return { status: 'error', message: 'slow down', details: { error: 'MessageRateExceeded' } };
    return { status: 'ok', id: `ticket-${to}` };
  });
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ data: tickets }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    expo.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => {
  expo.close();
});

const messages = ['ok', 'gone', 'busy'].map((to) => ({ to, title: 'Hello' }));
const call: Call = {
  batchId: batchId('send-push/project=shop#1#1'),
  operation: operationName('send-push'),
  target: target('send-push/project=shop'),
  attempt: 1,
  items: messages.map((message) => ({ id: id(message.to), payload: JSON.stringify({ project: 'shop', message }) })),
};

it.each(['README.md', 'docs/how-to/call-a-batch-api.md'])(
  '%s: Expo gets one request per batch, and each task its result',
  async (page) => {
    const [config] = await configsOf(page);
    const { downstream } = operationFor(config as NonNullable<typeof config>, call.operation);
    if (downstream.kind !== 'http') throw new Error(`the downstream is of kind ${downstream.kind}`);
    expect(downstream.url).toBe('https://exp.host/--/api/v2/push/send');
    const url = `http://127.0.0.1:${(expo.address() as AddressInfo).port}/`;
    const { call: send } = formattedDownstream(
      { ...downstream, url, timeout: 200_000 },
      { now: () => NOW, secrets: someSecrets({ '/expo/token': 't' }) },
    );
    requests.length = 0;
    status = 200;
    const answer = await send(call);
    expect(answer.kind === 'results' && [...answer.items]).toMatchObject([
      ['ok', { status: 'succeeded', result: '"ticket-ok"' }],
      ['gone', { status: 'failed', error: { message: 'not registered' } }],
      ['busy', { status: 'throttled' }],
    ]);
    expect(requests).toEqual([messages]);
    status = 429;
    expect(await send(call)).toMatchObject({ kind: 'unavailable', throttled: true });
  },
);
