/** The stack from outside: tasks through its API, and the content of tables and queues. */
import { setTimeout } from 'node:timers/promises';
import { GetQueueAttributesCommand, ListQueuesCommand } from '@aws-sdk/client-sqs';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { AwsClients } from '../../src/aws/clients.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type LocalFile, readLocalFile } from '../../tools/local/local-folder.ts';
import { hasEnded, type Ledger } from './ledger.ts';

/** A stack with the addresses of its `.groupage/local.json`, which stay the same after every start. */
export interface StackView {
  readonly addresses: LocalFile;
  readonly clients: AwsClients;
}

/** @throws Error if no stack runs in the folder. */
export const viewOf = (folder: string): StackView => {
  const addresses = readLocalFile(folder);
  if (!addresses) throw new Error(`no stack runs in ${folder}`);
  return { addresses, clients: localClients(addresses) };
};

/** Every stored task, acknowledged or not. */
export const storedTasks = async ({ addresses, clients }: StackView): Promise<string[]> => {
  const ids: string[] = [];
  const request = { TableName: addresses.tables.task, ConsistentRead: true };
  // A large payload has its own row beside the task's.
  for await (const { Items = [] } of paginateScan({ client: clients.dynamodb }, request))
    ids.push(...Items.filter(({ Status }) => Status !== undefined).map(({ Id }) => String(Id)));
  return ids;
};

/** Waits until all of these tasks have ended. @param patience the longest wait (ms) @returns the state of each */
export const endsOf = async (
  { addresses: { api } }: StackView,
  ids: readonly string[],
  patience: number,
): Promise<Ledger['shown']> => {
  const shown = new Map<string, { readonly status: string } | undefined>(ids.map((id) => [id, undefined]));
  const limit = pLimit(8);
  const ask = async (id: string): Promise<void> => {
    const response = await fetch(`${api}/tasks/${encodeURIComponent(id)}`);
    if (response.ok) shown.set(id, (await response.json()) as { status: string });
  };
  for (const deadline = Date.now() + patience; ; await setTimeout(500)) {
    const open = ids.filter((id) => !hasEnded(shown.get(id)));
    if (open.length === 0 || Date.now() > deadline) return shown;
    await Promise.all(open.map((id) => limit(() => ask(id))));
  }
};

/** Waits until no queue has a message. @returns the messages left, by queue */
export const restOf = async ({ clients: { sqs } }: StackView, patience: number): Promise<Record<string, number>> => {
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  const count = async (QueueUrl: string): Promise<[string, number]> => {
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    // Visible messages, those in flight, and delayed ones.
    const counts = Object.entries(Attributes).filter(([name]) => name.startsWith('ApproximateNumberOfMessages'));
    return [QueueUrl.split('/').at(-1) ?? QueueUrl, counts.reduce((sum, [, value]) => sum + Number(value), 0)];
  };
  for (const deadline = Date.now() + patience; ; await setTimeout(500)) {
    const left = (await Promise.all(QueueUrls.map(count))).filter(([, messages]) => messages > 0);
    if (left.length === 0 || Date.now() > deadline) return Object.fromEntries(left);
  }
};

/** The API's answers for a task, its batch and its Target, as text. */
export const stateOf = async ({ addresses: { api } }: StackView, id: string): Promise<string[]> => {
  const get = async (path: string): Promise<string> => (await fetch(`${api}${path}`)).text();
  const task = await get(`/tasks/${encodeURIComponent(id)}`);
  const { batchId, operation } = JSON.parse(task) as { batchId?: string; operation?: string };
  return [
    task,
    ...(batchId === undefined ? [] : [await get(`/batches/${encodeURIComponent(batchId)}`)]),
    ...(operation === undefined ? [] : [await get(`/targets?operation=${operation}`)]),
  ].map((text) => text.slice(0, 2_000));
};
