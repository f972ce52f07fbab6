/**
 * How this project uses DynamoDB: many statements per request, failed conditions as values, retries while throttled.
 */
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  type NativeAttributeValue,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import pLimit from 'p-limit';
import type { Page } from '../domain/page.ts';
import { InvalidCursor } from '../ports/rows.ts';
import type { Item } from '../rows/item.ts';
import { type RowKind, readable } from '../rows/row-version.ts';
import { inParts } from '../util/parts.ts';
import { waves } from '../util/waves.ts';
import { fromCursor, type KeyShape, parseCursor, printCursor } from './cursor.ts';
import { inRounds, type Left } from './rounds.ts';

/** Limits per request of PartiQL, BatchWriteItem and BatchGetItem. */
const STATEMENTS = 25;
const WRITES = 25;
const GETS = 100;
/**
 * Number of requests of one call that are in flight at once: enough to hide latency, and few enough not to cause
 * throttling.
 */
export const CONCURRENCY = 8;

/** A PartiQL write. Its refusal is the expected result of a race, not an error. */
export interface Statement {
  /** The key of the row that the statement writes. */
  readonly key: Item;
  readonly text: string;
  readonly parameters: readonly NativeAttributeValue[];
}

/** DynamoDB failed to do a request that it should have done. */
export class DynamoDBFailure extends Error {
  override readonly name = 'DynamoDBFailure';
  readonly code: string;
  constructor(code: string, message: string) {
    super(`DynamoDB: ${message} (${code})`);
    this.code = code;
  }
}

/** Codes after which a statement is sent again. After an internal error, the statement may have been done. */
const TRANSIENT = new Set([
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'InternalServerError',
  'TransactionConflict',
]);
const REFUSED = new Set(['ConditionalCheckFailed', 'DuplicateItem']);

/**
 * Executes conditional writes, 25 per request. Returns whether each write was done, in the order of the writes. A
 * throttled write is sent again and never counts as refused. Writes of one row are done in the order given.
 *
 * @throws DynamoDBFailure if a statement is invalid; GaveUp if a statement is still throttled after the last round
 */
export const execute = async (client: DynamoDBDocumentClient, statements: readonly Statement[]): Promise<boolean[]> => {
  const answers = new Map<Statement, boolean>();
  await inRequests(
    statements,
    ({ key }) => rowName(key),
    STATEMENTS,
    async (chunk) => {
      const { Responses = [] } = await client.send(
        new BatchExecuteStatementCommand({
          Statements: chunk.map(({ text, parameters }) => ({ Statement: text, Parameters: [...parameters] })),
        }),
      );
      return chunk.flatMap((statement, index): Left<Statement>[] => {
        const { Error: error } = Responses[index] ?? {};
        const code = error?.Code;
        if (code === undefined || REFUSED.has(code)) {
          answers.set(statement, code === undefined);
          return [];
        }
        const cause = new DynamoDBFailure(code, error?.Message ?? 'a statement failed');
        if (!TRANSIENT.has(code)) throw cause;
        return [{ each: statement, cause }];
      });
    },
  );
  return statements.map((statement) => answers.get(statement) === true);
};

/** Why DynamoDB does not accept the contents of a write. Undefined if the write failed for another reason. */
export const refusal = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined;
  const isRefusal =
    cause.name === 'ValidationException' || (cause instanceof DynamoDBFailure && cause.code === 'ValidationError');
  return isRefusal ? cause.message : undefined;
};

/** A conditional put in the form of a PartiQL INSERT, so that 25 of these puts fit into a request. */
export const insertion = (table: string, row: Item): Statement => ({
  key: row,
  text: `INSERT INTO "${table}" VALUE {${Object.keys(row)
    .map((name) => `'${name}': ?`)
    .join(', ')}}`,
  parameters: Object.values(row),
});

/** How rows are read. By default, reads are strongly consistent and return all attributes. */
export interface HowToRead {
  readonly only?: readonly string[];
  readonly isEventual?: boolean;
}

/** Reads rows by key, in no particular order. A row whose key is given several times is read once. */
export const getAll = async (
  client: DynamoDBDocumentClient,
  table: string,
  keys: readonly Item[],
  { only, isEventual = false }: HowToRead = {},
): Promise<Item[]> => {
  const items: Item[] = [];
  // `Status` and others are reserved words of DynamoDB, so each attribute gets a placeholder.
  const projection = only && {
    ProjectionExpression: only.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(only.map((name) => [`#${name}`, name])),
  };
  const distinct = [...new Map(keys.map((key) => [rowName(key), key])).values()];
  await inRequests(distinct, rowName, GETS, async (chunk) => {
    const answer = await client.send(
      new BatchGetCommand({
        RequestItems: { [table]: { Keys: [...chunk], ConsistentRead: !isEventual, ...projection } },
      }),
    );
    items.push(...(answer.Responses?.[table] ?? []));
    return (answer.UnprocessedKeys?.[table]?.Keys ?? []).map((key) => ({ each: key, cause: unprocessed('keys') }));
  });
  return items;
};

/** An unconditional write. */
export type Write = { readonly put: Item } | { readonly delete: Item };

/** Writes rows without conditions, 25 per request. If a row is written several times, the last write takes effect. */
export const writeAll = (client: DynamoDBDocumentClient, table: string, writes: readonly Write[]): Promise<void> =>
  inRequests(writes, rowOf, WRITES, async (chunk) => {
    const requests = chunk.map((write) =>
      'put' in write ? { PutRequest: { Item: write.put } } : { DeleteRequest: { Key: write.delete } },
    );
    const { UnprocessedItems } = await client.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }));
    return (UnprocessedItems?.[table] ?? []).map(
      ({ PutRequest, DeleteRequest }): Left<Write> => ({
        each: PutRequest ? { put: PutRequest.Item as Item } : { delete: DeleteRequest?.Key as Item },
        cause: unprocessed('items'),
      }),
    );
  });

