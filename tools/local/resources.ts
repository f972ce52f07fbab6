/** Creates the template's tables and queues on the local engines. Existing tables are kept; existing queues get the settings of the template. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ScanCommand,
  UpdateTableCommand,
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
    const present = await indexesOf(name, client);
    if (await isHalfMade(name, present, client)) {
      await client.send(new DeleteTableCommand({ TableName: name }));
      await client.send(create);
    } else await addIndexes(create.input, present, client);
  }
};

const indexesOf = async (TableName: string, client: Pick<DynamoDBClient, 'send'>): Promise<(string | undefined)[]> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName);
};

/** Adds the indexes that a table of an earlier release lacks. */
const addIndexes = async (
  { TableName, AttributeDefinitions, GlobalSecondaryIndexes = [] }: CreateTableCommandInput,
  present: readonly (string | undefined)[],
  client: Pick<DynamoDBClient, 'send'>,
): Promise<void> => {
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !present.includes(IndexName)))
    await client.send(
      new UpdateTableCommand({ TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create: index }] }),
    );
};

/**
 * Whether an engine was killed while it created this table. In that case dynoxide lists the table, but cannot read it.
 * The table is empty, because its creation was never acknowledged.
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

/** Creates dead-letter queues first, because a redrive policy needs an existing queue. */
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

/** Creates a table for fleets on a local engine, with the keys of a `FleetTable`. @returns options for `runFleet`. */
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
