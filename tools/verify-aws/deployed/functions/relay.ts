/**
 * Passes the calls of deployed functions to a server on the machine that runs the tests, which has no public address:
 * the request goes to a queue, from which that machine takes it, and its answer comes back as rows of a table.
 *
 * Its address is public, so it needs the token of the run in its path.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type AnswerRow, type RelayedRequest, rowKey } from '../../suite/relayed.ts';

/** The fields of a function URL's event that are used. */
interface Event {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

interface Answer {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Milliseconds between two looks for the answer. */
const LOOK_EVERY = 100;

const sqs = new SQSClient({});
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = async (
  { rawPath, headers, body = '', isBase64Encoded }: Event,
  context: { getRemainingTimeInMillis(): number },
): Promise<Answer> => {
  const [, token = '', ...path] = rawPath.split('/');
  if (!isToken(token)) return { statusCode: 404 };
  const id = randomUUID();
  const request: RelayedRequest = {
    id,
    path: `/${path.join('/')}`,
    headers: { 'content-type': 'application/json', 'idempotency-key': headers['idempotency-key'] ?? '' },
    body: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
  const { REQUESTS_QUEUE_URL: QueueUrl } = process.env;
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(request) }));
  while (context.getRemainingTimeInMillis() > 1_000) {
    const first = await rowOf(id, 0);
    if (first) return answerOf(id, first);
    await setTimeout(LOOK_EVERY);
  }
  return { statusCode: 504 };
};

const isToken = (given: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(process.env.TOKEN ?? '')];
  return a.length > 0 && a.length === b.length && timingSafeEqual(a, b);
};

const rowOf = async (id: string, part: number): Promise<AnswerRow | undefined> => {
  const { ANSWERS_TABLE: TableName } = process.env;
  const { Item } = await table.send(new GetCommand({ TableName, Key: rowKey(id, part), ConsistentRead: true }));
  return Item as AnswerRow | undefined;
};

/** The first row is written last, so the other rows are there. */
const answerOf = async (id: string, { status, headers, body, parts }: AnswerRow): Promise<Answer> => {
  const bodies = [body];
  for (let part = 1; part < parts; part += 1) bodies.push((await rowOf(id, part))?.body ?? '');
  return { statusCode: status, headers, body: bodies.join('') };
};
