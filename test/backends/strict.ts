/**
 * Clients that refuse what AWS refuses, before a request is sent: local engines accept some of it. So a step that
 * works only on a local engine fails in the tests. The checks read the request in its wire format.
 */
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AwsClients } from '../../src/aws/clients.ts';
import { checkMessage, DYNAMODB, keyProblem, numberProblem, Refusal, refuse, SQS } from '../../src/memory/limits.ts';
import type { Item } from '../../src/rows/item.ts';
import { itemSize } from '../../src/rows/item-size.ts';

type Json = Readonly<Record<string, unknown>>;

/** @param clients whose requests are checked against the limits of AWS from now on @returns the same clients */
export const strict = (clients: AwsClients): AwsClients => {
  const meddle =
    (check: (operation: string, input: Json) => void) =>
    <Args, Answer>(next: (args: Args) => Promise<Answer>, { commandName }: { readonly commandName?: string }) =>
    async (args: Args): Promise<Answer> => {
      const text = textOf((args as { readonly request: { readonly body?: unknown } }).request.body);
      if (text.startsWith('{')) {
        const operation = (commandName ?? '').replace(/Command$/, '');
        check(operation, JSON.parse(text) as Json);
      }
      return next(args);
    };
  const how = { step: 'build', name: 'strict', override: true } as const;
  clients.dynamodb.middlewareStack.add(meddle(checkDynamoDB) as never, how);
  clients.sqs.middlewareStack.add(meddle(checkSqs) as never, how);
  return clients;
};

const textOf = (body: unknown): string => (body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body));

const atMost = (what: string, count: number, most: number): void => {
  if (count > most) refuse(`${what}: ${count}, at most ${most}`);
};

const checkDynamoDB = (operation: string, input: Json): void => {
  atMost('bytes of a request', Buffer.byteLength(JSON.stringify(input)), DYNAMODB.requestBytes);
  checkNumbers(input);
  checkExpressions(input);
  for (const item of itemsIn(operation, input)) checkItem(item);
  for (const key of keysIn(operation, input)) checkKey(key);
  if (operation === 'BatchExecuteStatement') checkStatements(input.Statements as readonly Statement[]);
  if (operation === 'BatchWriteItem') atMost('writes', writesOf(input).length, DYNAMODB.writes);
  if (operation === 'BatchGetItem') atMost('keys', gotKeys(input).length, DYNAMODB.gets);
  if (operation === 'TransactWriteItems') {
    atMost('items of a transaction', partsOf(input).length, DYNAMODB.transaction);
    atMost('bytes of a transaction', Buffer.byteLength(JSON.stringify(input)), DYNAMODB.transactionBytes);
  }
  if (MANY.has(operation)) checkDistinct([...itemsIn(operation, input), ...keysIn(operation, input)].map(nameOf));
};

const MANY = new Set(['BatchWriteItem', 'BatchGetItem', 'TransactWriteItems']);

/** A row's name by its key, in any of the tables. Only the batch table has `BatchId` as its key. */
const nameOf = ({ Id, BatchId, Fleet, Target, Entry }: Json): string =>
  JSON.stringify([Id ?? Fleet ?? (Entry ? Target : BatchId), Entry]);

const checkDistinct = (rows: readonly string[]): void => {
  if (new Set(rows).size < rows.length) refuse('Provided list of item keys contains duplicates');
};

interface Statement {
  readonly Statement: string;
  readonly Parameters?: readonly Json[];
}

const checkStatements = (statements: readonly Statement[]): void => {
  atMost('statements', statements.length, DYNAMODB.statements);
  for (const { Statement: text, Parameters = [] } of statements) {
    atMost('bytes of a statement', Buffer.byteLength(text), DYNAMODB.statementBytes);
    if (text.startsWith('INSERT')) checkItem(rowIn({ Statement: text, Parameters }));
  }
  checkDistinct(statements.map((each) => `${/"([\w-]+)"/.exec(each.Statement)?.[1]} ${nameOf(rowIn(each))}`));
};

/** The row of an INSERT, or the key of an UPDATE. */
const rowIn = ({ Statement: text, Parameters = [] }: Statement): Json => {
  const names = text.startsWith('INSERT') ? /'(\w+)': \?/g : /(?<!\w)"?(Id|Target|Entry)"?=\?/g;
  const placesBefore = (index: number): number => text.slice(0, index).split('?').length - 1;
  return Object.fromEntries(
    [...text.matchAll(names)].map((found) => [found[1], Parameters[placesBefore(found.index)]]),
  );
};

