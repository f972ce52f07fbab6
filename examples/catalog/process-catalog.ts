/**
 * The consumer of ProcessCatalog events in its own process. Each item becomes a task of one fan-out, whose id is that of the event.
 * If the consumer dies and the event returns, the next consumer opens the same fan-out with the same items.
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

/** Gives consecutive fan-out items to neighbours in the catalogue, so that one or two writes ack a batch. */
async function* tasksOf(id: string, count: number, ids: AsyncIterable<string>): AsyncGenerator<TaskToSend<Operations>> {
  const items = catalog(count);
  let sent = 0;
  for await (const fanOutItem of ids) {
    const payload = items.next().value as CatalogItem;
    yield { operation: 'index-item', id: `${id}.${payload.sku}`, payload, fanOutItem };
    sent += 1;
    if (sent === Number(dieAfter)) process.kill(process.pid, 'SIGKILL');
  }
}

/** Deletes the event only after it was processed. If the consumer crashes, the event is delivered again. */
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
