/** Both local engines, and clients for them. */
import { type AwsClients, awsClients, type Endpoints } from '../aws/clients.ts';
import { type DynamoDBEngine, startDynamoDB } from './dynamodb-engine.ts';
import { makeFolder } from './folder.ts';
import { type SqsEngine, startSqs } from './sqs-engine.ts';
import { StartFailure } from './start-failure.ts';
import { LOCAL_REGION } from './template.ts';

export interface Engines {
  readonly dynamodb: DynamoDBEngine;
  readonly sqs: SqsEngine;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Where data stays; in memory without it. */
  readonly folder?: string;
  readonly ports: { readonly dynamodb: number; readonly sqs: number };
  readonly engine?: DynamoDBEngine['name'];
}

/** @throws StartFailure */
export const startEngines = async ({ folder, ports, engine }: EngineOptions): Promise<Engines> => {
  const kept = folder === undefined ? {} : { folder };
  if (folder !== undefined) makeFolder(folder);
  const dynamodb = await startDynamoDB({ ...kept, port: ports.dynamodb, ...(engine ? { engine } : {}) });
  try {
    const sqs = await startSqs({ ...kept, port: ports.sqs });
    return {
      dynamodb,
      sqs,
      stop: async () => {
        await Promise.all([sqs.stop(), dynamodb.stop()]);
      },
    };
  } catch (cause) {
    await dynamodb.stop();
    throw explained(cause, ports.sqs);
  }
};

const explained = (cause: unknown, port: number): unknown =>
  cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    ? new StartFailure(`port ${port} is in use: choose others with --port`)
    : cause;

/** Clients for local engines, which take any credentials. */
export const localClients = (endpoints: Pick<Endpoints, 'dynamodb' | 'sqs' | 'patient'>): AwsClients =>
  awsClients({ ...endpoints, region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
