/**
 * One ProcessCatalog event for 25,000 items, and one event when all are in the index. The consumer of the event is killed after it has sent
 * half of the items, and the index during a batch.
 *
 *   npm run example:catalog
 *   npm run example:catalog -- --items 3000 --calm      no process is killed
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { metered, newBill } from '../../bench/meter.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { localClients } from '../../tools/local/clients.ts';
import { freePort } from '../../tools/local/free-port.ts';
import { startStack } from '../../tools/local/stack.ts';
import { plural } from '../../tools/terminal.ts';
import { isBroken, type ProcessCatalog } from './catalog.ts';
import input from './groupage.config.ts';

const usage = (): never => {
  console.error('usage: npm run example:catalog -- [--items 100…100000] [--calm: no process is killed]');
  process.exit(2);
};
const readOptions = () => {
  try {
    return parseArgs({
      options: { items: { type: 'string', default: '25000' }, calm: { type: 'boolean', default: false } },
    }).values;
  } catch {
    return usage();
  }
};
const options = readOptions();
const items = Number(options.items);
if (!Number.isInteger(items) || items < 100 || items > 100_000) usage();

/**
 * The consumer is killed after it has sent this number of items, and the index after it has written this number of
 * items.
 */
const dieAfter = options.calm
  ? { consumer: 'never', index: 'never' }
  : { consumer: String(Math.floor(items / 2)), index: String(Math.floor(items / 3) + 7) };

const indexFile = join(temporaryFolder('catalog'), 'index');
await writeFile(indexFile, '');
const here = (name: string): string => join(import.meta.dirname, name);
const deaths = { consumer: 0, index: 0 };
let isOver = false;
const children = new Set<ChildProcess>();
const start = (name: string, args: readonly string[]): ChildProcess => {
  const child = fork(here(name), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
};

/** Runs the index, and starts it again when it dies. */
const runIndex = async (port: number, death: string): Promise<void> => {
  const child = start('index-service.ts', [String(port), indexFile, death]);
  child.once('exit', (_, signal) => {
    if (isOver) return;
    deaths.index += 1;
    console.log(`the index died (${signal}) and is restarted`);
    void runIndex(port, 'never');
  });
  await once(child, 'message');
};

const indexPort = await freePort();
const { operations } = input;
const url = `http://127.0.0.1:${indexPort}/index`;
const parsed = parseConfig({
  ...input,
  operations: { 'index-item': { ...operations['index-item'], downstream: { kind: 'http', url } } },
});
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
await runIndex(indexPort, dieAfter.index);

const bill = newBill();
const seen = { registered: 0, again: 0, batches: 0, calls: 0, ends: 0 };
const stack = await startStack({
  config: parsed.value,
  apiPort: 0,
  ports: { dynamodb: 0, sqs: 0 },
  clients: (clients) => metered(clients, bill),
  host: {
    log: { info: () => {}, warn: () => {}, error: (message, fields) => console.error(message, fields) },
    onEvent: (event) => {
      if (event.event === 'registered') seen.registered += event.tasks;
      if (event.event === 'registered') seen.again += event.duplicates;
      if (event.event === 'sealed') seen.batches += 1;
      if (event.event === 'called') seen.calls += 1;
      if (event.event === 'fan-out-ended') seen.ends += 1;
    },
  },
  onError: ({ message }) => console.error(message),
});
const { api, sqs: endpoint, queues } = stack.addresses;
const { sqs } = localClients({ sqs: endpoint });

/** Visibility timeout in seconds. If a consumer dies, its event is delivered again after this time. */
const VISIBILITY = '20';
const { QueueUrl: eventQueue = '' } = await sqs.send(
  new CreateQueueCommand({ QueueName: 'catalog-events', Attributes: { VisibilityTimeout: VISIBILITY } }),
);
const event: ProcessCatalog = { type: 'ProcessCatalog', id: 'catalog-2026-11-22', items };
await sqs.send(new SendMessageCommand({ QueueUrl: eventQueue, MessageBody: JSON.stringify(event) }));
console.log(`one event, ${plural(items, 'item')}`);

/** Starts consumers until one of them has processed the event. */
const consume = async (death: string): Promise<void> => {
  const [code, signal] = await once(
    start('process-catalog.ts', [api, queues.register, eventQueue, endpoint, death]),
    'exit',
  );
  if (signal === null && code === 0) return;
  deaths.consumer += 1;
  console.log(`the consumer of the event died (${signal ?? code}); the event returns after ${VISIBILITY} s`);
  await consume('never');
};

interface Completed {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly total: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly userKey: string;
  };
}
const told: Completed[] = [];
const { QueueUrl: doneQueue } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'catalog-done' }));
const listen = async (): Promise<void> => {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: doneQueue, WaitTimeSeconds: 1, MaxNumberOfMessages: 10 }),
  );
  for (const { Body = '', ReceiptHandle } of Messages) {
    told.push(JSON.parse(Body) as Completed);
    await sqs.send(new DeleteMessageCommand({ QueueUrl: doneQueue, ReceiptHandle }));
  }
};

const from = performance.now();
await consume(dieAfter.consumer);
const PATIENCE = 600_000;
while (told.length === 0 && performance.now() - from < PATIENCE) await listen();
const seconds = (performance.now() - from) / 1_000;
// Wait a little longer, so that surplus events are received too.
for (const _ of [1, 2, 3]) await listen();
isOver = true;
await stack.stop();
for (const child of children) child.kill();

const lines = (await readFile(indexFile, 'utf8')).split('\n').filter((line) => line !== '');
const broken = Array.from({ length: items }, (_, n) => n).filter(isBroken).length;
const writes = [...bill.writeUnits].filter(([what]) => /FanOut (?:UpdateItem|PutItem)/.test(what));
const acks = writes.reduce((sum, [, units]) => sum + units, 0);
const [first] = told;
console.log(`
${JSON.stringify(first?.data)}

tasks registered                   ${seen.registered}, and ${seen.again} repeats of known tasks
batches, calls                     ${seen.batches}, ${seen.calls}
items in the index                 ${new Set(lines).size}, of them ${lines.length - new Set(lines).size} written twice
deaths                             ${deaths.consumer} of the consumer, ${deaths.index} of the index
completed                          ${seen.ends} time, reported by ${new Set(told.map(({ id }) => id)).size} event in ${plural(told.length, 'message')}
write units for acks per item      ${(acks / items).toFixed(3)}
seconds                            ${seconds.toFixed(1)}`);

const isExact =
  seen.ends === 1 &&
  new Set(told.map(({ id }) => id)).size === 1 &&
  first?.data.total === items &&
  first.data.failed === broken &&
  first.data.succeeded === items - broken &&
  seen.registered === items &&
  new Set(lines).size === items - broken;
if (!isExact) {
  console.error(
    `\nNOT exact: ${broken} of ${items} items have no price, and all other items must be in the index when the fan-out is complete`,
  );
  process.exitCode = 1;
}
