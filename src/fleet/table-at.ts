/** A fleet's table, as both threads of a node reach it. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDBFleets } from '../aws/dynamodb-fleets.ts';
import type { Fleets } from '../ports/fleets.ts';

/** How the table is reached: plain values, since each thread makes its own client of them. */
export interface TableAt {
  readonly table: string;
  readonly region?: string;
  /** Of an emulator. */
  readonly endpoint?: string;
  /** @default - those that the AWS SDK finds, and renews */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** A call that hangs must not keep the next heartbeat waiting: nobody would know that this node lives. */
const TRIES = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

export const fleetsAt = ({ table, region, endpoint, credentials }: TableAt): Fleets => {
  const client = new DynamoDBClient({
    ...TRIES,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  return dynamoDBFleets(DynamoDBDocumentClient.from(client), table);
};
