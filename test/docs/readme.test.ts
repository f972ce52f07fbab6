/** The adapter in the README, against a server that answers like Expo's push API. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../cli/groupage.ts';
import { blocksOf } from './blocks.ts';

const FOLDER = join(ROOT, '.cache', `docs-readme-${process.pid}`);
const ADDRESS = 'https://exp.host/--/api/v2/push/send';

interface Notification {
  readonly to: string;
  readonly title: string;
}
type Adapter = (batch: { items: { id: string; payload: Notification }[] }) => Promise<unknown>;

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

let adapter: Adapter;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    expo.listen(0, '127.0.0.1', resolve);
  });
  const text = blocksOf('README.md').find(({ title }) => title === 'expo-adapter.ts')?.text ?? '';
  expect(text).toContain(ADDRESS);
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, 'expo-adapter.ts');
  writeFileSync(file, text.replace(ADDRESS, `http://127.0.0.1:${(expo.address() as AddressInfo).port}/`));
  ({ handler: adapter } = await import(/* @vite-ignore */ file));
});
afterAll(() => {
  expo.close();
  rmSync(FOLDER, { recursive: true, force: true });
});

describe("the README's adapter", () => {
  const batch = { items: ['ok', 'gone', 'busy'].map((to) => ({ id: `id-${to}`, payload: { to, title: 'Hello' } })) };

  it('sends one request per batch and returns a result per task', async () => {
    expect(await adapter(batch)).toEqual({
      results: [
        { id: 'id-ok', status: 'succeeded', result: 'ticket-ok' },
        { id: 'id-gone', status: 'failed', error: 'not registered' },
        { id: 'id-busy', status: 'retry' },
      ],
    });
    expect(requests).toEqual([batch.items.map(({ payload }) => payload)]);
  });

  it('throws if Expo refuses the request, so that it is retried', async () => {
    status = 429;
    await expect(adapter(batch)).rejects.toThrow('Expo answered 429');
  });
});
