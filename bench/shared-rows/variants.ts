/**
 * Two ways in which the tasks of one delivery and Target share a row. *Whole rows*: a batch claims rows, each by a
 * conditional write, as Groupage claims tasks. *Numbers*: tasks are numbered through their Target's header, like jobs
 * of deferred lists, and a batch claims the next numbers with one write of the header.
 */
import { PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { execute, insertion, writeAll } from '../../src/aws/dynamodb.ts';
import type { Item } from '../../src/rows/item.ts';
import type { Spent, Tables } from './tables.ts';

export interface Load {
  readonly tasks: number;
  readonly targets: number;
  /** The size of a payload, in bytes. */
  readonly payload: number;
  /** The most tasks of a batch. */
  readonly size: number;
}

interface SentTask {
  readonly id: string;
  readonly target: string;
  readonly payload: string;
}
/** The tasks of one invocation of the register function. */
export type Delivery = readonly SentTask[];

interface Run {
  readonly batches: number;
  /** The units to register, to claim, to end and to delete. */
  readonly phases: readonly Spent[];
}
type Way = (tables: Tables, load: Load, deliveries: readonly Delivery[]) => Promise<Run>;

const shared = (tasks: readonly SentTask[]): Item[] => tasks.map(({ id, payload }) => ({ Id: id, Payload: payload }));
const entryOf = (n: number): string => `wait#${String(n).padStart(13, '0')}`;
/** The size limit of a row in this prototype, in bytes. DynamoDB allows 400 KB, including attribute names. */
const MOST = 300_000;

/** The rows of one delivery: its tasks by Target, divided so that each row is within the size limit. */
const shares = (delivery: Delivery, { payload }: Load): (readonly [target: string, tasks: SentTask[]])[] => {
  const most = Math.max(1, Math.floor(MOST / (payload + 100)));
  return [...Map.groupBy(delivery, ({ target }) => target)].flatMap(([target, tasks]) =>
    Array.from(
      { length: Math.ceil(tasks.length / most) },
      (_, n) => [target, tasks.slice(n * most, (n + 1) * most)] as const,
    ),
  );
};

const rowsOf = async ({ client, waiting }: Tables, target: string): Promise<Item[]> => {
  const rows: Item[] = [];
  let from: Item | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: waiting,
        KeyConditionExpression: '#target = :target AND begins_with(Entry, :prefix)',
        ExpressionAttributeNames: { '#target': 'Target' },
        ExpressionAttributeValues: { ':target': target, ':prefix': 'wait#' },
        ConsistentRead: true,
        ExclusiveStartKey: from,
      }),
    );
    rows.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return rows;
};

/** Writes a batch's row: first with the tasks that the batch claimed, and finally with their outcomes. */
const putBatch = async ({ client, batch }: Tables, id: string, claimed: Item): Promise<void> => {
  const Item = { BatchId: id, Status: 'sealed', ...claimed };
  await client.send(new PutCommand({ TableName: batch, Item, ConditionExpression: 'attribute_not_exists(BatchId)' }));
};
const endBatch = async ({ client, batch }: Tables, id: string, tasks: number): Promise<void> => {
  await client.send(
    new UpdateCommand({
      TableName: batch,
      Key: { BatchId: id },
      UpdateExpression: 'SET #status = :ended, Results = :results',
      ConditionExpression: '#status = :sealed',
      ExpressionAttributeNames: { '#status': 'Status' },
      ExpressionAttributeValues: {
        ':ended': 'succeeded',
        ':sealed': 'sealed',
        ':results': Array(tasks).fill('{"ok":true}'),
      },
    }),
  );
};

/** Divides rows into batches in order. A batch takes rows while they fit, and a row is never split. */
const inBatches = (rows: readonly Item[], size: number): Item[][] => {
  const batches: Item[][] = [];
  let room = 0;
  for (const row of rows) {
    if (row.Tasks.length > room || batches.length === 0) {
      batches.push([]);
      room = size;
    }
    batches.at(-1)?.push(row);
    room -= row.Tasks.length;
  }
  return batches;
};

