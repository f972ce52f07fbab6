/** A fleet's table on a local engine, with the keys that a `FleetTable` has. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import type { TableAt } from '../../src/fleet/at.ts';
import { LOCAL_REGION, localClients } from './clients.ts';

/** @returns how `runFleet` reaches it. */
export const makeFleetTable = async (endpoint: string, table: string): Promise<TableAt> => {
  const { dynamodb } = localClients({ dynamodb: endpoint });
  await dynamodb.send(
    new CreateTableCommand({
      TableName: table,
      KeySchema: [
        { AttributeName: 'Fleet', KeyType: 'HASH' },
        { AttributeName: 'Entry', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'Fleet', AttributeType: 'S' },
        { AttributeName: 'Entry', AttributeType: 'S' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  return { table, endpoint, region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
};
