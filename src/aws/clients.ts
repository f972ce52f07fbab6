/** The two SDK clients, as the λs, the local runtime and the tests make them. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TRIES, timed } from './call-time.ts';

export interface AwsClients {
  readonly dynamodb: DynamoDBDocumentClient;
  readonly sqs: SQSClient;
}

/** Where services are, if not where the environment says. */
export interface Endpoints {
  readonly dynamodb?: string;
  readonly sqs?: string;
  readonly region?: string;
  /** For long polls, which take up to 20 s. */
  readonly patient?: boolean;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** @default - AWS Signature Version 4, with the credentials */
  readonly signer?: Signer;
  /** Makes the HTTP requests. @default - the SDK's own, on Node.js' `http` */
  readonly requestHandler?: RequestHandler;
}

export type RequestHandler = Extract<SQSClientConfig['requestHandler'], { handle: unknown }>;

export type Signer = Extract<SQSClientConfig['signer'], { sign: unknown }>;

/** Ten messages at once with eight requests each: none should wait for a socket while its time runs. */
const QUICK = { ...TRIES, requestHandler: { ...TRIES.requestHandler, httpsAgent: { maxSockets: 128 } } };

/** A poll has its socket for as long as it waits: each poller needs one. */
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
  // It prepares a log line of every request and answer, also for a client that has no logger, as these.
  for (const { middlewareStack } of [dynamodbClient, sqsClient]) middlewareStack.remove('loggerMiddleware');
  return {
    dynamodb: timed(DynamoDBDocumentClient.from(dynamodbClient, { marshallOptions: { removeUndefinedValues: true } })),
    sqs: timed(sqsClient),
  };
};