const wholeRows: Way = async (tables, load, deliveries) => {
  const { client, waiting } = tables;
  let registered = 0;
  const register = await tables.spending(async () => {
    for (const delivery of deliveries) {
      const rows = shares(delivery, load).map(([Target, tasks]) => {
        registered += 1;
        return { Target, Entry: entryOf(registered), Tasks: shared(tasks) };
      });
      await execute(
        client,
        rows.map((row) => insertion(waiting, row)),
      );
    }
  });
  const targets = [...new Set(deliveries.flat().map(({ target }) => target))];
  const batches: { readonly id: string; readonly rows: readonly Item[] }[] = [];
  const claim = await tables.spending(async () => {
    for (const target of targets)
      for (const [n, rows] of inBatches(await rowsOf(tables, target), load.size).entries()) {
        const id = `${target}#1#${n}`;
        await putBatch(tables, id, { Rows: rows.map(({ Entry }) => Entry) });
        await execute(
          client,
          rows.map(({ Entry }) => ({
            key: { Target: target, Entry },
            text: `UPDATE "${waiting}" SET "BatchId"=? WHERE "Target"=? AND "Entry"=? AND "BatchId" IS MISSING`,
            parameters: [id, target, Entry],
          })),
        );
        batches.push({ id, rows });
      }
  });
  const end = await tables.spending(async () => {
    for (const { id, rows } of batches) await endBatch(tables, id, rows.flatMap(({ Tasks }) => Tasks).length);
  });
  const clean = await tables.spending(() =>
    writeAll(
      client,
      waiting,
      batches.flatMap(({ rows }) => rows.map(({ Target, Entry }) => ({ delete: { Target, Entry } }))),
    ),
  );
  return { batches: batches.length, phases: [register, claim, end, clean] };
};

const header = (Target: string): Item => ({ Target, Entry: 'head' });

const numbers: Way = async (tables, load, deliveries) => {
  const { client, waiting } = tables;
  const totals = new Map<string, number>();
  const register = await tables.spending(async () => {
    for (const delivery of deliveries)
      for (const [target, tasks] of shares(delivery, load)) {
        const seen = totals.get(target) ?? 0;
        totals.set(target, seen + tasks.length);
        await client.send(publication(waiting, target, seen, tasks));
      }
  });
  const batches: { readonly id: string; readonly count: number }[] = [];
  const claim = await tables.spending(async () => {
    for (const [target, sum] of totals) {
      for (let first = 0; first < sum; first += load.size) {
        const count = Math.min(load.size, sum - first);
        const id = `${target}#1#${first}`;
        await client.send(
          new UpdateCommand({
            TableName: waiting,
            Key: header(target),
            UpdateExpression: 'SET Claimed = :next',
            ConditionExpression: first === 0 ? 'attribute_not_exists(Claimed)' : 'Claimed = :first',
            ExpressionAttributeValues: { ':next': first + count, ...(first === 0 ? {} : { ':first': first }) },
          }),
        );
        await putBatch(tables, id, { First: first, Count: count });
        batches.push({ id, count });
      }
      // The batch handlers read each row once, if every batch ends with a row.
      await rowsOf(tables, target);
    }
  });
  const end = await tables.spending(async () => {
    for (const { id, count } of batches) await endBatch(tables, id, count);
  });
  // The time to live deletes rows at no cost. An explicit delete would cost as much as the row's size.
  return { batches: batches.length, phases: [register, claim, end, { write: 0, read: 0 }] };
};

/** A transaction that writes the row and the header's numbers, like `publish` of deferred lists. */
const publication = (table: string, target: string, seen: number, tasks: readonly SentTask[]): TransactWriteCommand =>
  new TransactWriteCommand({
    TransactItems: [
      {
        Update: {
          TableName: table,
          Key: header(target),
          UpdateExpression: 'SET Published = :total',
          ConditionExpression: seen === 0 ? 'attribute_not_exists(Published)' : 'Published = :seen',
          ExpressionAttributeValues: { ':total': seen + tasks.length, ...(seen === 0 ? {} : { ':seen': seen }) },
        },
      },
      { Put: { TableName: table, Item: { Target: target, Entry: entryOf(seen), Tasks: shared(tasks), ExpiresAt: 0 } } },
    ],
  });

export const WAYS: Readonly<Record<string, Way>> = { 'whole rows': wholeRows, numbers };