const rowOf = (write: Write): string => rowName('put' in write ? write.put : write.delete);

/** Identifies a row by its key. All rows that are written in batches have these key attributes. */
const rowName = ({ Id, Target, Entry }: Item): string => JSON.stringify([Id ?? Target, Entry]);

/**
 * The error for parts that DynamoDB left out of a request. DynamoDB gives no reason; usually it throttles these parts.
 */
const unprocessed = (what: 'keys' | 'items'): DynamoDBFailure =>
  new DynamoDBFailure('Unprocessed', `${what} were left unprocessed`);

/**
 * Does a conditional write of one row. Returns DynamoDB's answer, or undefined if the condition failed.
 *
 * @param kind kind of the row, if a refused write returns the row
 * @throws NewerRow
 */
export const conditionally = async <T>(write: Promise<T>, kind?: RowKind): Promise<T | undefined> => {
  try {
    return await write;
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw cause;
    if (kind && cause.Item) readable(kind, unmarshall(cause.Item));
    return undefined;
  }
};

/**
 * Does a transaction. Returns false if a condition failed, if another write was faster, or if DynamoDB was too busy.
 * Nothing is written in these cases.
 */
export const transactionally = async (transaction: Promise<unknown>): Promise<boolean> => {
  try {
    await transaction;
    return true;
  } catch (cause) {
    if (!(cause instanceof TransactionCanceledException)) throw cause;
    const codes = (cause.CancellationReasons ?? []).flatMap(({ Code }) => Code ?? []);
    // If there is another reason, a repeated transaction would fail again.
    if (!codes.some((code) => REFUSED.has(code) || TRANSIENT.has(code))) throw cause;
    return false;
  }
};

/**
 * Does a write of a row that transactions write too. While a transaction holds the row, DynamoDB refuses other writes,
 * and the SDK does not repeat these writes.
 *
 * @throws GaveUp if a transaction still holds the row after the last round
 */
export const besideTransactions = async <T>(write: () => Promise<T>): Promise<T> => {
  const answers: T[] = [];
  await inRounds([write], async () => {
    try {
      answers.push(await write());
      return [];
    } catch (cause) {
      if (!(cause instanceof TransactionConflictException)) throw cause;
      return [{ each: write, cause }];
    }
  });
  return answers[0] as T;
};

/** This character sorts after every character in this project's keys. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Reads one page of an index, by its partition key. Indexes are eventually consistent. A prefix of the sort key is
 * expressed as a range, because the embedded engine ignores case in `begins_with`.
 */
export const queryIndex = async (
  client: DynamoDBDocumentClient,
  { table, index, key, value, keyShape, newestFirst, search }: IndexQuery,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Item>> => {
  const from = parseCursor(cursor, keyShape, { [key]: value });
  if (from && search && !String(from[search.sort]).startsWith(search.prefix)) throw new InvalidCursor();
  const query = new QueryCommand({
    TableName: table,
    IndexName: index,
    KeyConditionExpression: `#key = :value${search ? ' AND #sort BETWEEN :prefix AND :end' : ''}`,
    ExpressionAttributeNames: { '#key': key, ...(search ? { '#sort': search.sort } : {}) },
    ExpressionAttributeValues: {
      ':value': value,
      ...(search ? { ':prefix': search.prefix, ':end': `${search.prefix}${LAST_CHARACTER}` } : {}),
    },
    ScanIndexForward: !newestFirst,
    Limit: limit,
    ExclusiveStartKey: from,
  });
  const page = await fromCursor(cursor, client.send(query));
  return { items: page.Items ?? [], ...printCursor(page.LastEvaluatedKey) };
};

/** A page of an index in no order. Only for sparse indexes, because it reads every entry. */
export const scanIndex = async (
  client: DynamoDBDocumentClient,
  { table, index, keyShape }: Pick<IndexQuery, 'table' | 'index' | 'keyShape'>,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Item>> => {
  const scanning = new ScanCommand({
    TableName: table,
    IndexName: index,
    Limit: limit,
    ExclusiveStartKey: parseCursor(cursor, keyShape, {}),
  });
  const page = await fromCursor(cursor, client.send(scanning));
  return { items: page.Items ?? [], ...printCursor(page.LastEvaluatedKey) };
};

export interface IndexQuery {
  readonly table: string;
  readonly index: string;
  readonly key: string;
  readonly value: string;
  /** The attributes of a key of this index, including the table's own key. */
  readonly keyShape: KeyShape;
  readonly newestFirst: boolean;
  /** Restricts the result to keys whose sort key begins with this prefix. */
  readonly search?: { readonly sort: string; readonly prefix: string };
}

/**
 * Sends all values in requests of `size`, several requests at once. No request names a row twice. `send` returns the
 * values that must be sent again.
 */
const inRequests = async <T>(
  all: readonly T[],
  row: (each: T) => string,
  size: number,
  send: (chunk: readonly T[]) => Promise<readonly Left<T>[]>,
): Promise<void> => {
  const limit = pLimit(CONCURRENCY);
  for (const wave of waves(all, row))
    await inRounds(wave, async (open) => {
      const left = await limit.map(inParts(open, size), send);
      return left.flat();
    });
};
