/** Makes the template's tables and queues on the local engines. What is there already stays as it is. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { TableAt } from '../../src/fleet/table-at.ts';
import { LOCAL_REGION, localClients } from './clients.ts';
import type { CloudAssembly, Found } from './template.ts';

export const createTables = async (assembly: CloudAssembly, client: Pick<DynamoDBClient, 'send'>): Promise<void> => {
  await Promise.all(assembly.all('AWS::DynamoDB::Table').map((table) => createTable(table, client)));
};

const createTable = async ({ name, properties }: Found, client: Pick<DynamoDBClient, 'send'>): Promise<void> => {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode } =
    properties as unknown as CreateTableCommandInput;
  const create = new CreateTableCommand({
    TableName: name,
    KeySchema,
    AttributeDefinitions,
    GlobalSecondaryIndexes,
    BillingMode,
  });
  try {
    await client.send(create);
  } catch (cause) {
    if (!(cause instanceof ResourceInUseException)) throw cause;
    const indexes = (GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName);
    if (!(await isHalfMade(name, indexes, client))) return;
    await client.send(new DeleteTableCommand({ TableName: name }));
    await client.send(create);
  }
};

/**
 * Whether an engine was killed while it made a table: dynoxide then lists one that cannot be read, now and for ever.
 * Nothing was ever written to it, since nobody was told that it is there.
 */
const isHalfMade = async (
  TableName: string,
  indexes: readonly (string | undefined)[],
  client: Pick<DynamoDBClient, 'send'>,
): Promise<boolean> => {
  for (const IndexName of [undefined, ...indexes]) {
    try {
      const { Count = 0 } = await client.send(new ScanCommand({ TableName, IndexName, Limit: 1 }));
      if (Count > 0) return false;
    } catch (cause) {
      if (cause instanceof Error && /no such table/.test(cause.message)) return true;
      throw cause;
    }
  }
  return false;
};

/** Dead-letter queues first: a redrive policy names one that exists. */
export const createQueues = async (assembly: CloudAssembly, client: SQSClient): Promise<void> => {
  const queues = assembly.all('AWS::SQS::Queue');
  const isWorking = ({ properties }: Found): boolean => properties.RedrivePolicy !== undefined;
  for (const queue of [...queues.filter((each) => !isWorking(each)), ...queues.filter(isWorking)])
    await createQueue(queue, client);
};

const createQueue = async ({ name, properties }: Found, client: SQSClient): Promise<void> => {
  const { VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy } = properties;
  const attributes = Object.fromEntries(
    Object.entries({ VisibilityTimeout, MessageRetentionPeriod, RedrivePolicy }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, typeof value === 'object' ? JSON.stringify(value) : String(value)]],
    ),
  );
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }));
  await client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: attributes }));
};

/** A fleet's table on a local engine, with the keys that a `FleetTable` has. @returns how `runFleet` reaches it. */
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