const checkNumbers = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    const problem = name === 'N' && typeof each === 'string' ? numberProblem(each) : undefined;
    if (problem !== undefined) refuse(problem);
    checkNumbers(each);
  }
};

const checkExpressions = (input: Json): void => {
  for (const [name, text] of Object.entries(input))
    if (name.endsWith('Expression') && typeof text === 'string')
      atMost(`bytes of ${name}`, Buffer.byteLength(text), DYNAMODB.expressionBytes);
};

const writesOf = (input: Json): readonly Json[] => Object.values(input.RequestItems as Json).flat() as Json[];
const gotKeys = (input: Json): readonly Json[] =>
  Object.values(input.RequestItems as Json).flatMap((each) => (each as { readonly Keys: Json[] }).Keys);
const partsOf = (input: Json): readonly Json[] =>
  (input.TransactItems as Json[]).flatMap((each) => Object.values(each) as Json[]);

/** Rows that a request writes completely. */
const itemsIn = (operation: string, input: Json): readonly Json[] => {
  if (operation === 'PutItem') return [input.Item as Json];
  if (operation === 'BatchWriteItem')
    return writesOf(input).flatMap(({ PutRequest: put }) => (put ? [(put as { readonly Item: Json }).Item] : []));
  if (operation === 'TransactWriteItems')
    return partsOf(input).flatMap(({ Item: item }) => (item ? [item as Json] : []));
  return [];
};

/** Keys that a request names. */
const keysIn = (operation: string, input: Json): readonly Json[] => {
  if (operation === 'BatchGetItem') return gotKeys(input);
  if (operation === 'BatchWriteItem')
    return writesOf(input).flatMap(({ DeleteRequest: one }) => (one ? [(one as { readonly Key: Json }).Key] : []));
  if (operation === 'TransactWriteItems') return partsOf(input).flatMap(({ Key: key }) => (key ? [key as Json] : []));
  return 'Key' in input ? [input.Key as Json] : [];
};

/** Keys of the tables and of their indexes. `Target` is the sort key of the index of Targets. */
const LONGEST: Readonly<Record<string, number>> = {
  Id: DYNAMODB.partitionKey,
  BatchId: DYNAMODB.partitionKey,
  Fleet: DYNAMODB.partitionKey,
  FailedTarget: DYNAMODB.partitionKey,
  Target: DYNAMODB.sortKey,
  Entry: DYNAMODB.sortKey,
};

const checkKey = (key: Json): void => {
  for (const [name, most] of Object.entries(LONGEST)) {
    const text = (key[name] as { readonly S?: string } | undefined)?.S;
    const problem = text === undefined ? undefined : keyProblem(text, most);
    if (problem !== undefined) refuse(problem);
  }
};

const checkItem = (item: Json): void => {
  checkKey(item);
  const bytes = itemSize(unmarshall(item as never) as Item);
  if (bytes > DYNAMODB.item) refuse('Item size has exceeded the maximum allowed size');
};

interface Entry {
  readonly Id?: string;
  readonly MessageBody?: string;
  readonly DelaySeconds?: number;
}

const checkSqs = (operation: string, input: Json): void => {
  const entries = (input.Entries ?? []) as readonly Entry[];
  if (Array.isArray(input.Entries) && (entries.length === 0 || entries.length > SQS.entries))
    throw new Refusal('InvalidParameterValue', `${entries.length} entries`);
  if (new Set(entries.map(({ Id }) => Id)).size < entries.length)
    throw new Refusal('InvalidParameterValue', 'two entries have one Id');
  const sent = operation === 'SendMessage' ? [input as Entry] : operation === 'SendMessageBatch' ? entries : [];
  for (const { MessageBody = '', DelaySeconds = 0 } of sent) checkMessage(MessageBody, DelaySeconds);
  const bytes = sent.reduce((sum, { MessageBody = '' }) => sum + Buffer.byteLength(MessageBody), 0);
  if (bytes > SQS.bytes) throw new Refusal('InvalidParameterValue', `${bytes} bytes in a request`);
};
