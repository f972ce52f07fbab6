/** The rights that IAM requires of a command's sender: actions, with the tables, indexes and queues. */
import { statementUses } from './statements.ts';
import { UnknownCommand, type Use } from './use.ts';

/** The fields of all commands' inputs that name a resource. */
interface Input {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName?: string }>>[];
  readonly Statement?: string;
  readonly Statements?: readonly { readonly Statement?: string }[];
  readonly TransactStatements?: readonly { readonly Statement?: string }[];
  readonly QueueUrl?: string;
  readonly QueueName?: string;
}

type Uses = (input: Input) => Use[];

const tableIn = ({ TableName }: Pick<Input, 'TableName'>): string => TableName?.split('/').at(-1) ?? '';

const onTable =
  (action: string): Uses =>
  (input) => [{ action: `dynamodb:${action}`, resource: tableIn(input) }];
/** An index is its own resource: a grant on the table does not cover it. */
const onTableOrIndex =
  (action: string): Uses =>
  (input) => {
    const index = input.IndexName === undefined ? '' : `/index/${input.IndexName}`;
    return [{ action: `dynamodb:${action}`, resource: `${tableIn(input)}${index}` }];
  };
const onEachTable =
  (action: string): Uses =>
  ({ RequestItems = {} }) =>
    Object.keys(RequestItems).map((resource) => ({ action: `dynamodb:${action}`, resource }));
const onQueue =
  (action: string): Uses =>
  ({ QueueUrl = '' }) => [{ action: `sqs:${action}`, resource: QueueUrl.split('/').at(-1) ?? '' }];

/** A transaction has no permission of its own: each part needs that of its single command. */
const TRANSACTED = { Put: 'PutItem', Update: 'UpdateItem', Delete: 'DeleteItem', ConditionCheck: 'ConditionCheckItem' };
const inTransaction =
  (actions: Readonly<Record<string, string>>): Uses =>
  ({ TransactItems = [] }) =>
    TransactItems.flatMap(Object.entries<{ TableName?: string }>).flatMap(([part, each]) => {
      const action = actions[part];
      if (!action) throw new UnknownCommand(`a transaction's ${part}`);
      return onTable(action)(each);
    });

const COMMANDS: Readonly<Record<string, Uses>> = {
  GetItem: onTable('GetItem'),
  PutItem: onTable('PutItem'),
  UpdateItem: onTable('UpdateItem'),
  DeleteItem: onTable('DeleteItem'),
  DescribeTable: onTable('DescribeTable'),
  Query: onTableOrIndex('Query'),
  Scan: onTableOrIndex('Scan'),
  BatchGetItem: onEachTable('BatchGetItem'),
  BatchWriteItem: onEachTable('BatchWriteItem'),
  TransactWriteItems: inTransaction(TRANSACTED),
  TransactGetItems: inTransaction({ Get: 'GetItem' }),
  ExecuteStatement: ({ Statement = '' }) => statementUses(Statement),
  BatchExecuteStatement: ({ Statements = [] }) => Statements.flatMap(({ Statement = '' }) => statementUses(Statement)),
  ExecuteTransaction: ({ TransactStatements = [] }) =>
    TransactStatements.flatMap(({ Statement = '' }) => statementUses(Statement)),
  SendMessage: onQueue('SendMessage'),
  SendMessageBatch: onQueue('SendMessage'),
  ReceiveMessage: onQueue('ReceiveMessage'),
  DeleteMessage: onQueue('DeleteMessage'),
  DeleteMessageBatch: onQueue('DeleteMessage'),
  ChangeMessageVisibility: onQueue('ChangeMessageVisibility'),
  ChangeMessageVisibilityBatch: onQueue('ChangeMessageVisibility'),
  GetQueueAttributes: onQueue('GetQueueAttributes'),
  GetQueueUrl: ({ QueueName = '' }) => [{ action: 'sqs:GetQueueUrl', resource: QueueName }],
};

/** The document client's shorter names. */
const DOCUMENT_NAMES: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  TransactWrite: 'TransactWriteItems',
  TransactGet: 'TransactGetItems',
};

/**
 * The uses of a command, each once.
 *
 * @param commandName as in the SDK, e.g. `GetItemCommand`, or `GetCommand` of the document client.
 * @throws UnknownCommand for an unknown command or part of one, so that no use is missed.
 */
export const usesOf = (commandName: string, input: object): Use[] => {
  const name = commandName.replace(/Command$/, '');
  const uses = COMMANDS[DOCUMENT_NAMES[name] ?? name]?.(input);
  if (!uses) throw new UnknownCommand(commandName);
  if (uses.length === 0 || uses.some(({ resource }) => resource === ''))
    throw new UnknownCommand(`${commandName} that names no table or queue`);
  return [...new Map(uses.map((use) => [`${use.action} ${use.resource}`, use])).values()];
};
