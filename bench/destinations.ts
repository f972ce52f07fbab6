/**
 * `npm run bench:destinations -- --dead 10000 --healthy 20` sends events for an HTTP destination that hangs, then
 * events for a healthy one, through the local stack. It prints how long the healthy destination waits for its events.
 */

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { sqsQueues } from '../src/aws/sqs-queues.ts';
import { callbackOf } from '../src/domain/callbacks/callback.ts';
import { parseConfig } from '../src/domain/config/schema/config.ts';
import { setting } from '../src/domain/deployed/environment.ts';
import type { TaskId } from '../src/domain/ids.ts';
import { aStored } from '../test/factories/factories.ts';
import { startStack } from '../tools/local/stack.ts';

const { values } = parseArgs({
  options: { dead: { type: 'string', default: '10000' }, healthy: { type: 'string', default: '20' } },
});
const [dead, healthy] = [values.dead, values.healthy].map(Number) as [number, number];
/** The time after which the script stops waiting, in milliseconds. */
const PATIENCE = 20 * 60_000;

const serve = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.closeAllConnections(),
  };
};

process.env.GROUPAGE_SECRET_SIGNING = 'the signing key';
let calls = 0;
const hanging = await serve(() => {
  calls += 1;
});
const arrivals: number[] = [];
const quick = await serve((request, response) => {
  request.resume().on('end', () => {
    arrivals.push(Date.now());
    response.writeHead(204).end();
  });
});

const destination = (url: string) => ({ kind: 'http', url, secret: { ssm: '/signing' }, timeout: '10s' }) as const;
const parsed = parseConfig({
  operations: { ship: { target: ['depot'], downstream: { kind: 'http', url: quick.url } } },
  destinations: { dead: destination(hanging.url), healthy: destination(quick.url) },
});
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const stack = await startStack({
  config: parsed.value,
  apiPort: 0,
  ports: { dynamodb: 0, sqs: 0 },
  host: { log: { info: () => {}, warn: () => {}, error: () => {} } },
  onError: (error) => console.error(error.message),
});

const error = { code: 'refused', message: 'no', retriable: false };
const eventTo = (to: string, n: number) => {
  const task = aStored(
    { status: 'failed', error, attempts: 1, finishedAt: Date.now() },
    { id: `${to}-${n}` as TaskId },
  );
  const message = callbackOf({ callbacks: { failed: to, succeeded: null } }, task);
  if (!message) throw new Error('no event');
  return message;
};
const { callbacks } = sqsQueues(stack.clients.sqs, { callback: setting(stack.settings, 'callbackQueue') });
const send = (to: string, count: number) => callbacks(Array.from({ length: count }, (_, n) => eventTo(to, n)));

const began = Date.now();
await send('dead', dead);
const sent = Date.now();
await send('healthy', healthy);
const from = Date.now();
while (arrivals.length < healthy && Date.now() < from + PATIENCE)
  await new Promise((resolve) => setTimeout(resolve, 20));
const seconds = (span: number): string => `${(span / 1_000).toFixed(1)} s`;
console.log(
  `sent ${dead} events for the hanging destination in ${seconds(sent - began)}, then ${healthy} events for the healthy destination`,
);
console.log(
  `${arrivals.length} of ${healthy} events arrived at the healthy destination, the first after ${seconds((arrivals[0] ?? Number.NaN) - from)}, the last after ${seconds((arrivals.at(-1) ?? Number.NaN) - from)}`,
);
console.log(`the hanging destination was called ${calls} times`);
process.exit(arrivals.length < healthy ? 1 : 0);
