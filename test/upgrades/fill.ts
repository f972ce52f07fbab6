/** Fills a running release with work in every state, and records what the next release must find. */
import { GetQueueUrlCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { createClient } from '../../src/client/client.ts';
import { eventually } from '../end-to-end/flow.ts';
import type { UpgradeOperation } from './config.ts';
import { type Filled, type FleetSeen, itemsOf } from './fixture.ts';
import { type Running, startWorker } from './release.ts';

const LARGE = 'x'.repeat(60_000);

const task = (operation: UpgradeOperation, id: string, fields: object = {}, payload: object = {}) => ({
  operation,
  id,
  payload: { depot: 'MUC', ...payload },
  ...fields,
});

/** Tasks that need no special request. */
const TASKS = [
  task('waiting', 'w-plain'),
  task('waiting', 'w-urgent', { priority: 9 }),
  task('waiting', 'w-older', { coalesceKey: 'k' }),
  task('waiting', 'w-heavy', { weight: 2.5, expiresIn: '30d', correlationId: 'c-1' }),
  task('waiting', 'w-large', {}, { text: LARGE }),
  task('waiting', 'w-told', { callback: 'told' }),
  task('waiting', 'w-cancelled'),
  task('retried', 'r-1'),
  task('retried', 'r-2', {}, { text: LARGE }),
  task('job', 'j-1'),
  task('job', 'j-2'),
  task('failing', 'f-1'),
  task('failing', 'f-2', {}, { text: LARGE }),
  task('done', 'd-1'),
  task('merging', 'm-1', {}, { inputs: [{ id: 'a' }, { id: 'b' }] }),
  task('circuit', 'c-1'),
  task('removed', 'x-1'),
];
const PAUSED = [task('paused', 'p-1'), task('paused', 'p-2')];
const CAPPED = ['A', 'B', 'C'].map((depot) => task('capped', `cap-${depot}`, {}, { depot }));

export const fill = async (running: Running, release: string): Promise<Filled> => {
  const { ask } = running;
  const fanOut = await halfAcked(running);
  await ask('/operations/paused/pause', { reason: 'before the upgrade' });
  const client = createClient({ queueUrl: running.file.queues.register, sqs: running.clients.sqs });
  const item = task('waiting', 'w-item', { fanOutItem: fanOut.itemOfTask });
  await client.sendAll([...TASKS, ...PAUSED, item] as never);
  await eventually(() => hasStatus(running, 'w-older', 'created'));
  await client.sendAll([task('waiting', 'w-newer', { coalesceKey: 'k' })] as never);
  await client.sendAll([CAPPED[0]] as never);
  const holding = await eventually(() => batchOf(running, 'cap-A'));
  await client.sendAll(CAPPED.slice(1) as never);
  await rejectedAndDead(running);
  const list = await halfClaimed(running);
  const fleets = [
    await fleetOf(running, release, 'left', 'SIGTERM'),
    await fleetOf(running, release, 'killed', 'SIGKILL'),
  ];
  for (const id of ['f-1', 'f-2']) await eventually(() => hasStatus(running, id, 'failed'));
  for (const id of ['d-1', 'm-1']) await eventually(() => hasStatus(running, id, 'succeeded'));
  for (const id of ['w-newer', 'w-cancelled', 'p-2', 'x-1', 'cap-C'])
    await eventually(() => hasStatus(running, id, 'created'));
  await ask('/tasks/w-cancelled', undefined, 'DELETE');
  const retried = await eventually(() => batchOf(running, 'r-1', ({ attempt }) => (attempt as number) >= 2));
  const job = await eventually(() => batchOf(running, 'j-1', ({ pending }) => pending === 2));
  await eventually(async () => (await ask('/operations/circuit')).circuit === 'open');
  await eventually(async () => ((await ask('/operations/capped')).waitingTargets as number) === 2);
  return {
    retried: { id: String(retried.id), attempt: Number(retried.attempt) },
    job: { id: String(job.id) },
    holding: { id: String(holding.id) },
    fanOut,
    list,
    fleets,
  };
};

export const statusOf = async ({ call }: Running, id: string): Promise<Record<string, unknown>> =>
  (await (await call(`/tasks/${id}`)).json()) as Record<string, unknown>;

const hasStatus = async (running: Running, id: string, status: string): Promise<boolean> =>
  (await statusOf(running, id)).status === status;

/** The batch of a task, once the batch fulfils the condition. */
const batchOf = async (
  running: Running,
  id: string,
  isWanted: (batch: Record<string, unknown>) => boolean = ({ status }) => status === 'in-progress',
): Promise<Record<string, unknown> | undefined> => {
  const { batchId } = await statusOf(running, id);
  if (typeof batchId !== 'string') return undefined;
  const batch = await running.ask(`/batches/${encodeURIComponent(batchId)}`);
  return isWanted(batch) ? batch : undefined;
};

/** A fan-out of 600 items: 300 are acked, 5 of them as failed, and a task has another item. Also a complete fan-out. */
const halfAcked = async ({ ask }: Running): Promise<Filled['fanOut']> => {
  const { id } = await ask<{ id: string }>('/fan-outs', { id: 'half', userKey: 'catalog' });
  const groups = await ask<{ groups: { id: number; count: number }[] }>(`/fan-outs/${id}/items`, {
    count: 600,
    token: 'all',
  });
  const items = itemsOf(id, groups.groups);
  const acks = items.slice(0, 300).map((item, n) => (n < 5 ? { item, outcome: 'failed' } : item));
  await ask('/fan-outs/acks', { items: acks });
  await ask(`/fan-outs/${id}/seal`, undefined, 'POST');
  await ask('/fan-outs', { id: 'whole' });
  await ask('/fan-outs/whole/items', { count: 2, token: 'all' });
  await ask('/fan-outs/whole/seal', undefined, 'POST');
  await ask('/fan-outs/acks', { items: ['whole:0:0', 'whole:0:1'] });
  return { id, groups: groups.groups, acked: 300, failed: 5, itemOfTask: String(items.at(-1)) };
};

/** A list of 40 jobs: some are available, leased, done, released, or started as tasks. */
const halfClaimed = async ({ ask }: Running): Promise<Filled['list']> => {
  const { id } = await ask<{ id: string }>('/lists', { id: 'deferred', operation: 'waiting', name: 'nightly' });
  const jobs = Array.from({ length: 40 }, (_, n) => ({ payload: { depot: 'LIST', n } }));
  await ask(`/lists/${id}/jobs`, { jobs, token: 'all' });
  const claim = (claimId: string, count: number) =>
    ask<{ claimId: string; jobs: { token: number }[] }>(`/lists/${id}/claims`, {
      claimId,
      count,
      leaseSeconds: 43_200,
    });
  const kept = await claim('kept', 10);
  const done = kept.jobs.slice(0, 3).map(({ token }) => ({ token, result: { n: token } }));
  await ask(`/lists/${id}/claims/${encodeURIComponent(kept.claimId)}/complete`, { jobs: done });
  const back = await claim('back', 5);
  await ask(`/lists/${id}/claims/${encodeURIComponent(back.claimId)}/release`, undefined, 'POST');
  await ask(`/lists/${id}/triggers`, { count: 4, token: 'some' });
  await eventually(async () => (await ask(`/lists/${id}`)).started === 4);
  return { id, claim: kept.claimId, left: kept.jobs.slice(3).map(({ token }) => token) };
};

/** A worker takes all partitions, writes a checkpoint of each, and ends. */
const fleetOf = async (
  { ask, call, file }: Running,
  release: string,
  fleet: string,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<FleetSeen> => {
  const setting = { fleet, node: 'old-worker', endpoint: file.dynamodb, table: file.tables.fleet };
  const worker = startWorker({ release }, setting);
  const seen = async (): Promise<FleetSeen['partitions']> => {
    const { partitions = [] } = (await (await call(`/fleets/${fleet}`)).json()) as Partial<FleetSeen>;
    return Promise.all(
      partitions.map(({ id }) => ask<FleetSeen['partitions'][number]>(`/fleets/${fleet}/partitions/${id}`)),
    );
  };
  await eventually(async () => {
    const partitions = await seen();
    return partitions.length === 3 && partitions.every(({ checkpoint }) => checkpoint === 'old-worker;');
  });
  await worker.end(signal);
  const partitions = await seen();
  return {
    fleet,
    partitions: partitions.map(({ id, owner, fence, checkpoint }) => ({ id, owner, fence, checkpoint })),
  };
};

/** Rejected messages, and a register message that became a dead letter. */
const rejectedAndDead = async ({ clients: { sqs }, file }: Running): Promise<void> => {
  const send = (QueueUrl: string, MessageBody: string) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  await send(file.queues.register, JSON.stringify({ operation: 'unheard-of', payload: {} }));
  const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: deadLetters(file.queues.register) }));
  await send(QueueUrl, JSON.stringify(task('done', 'd-dead')));
};

const deadLetters = (url: string): string => `${url.split('/').at(-1)}`.replace(/-Queue$/, '-DeadLetters');
