/** Starts both local engines. */

import { PortInUse } from '../failure.ts';
import { type DynamoDBEngine, startDynamoDB } from './dynamodb-engine.ts';
import { type GuardedProxy, startGuardedProxy } from './guarded-proxy.ts';
import { makeFolder } from './local-folder.ts';
import { type SqsEngine, startSqs } from './sqs-engine.ts';

export interface Engines {
  readonly dynamodb: DynamoDBEngine;
  /** Proxy to `dynamodb` for clients other than Groupage's own functions. */
  readonly door: GuardedProxy;
  readonly sqs: SqsEngine;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Folder for data. If absent, the data is in memory. */
  readonly folder?: string;
  readonly ports: { readonly dynamodb: number; readonly sqs: number };
  readonly engine?: DynamoDBEngine['name'];
  /** Replaces the module of the SQS thread. */
  readonly sqsThread?: URL;
  /** Called with a message after an engine crashed and was restarted. */
  readonly onRestart?: (what: string) => void;
}

/** @throws StartFailure */
export const startEngines = async ({ folder, ports, sqsThread, ...rest }: EngineOptions): Promise<Engines> => {
  const kept = folder === undefined ? {} : { folder };
  if (folder !== undefined) makeFolder(folder);
  const dynamodb = await startDynamoDB({ ...rest, ...kept, port: 0 });
  const started: { stop(): Promise<void> }[] = [dynamodb];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((each) => each.stop()));
  };
  try {
    const door = await onPort(ports.dynamodb, (port) => startGuardedProxy(port, dynamodb.endpoint));
    started.push(door);
    const sqs = await onPort(ports.sqs, (port) => startSqs({ ...kept, port }, sqsThread));
    started.push(sqs);
    return { dynamodb, door, sqs, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

const onPort = async <T>(port: number, start: (port: number) => Promise<T>): Promise<T> => {
  try {
    return await start(port);
  } catch (cause) {
    throw explained(cause, port);
  }
};

const explained = (cause: unknown, port: number): unknown =>
  cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE' ? new PortInUse(port) : cause;
