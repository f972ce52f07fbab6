/** Keeps a release busy, and kills it meanwhile. */
import { DeleteQueueCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { createClient } from '../../src/client/client.ts';
import { eventually } from '../end-to-end/flow.ts';
import type { TestDownstream } from '../factories/downstream.ts';
import { DELETED } from './config.ts';
import { statusOf } from './fill.ts';
import type { Running } from './release.ts';

const TASKS = 150;
const HANGING = [{ operation: 'hanging', id: 'h-1', payload: { depot: 'MUC' } }];
const BURST = Array.from({ length: TASKS }, (_, n) => ({
  operation: 'busy',
  id: `b-${n}`,
  payload: { depot: `D${n % 7}`, n },
}));

/** Tasks under way at the kill, anywhere between their producer and their end. */
export const FLOOD: readonly string[] = [...HANGING, ...BURST].map(({ id }) => id);

/** @returns the time of the kill */
export const floodAndKill = async (running: Running, downstream: TestDownstream): Promise<number> => {
  const client = createClient({ queueUrl: running.file.queues.register, sqs: running.clients.sqs });
  await deleteQueue(running, DELETED);
  const failing = [{ operation: 'failing', id: 'f-3', payload: { depot: 'MUC' } }];
  await client.sendAll(failing as never);
  await eventually(async () => (await statusOf(running, 'f-3')).status === 'failed');
  await client.sendAll(HANGING as never);
  await eventually(() => downstream.calls.some(({ operation }) => operation === 'hanging'));
  await client.sendAll(BURST.slice(0, TASKS / 2) as never);
  await eventually(() => downstream.calls.some(({ operation }) => operation === 'busy'));
  await client.sendAll(BURST.slice(TASKS / 2) as never);
  const before = Date.now();
  await running.end('SIGKILL');
  return before;
};

const deleteQueue = async ({ clients: { sqs } }: Running, QueueName: string): Promise<void> => {
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  await sqs.send(new DeleteQueueCommand({ QueueUrl }));
};
