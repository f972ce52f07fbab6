/** The two AWS SDK clients, configured for the Lambda functions, the local runtime and the tests. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { StoreClock } from '../util/store-clock.ts';
import { TRIES, timed } from './call-time.ts';
import { noteDates } from './store-clock.ts';

export interface AwsClients {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly sqs: SQSClient;
  /** DynamoDB's time, estimated from the answers that `dynamodb` received. The local time before the first answer. */
  readonly clock: StoreClock;
}

/** Addresses of the services, if they differ from the environment's addresses. */
export interface Endpoints {
  readonly dynamodb?: string;
  readonly sqs?: string;
  readonly region?: string;
  /** Without a request timeout, for long polls, which take up to 20 s. */
  readonly patient?: boolean;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** @default - AWS Signature Version 4, with the credentials */
  readonly signer?: Signer;
  /**
   * Makes the HTTP requests.
   * @default - the SDK's own handler, on Node.js' `http`
   */
  readonly requestHandler?: RequestHandler;
}

export type RequestHandler = Extract<SQSClientConfig['requestHandler'], { handle: unknown }>;

export type Signer = Extract<SQSClientConfig['signer'], { sign: unknown }>;

/**
 * Limits for functions. Ten messages that are handled at once make up to eight requests each. There are enough sockets
 * for all of these requests, because a request's time also runs while it waits for a socket.
 */
const QUICK = { ...TRIES, requestHandler: { ...TRIES.requestHandler, httpsAgent: { maxSockets: 128 } } };

/** Limits for long polls. A poll occupies its socket while it waits, so each poller needs a socket of its own. */
const PATIENT = { requestHandler: { httpAgent: { maxSockets: 1_024 }, httpsAgent: { maxSockets: 1_024 } } };

export const awsClients = ({
  dynamodb,
  sqs,
  region,
  credentials,
  signer,
  patient,
  requestHandler,
}: Endpoints = {}): AwsClients => {
  const shared = {
    ...(patient ? PATIENT : QUICK),
    ...(region ? { region } : {}),
    ...(credentials ? { credentials } : {}),
    ...(signer ? { signer } : {}),
    ...(requestHandler ? { requestHandler } : {}),
  };
  const dynamodbClient = new DynamoDBClient({ ...shared, ...(dynamodb ? { endpoint: dynamodb } : {}) });
  const sqsClient = new SQSClient({ ...shared, ...(sqs ? { endpoint: sqs } : {}) });
  // Remove the logger middleware: it prepares a log line for each request and answer, even if there is no logger, as
  // here.
  for (const { middlewareStack } of [dynamodbClient, sqsClient]) middlewareStack.remove('loggerMiddleware');
  const clock = new StoreClock();
  noteDates(dynamodbClient, clock);
  return {
    dynamodb: timed(DynamoDBDocumentClient.from(dynamodbClient, { marshallOptions: { removeUndefinedValues: true } })),
    sqs: timed(sqsClient),
    clock,
  };
};
