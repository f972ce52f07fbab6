/** Access to a fleet's table, for both threads of a node. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDBFleets } from '../aws/dynamodb-fleets.ts';
import type { Fleets } from '../ports/fleets.ts';

/** Address of a fleet's table: plain values, because each thread makes its own client. */
export interface TableAt {
  readonly table: string;
  readonly region?: string;
  /** Endpoint of an emulator. */
  readonly endpoint?: string;
  /** @default - credentials that the AWS SDK finds and renews */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** A call that hangs must not delay the next heartbeat: without heartbeats, other nodes evict this node. */
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
