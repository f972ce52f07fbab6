/** Passes the requests of the relay function to a server on this machine, and its answers back. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Polling, startPolling } from '../polling.ts';
import { type AnswerRow, type RelayedRequest, rowsOf } from './relayed.ts';

export interface RelayAt {
  readonly region: string;
  readonly requestsQueueUrl: string;
  readonly answersTable: string;
  /** Port of the server on this machine. */
  readonly port: number;
}

/** A call that takes long must not hold up others. */
const POLLERS = 8;

/** Relays requests until it is stopped. */
export const startRelay = (
  { region, requestsQueueUrl: QueueUrl, answersTable: TableName, port }: RelayAt,
  onFailure: (cause: unknown) => void,
): Polling => {
  const sqs = new SQSClient({ region });
  const table = DynamoDBDocumentClient.from(new DynamoDBClient({ region }));
  const relay = async ({ id, path, headers, body }: RelayedRequest): Promise<void> => {
    const answer = await ask(`http://127.0.0.1:${port}${path}`, headers, body);
    for (const Item of rowsOf(id, answer)) await table.send(new PutCommand({ TableName, Item }));
  };
  const poll = async (): Promise<void> => {
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }));
    if (!message) return;
    // Deleted first: a request must not reach the server twice.
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    await relay(JSON.parse(message.Body ?? '') as RelayedRequest);
  };
  return startPolling({ pollers: POLLERS, poll, onFailure });
};

/** A server that does not answer is a gateway without an answer. */
const ask = async (
  address: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Pick<AnswerRow, 'status' | 'headers' | 'body'>> => {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(55_000),
    });
    const kept = [...response.headers].filter(
      ([name]) => !/^(connection|content-length|keep-alive|transfer-encoding|date)$/.test(name),
    );
    return { status: response.status, headers: Object.fromEntries(kept), body: await response.text() };
  } catch (cause) {
    return { status: 502, headers: {}, body: String(cause) };
  }
};
