/**
 * The consumer of ProcessCatalog events, a process of its own: each item becomes a task, and all of them a fan-out that is
 * named after the event. So an event that comes twice, since whoever had it died half-way, is the same fan-out with the same items.
 *
 *   node process-catalog.ts API REGISTER-QUEUE EVENT-QUEUE SQS-ENDPOINT [DIE-AFTER]
 */
import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { createClient, type TaskToSend } from '../../src/client/client.ts';
import { createFanOutClient } from '../../src/client/fan-outs.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type CatalogItem, catalog, type ProcessCatalog } from './catalog.ts';

type Operations = { readonly 'index-item': CatalogItem };

const [api = '', queueUrl = '', eventQueue = '', endpoint = '', dieAfter = 'never'] = process.argv.slice(2);
const { sqs } = localClients({ sqs: endpoint });
const tasks = createClient<Operations>({ queueUrl, sqs });
const fanOuts = createFanOutClient({ api });

const processCatalog = async ({ id, items }: ProcessCatalog): Promise<void> => {
  const fanOut = await fanOuts.openFanOut({ id, userKey: `catalogue of ${items} items` });
  const ids = fanOut.add(items, { token: 'all' });
  await tasks.sendAll(tasksOf(id, items, ids));
  await fanOut.seal();
};

/** Neighbours in the catalogue get neighbouring items of the fan-out: a batch of them is acked in one write, or two. */
async function* tasksOf(id: string, count: number, ids: AsyncIterable<string>): AsyncGenerator<TaskToSend<Operations>> {
  const items = catalog(count);
  let sent = 0;
  for await (const fanOutItem of ids) {
    const payload = items.next().value as CatalogItem;
    yield { operation: 'index-item', id: `${id}.${payload.sku}`, payload, fanOutItem };
    sent += 1;
    // The power goes out.
    if (sent === Number(dieAfter)) process.kill(process.pid, 'SIGKILL');
  }
}

/** The event is deleted when its work is done: until then it comes back. */
const consume = async (from: SQSClient, QueueUrl: string): Promise<void> => {
  for (;;) {
    const { Messages = [] } = await from.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
    for (const { Body = '', ReceiptHandle } of Messages) {
      await processCatalog(JSON.parse(Body) as ProcessCatalog);
      await from.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      return;
    }
  }
};

await consume(sqs, eventQueue);
