/** Makes the template's tables and queues on the local engines. What is there already stays as it is. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { CloudAssembly, Found } from './template.ts';

export const createTables = async (assembly: CloudAssembly, client: Pick<DynamoDBClient, 'send'>): Promise<void> => {
  await Promise.all(assembly.all('AWS::DynamoDB::Table').map((table) => createTable(table, client)));
};

const createTable = async ({ name, properties }: Found, client: Pick<DynamoDBClient, 'send'>): Promise<void> => {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode } =
    properties as unknown as CreateTableCommandInput;
  try {
    await client.send(
      new CreateTableCommand({ TableName: name, KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode }),
    );
  } catch (cause) {
    if (!(cause instanceof ResourceInUseException)) throw cause;
  }
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
