/**
 * The published tables on DynamoDB, with the same behaviour as in a schedule ({@link ./store.ts}). Each answer of the
 * engine states its cost.
 */
import { CreateTableCommand, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { conditionally, execute, getAll, type Statement } from '../../../src/aws/dynamodb.ts';
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import type { Item } from '../../../src/rows/item.ts';
import { type IndexEntry, isOpen, type Tables, type TaskRow } from './tables.ts';

export interface TableNames {
  readonly task: string;
  readonly lock: string;
  readonly batch: string;
}

const INDEX = 'TargetStatus';

/** The index contains the attributes that a leader queries, without payloads. */
export const createPublishedTables = async (client: DynamoDBDocumentClient, names: TableNames): Promise<void> => {
  const texts = (...attributes: string[]): CreateTableCommandInput['AttributeDefinitions'] =>
    attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }));
  const create = (TableName: string, key: string, more: Partial<CreateTableCommandInput> = {}) =>
    client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
        AttributeDefinitions: texts(key),
        ...more,
      }),
    );
  await create(names.lock, 'Target');
  await create(names.batch, 'Id');
  await create(names.task, 'Id', {
    AttributeDefinitions: texts('Id', 'Target', 'Status'),
    GlobalSecondaryIndexes: [
      {
        IndexName: INDEX,
        KeySchema: [
          { AttributeName: 'Target', KeyType: 'HASH' },
          { AttributeName: 'Status', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['CreatedAt'] },
      },
    ],
  });
};

/**
 * As the description says, a task is written by its id, whatever its current state is.
 * @param now the clock by which locks expire
 */
export const dynamoDBPublishedTables = (
  client: DynamoDBDocumentClient,
  names: TableNames,
  now: () => Millis,
): Tables => ({
  ...tasksOn(client, names.task),
  ...changesOn(client, names.task),
  ...locksOn(client, names.lock, now),
  ...batchesOn(client, names.batch),
});

const tasksOn = (
  client: DynamoDBDocumentClient,
  table: string,
): Pick<Tables, 'insert' | 'waiting' | 'poll' | 'read'> => {
  const waiting = (target: Target): Promise<readonly IndexEntry[]> => waitingIn(client, table, target);
  return {
    insert: async (task) => {
      const put = new PutCommand({
        TableName: table,
        Item: rowOf(task),
        ConditionExpression: 'attribute_not_exists(Id)',
      });
      return (await conditionally(client.send(put))) ? task : stored(client, table, task.id);
    },
    waiting,
    poll: waiting,
    read: async (ids) => {
      const rows = (await getAll(client, table, ids.map(keyOf))).map(taskOf);
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id));
    },
  };
};

/** Writes many statements per request. */
const changesOn = (
  client: DynamoDBDocumentClient,
  table: string,
): Pick<Tables, 'claim' | 'start' | 'finish' | 'isOpen'> => {
  const change = (id: string, set: string, parameters: Statement['parameters'], when = ''): Statement => ({
    key: { Id: id },
    text: `UPDATE "${table}" SET ${set} WHERE Id=?${when}`,
    parameters,
  });
  return {
    claim: (ids, batch) =>
      execute(
        client,
        ids.map((id) => change(id, `"Status"='batched', BatchId=?`, [batch, id])),
      ),
    start: async (ids) => {
      const hasNotEnded = ` AND "Status" IN ['created', 'batched', 'in-progress']`;
      await execute(
        client,
        ids.map((id) => change(id, `"Status"='in-progress'`, [id], hasNotEnded)),
      );
    },
    finish: async (results) => {
      await execute(
        client,
        results.map(({ id, outcome }) => change(id, `"Status"=?`, [outcome.status, id])),
      );
    },
    isOpen: (task, batch) => isOpen('as-read', task, batch),
  };
};

const locksOn = (
  client: DynamoDBDocumentClient,
  table: string,
  now: () => Millis,
): Pick<Tables, 'acquire' | 'release'> => ({
  acquire: async (target, holder, expiry) => {
    const at = now();
    const put = new PutCommand({
      TableName: table,
      Item: { Target: target, LockHolder: holder, AcquiredAt: at },
      ConditionExpression: 'attribute_not_exists(Target) OR LockHolder = :holder OR AcquiredAt < :expired',
      ExpressionAttributeValues: { ':holder': holder, ':expired': at - expiry },
    });
    return (await conditionally(client.send(put))) !== undefined;
  },
  release: async (target, holder) => {
    const remove = new DeleteCommand({
      TableName: table,
      Key: { Target: target },
      ConditionExpression: 'LockHolder = :holder',
      ExpressionAttributeValues: { ':holder': holder },
    });
    await conditionally(client.send(remove));
  },
});

const batchesOn = (client: DynamoDBDocumentClient, table: string): Pick<Tables, 'putBatch' | 'batch'> => ({
  putBatch: async ({ id, target, members }) => {
    await client.send(new PutCommand({ TableName: table, Item: { Id: id, Target: target, Members: members } }));
  },
  batch: async (id) => {
    const { Item: row } = await client.send(
      new GetCommand({ TableName: table, Key: { Id: id }, ConsistentRead: true }),
    );
    return row && { id, target: row.Target as Target, members: row.Members as TaskId[] };
  },
});

const keyOf = (id: TaskId): Item => ({ Id: id });

const rowOf = ({ id, target, status, payload, createdAt }: TaskRow): Item => ({
  Id: id,
  Target: target,
  Status: status,
  Payload: payload,
  CreatedAt: createdAt,
});

const taskOf = ({ Id, Target: target, Status, Payload, CreatedAt, BatchId: batch }: Item): TaskRow => ({
  id: Id as TaskId,
  target: target as Target,
  status: Status as TaskRow['status'],
  payload: Payload as string,
  createdAt: CreatedAt as Millis,
  ...(batch === undefined ? {} : { batchId: batch as BatchId }),
});

const stored = async (client: DynamoDBDocumentClient, table: string, id: TaskId): Promise<TaskRow> => {
  const [row] = await getAll(client, table, [keyOf(id)]);
  if (!row) throw new Error(`task ${id} existed a moment ago, but its row is gone`);
  return taskOf(row);
};

/** Reads all waiting tasks, because the index is not ordered by age. */
const waitingIn = async (
  client: DynamoDBDocumentClient,
  table: string,
  target: Target,
): Promise<readonly IndexEntry[]> => {
  const rows: IndexEntry[] = [];
  let from: QueryCommandInput['ExclusiveStartKey'];
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: INDEX,
        KeyConditionExpression: '#target = :target AND #status = :created',
        ExpressionAttributeNames: { '#target': 'Target', '#status': 'Status' },
        ExpressionAttributeValues: { ':target': target, ':created': 'created' },
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    rows.push(...Items.map(({ Id, CreatedAt }) => ({ id: Id as TaskId, createdAt: CreatedAt as Millis })));
    from = LastEvaluatedKey;
  } while (from);
  return rows.sort((a, b) => a.createdAt - b.createdAt);
};
