/**
 * Differences between the engines and AWS that the code could come to depend on. Each is a request to the engine, with
 * the answer of each backend. The table in docs/how-to/test-groupage.md has to match this list.
 */
import {
  BatchExecuteStatementCommand,
  ExecuteTransactionCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import type { BackendName } from '../backends/given.ts';
import type { Resources } from '../backends/resources.ts';

export interface Difference {
  /** The name in the documentation. */
  readonly what: string;
  ask(resources: Resources): Promise<string>;
  /** `embedded` is dynoxide and fauxqs; processes and containers are DynamoDB Local and LocalStack. */
  readonly answers: Readonly<Record<'embedded' | 'local-processes' | 'ministack' | 'aws', string>>;
}

/** The answer of a backend. Containers run the same programs as local processes. */
export const answerOf = ({ answers }: Difference, backend: BackendName): string =>
  answers[backend === 'containers' ? 'local-processes' : backend];

/** `taken` if the request succeeds, `refused` if its error has an expected name. Any other error fails the test. */
const taken = (request: Promise<unknown>, refusals: RegExp): Promise<string> =>
  request.then(
    () => 'taken',
    (cause: Error) => {
      if (refusals.test(cause.name)) return 'refused';
      throw cause;
    },
  );

const receive = async ({ clients }: Resources, QueueUrl: string): Promise<Message> => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { Messages = [] } = await clients.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MessageSystemAttributeNames: ['All'],
        VisibilityTimeout: 0,
        WaitTimeSeconds: 1,
      }),
    );
    if (Messages[0]) return Messages[0];
  }
  throw new Error(`no message came to ${QueueUrl}`);
};

/** Sends a message to the elect queue, and receives it until it is a dead letter. */
const deadLetter = async (resources: Resources): Promise<Message> => {
  const { clients, queues, deadLetters } = resources;
  await clients.sqs.send(new SendMessageCommand({ QueueUrl: queues.elect, MessageBody: 'dead' }));
  for (let receives = 0; receives < 8; receives += 1)
    await clients.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queues.elect, VisibilityTimeout: 0, WaitTimeSeconds: 1 }),
    );
  return receive(resources, deadLetters.elect);
};

const statement = (Statement: string, ...texts: string[]) => ({ Statement, Parameters: texts.map((S) => ({ S })) });

/** DynamoDB charges for a query without results. */
export const QUERY_THAT_FINDS_NOTHING: Difference = {
  what: 'the read units of a strongly consistent query without results',
  ask: async ({ clients, tables }) => {
    const { ConsumedCapacity } = await clients.dynamodb.send(
      new QueryCommand({
        TableName: tables.task,
        KeyConditionExpression: 'Id = :id',
        ExpressionAttributeValues: { ':id': { S: 'nobody' } },
        ConsistentRead: true,
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    return String(ConsumedCapacity?.CapacityUnits);
  },
  answers: { embedded: '1', 'local-processes': '0', ministack: '1', aws: '1' },
};

export const DIFFERENCES: readonly Difference[] = [
  {
    what: 'a message with a delay of 901 s',
    ask: ({ clients, queues }) =>
      taken(
        clients.sqs.send(new SendMessageCommand({ QueueUrl: queues.batch, MessageBody: 'late', DelaySeconds: 901 })),
        /InvalidParameterValue/,
      ),
    answers: { embedded: 'taken', 'local-processes': 'taken', ministack: 'taken', aws: 'refused' },
  },
  {
    what: 'the MessageGroupId of a message received from a standard queue',
    ask: async (resources) => {
      const QueueUrl = resources.queues.register;
      await resources.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', MessageGroupId: 'g' }));
      return (await receive(resources, QueueUrl)).Attributes?.MessageGroupId === 'g' ? 'there' : 'dropped';
    },
    answers: { embedded: 'dropped', 'local-processes': 'there', ministack: 'there', aws: 'there' },
  },
  {
    what: 'DeleteMessage with an invalid receipt handle',
    ask: ({ clients, queues }) =>
      taken(
        clients.sqs.send(new DeleteMessageCommand({ QueueUrl: queues.batch, ReceiptHandle: 'nonsense' })),
        /ReceiptHandleIsInvalid/,
      ),
    answers: { embedded: 'taken', 'local-processes': 'refused', ministack: 'refused', aws: 'refused' },
  },
  {
    what: "a dead letter's DeadLetterQueueSourceArn",
    ask: async (resources) =>
      (await deadLetter(resources)).Attributes?.DeadLetterQueueSourceArn ? 'there' : 'missing',
    answers: { embedded: 'missing', 'local-processes': 'there', ministack: 'there', aws: 'there' },
  },
  {
    what: 'StartMessageMoveTask, the redrive of the SQS console',
    ask: async ({ clients, deadLetters }) => {
      const { Attributes } = await clients.sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: deadLetters.elect, AttributeNames: ['QueueArn'] }),
      );
      return taken(
        clients.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: Attributes?.QueueArn })),
        /InvalidAction/,
      );
    },
    answers: { embedded: 'refused', 'local-processes': 'taken', ministack: 'refused', aws: 'taken' },
  },
  {
    what: 'the consumed capacity of a batch of PartiQL statements',
    ask: async ({ clients, tables }) => {
      const insert = statement(`INSERT INTO "${tables.task}" VALUE {'Id': ?}`, 'capacity');
      const { ConsumedCapacity = [] } = await clients.dynamodb.send(
        new BatchExecuteStatementCommand({ Statements: [insert], ReturnConsumedCapacity: 'TOTAL' }),
      );
      return ConsumedCapacity.length > 0 ? 'reported' : 'not reported';
    },
    answers: { embedded: 'reported', 'local-processes': 'not reported', ministack: 'reported', aws: 'reported' },
  },
  QUERY_THAT_FINDS_NOTHING,
  {
    what: 'a PartiQL update with REMOVE and SET',
    ask: async ({ clients, tables }) => {
      await clients.dynamodb.send(new PutItemCommand({ TableName: tables.task, Item: { Id: { S: 'clauses' } } }));
      const update = statement(`UPDATE "${tables.task}" REMOVE A SET B=? WHERE Id=?`, 'b', 'clauses');
      const { Responses = [] } = await clients.dynamodb.send(
        new BatchExecuteStatementCommand({ Statements: [update] }),
      );
      return Responses[0]?.Error ? 'refused' : 'taken';
    },
    answers: { embedded: 'refused', 'local-processes': 'taken', ministack: 'taken', aws: 'taken' },
  },
  {
    what: 'the cancellation reason of a PartiQL transaction that inserts an existing row',
    ask: async ({ clients, tables }) => {
      await clients.dynamodb.send(new PutItemCommand({ TableName: tables.task, Item: { Id: { S: 'twice' } } }));
      const insert = statement(`INSERT INTO "${tables.task}" VALUE {'Id': ?}`, 'twice');
      try {
        await clients.dynamodb.send(new ExecuteTransactionCommand({ TransactStatements: [insert] }));
        return 'it was not';
      } catch (cause) {
        const { CancellationReasons = [] } = cause as { CancellationReasons?: { Code?: string }[] };
        return String(CancellationReasons[0]?.Code ?? (cause as Error).name);
      }
    },
    answers: {
      embedded: 'DuplicateItem',
      'local-processes': 'ValidationError',
      ministack: 'DuplicateItemException',
      aws: 'DuplicateItem',
    },
  },
];
