/** Counts what AWS would bill: capacity units as DynamoDB states them, SQS requests, and invocations. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { AwsClients } from '../src/aws/clients.ts';
import { sqsRequestsFor } from '../tools/simulate/prices.ts';

/** Counts by purpose, for example `Tables-Task UpdateItem`. */
export interface Bill {
  readonly writeUnits: Map<string, number>;
  readonly readUnits: Map<string, number>;
  readonly sqsRequests: Map<string, number>;
  /** Receives that returned no message. Their number depends on time, not on tasks. */
  readonly emptyReceives: Map<string, number>;
  readonly invocations: Map<string, number>;
}

export const newBill = (): Bill => ({
  writeUnits: new Map(),
  readUnits: new Map(),
  sqsRequests: new Map(),
  emptyReceives: new Map(),
  invocations: new Map(),
});

export const add = (counts: Map<string, number>, what: string, amount = 1): void => {
  counts.set(what, (counts.get(what) ?? 0) + amount);
};

export const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

const READS = new Set(['GetItemCommand', 'BatchGetItemCommand', 'QueryCommand', 'ScanCommand']);

interface Consumed {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
}

/**
 * Whether the request is a strongly consistent read of a part of a row. The engine charges for the part, DynamoDB for
 * the row.
 */
const isPart = (name: string, input: object): boolean =>
  name === 'GetItemCommand' && 'ProjectionExpression' in input && 'ConsistentRead' in input;

/** The units to read a row, given the units to write it: a read unit covers four kilobytes, a write unit one. */
const wholeRead = (writeUnits = 1): number => Math.ceil(writeUnits / 4);

/** The sizes of the messages that a request sends, in bytes. A request that sends none counts like an empty message. */
const sentSizes = (input: object): number[] => {
  const { MessageBody = '', Entries = [{}] } = input as {
    MessageBody?: string;
    Entries?: readonly { readonly MessageBody?: string }[];
  };
  return 'MessageBody' in input
    ? [Buffer.byteLength(MessageBody)]
    : Entries.map((entry) => Buffer.byteLength(entry.MessageBody ?? ''));
};

export interface Metering {
  /** Returns the purpose of a request. @default - the name of the table and of the command */
  readonly nameOf?: (table: string | undefined, command: string, input: object) => string;
  /**
   * Called for each refused conditional write of one row. No answer states the cost of a refusal, which is that of the
   * row.
   *
   * @param units the cost of the row when it was last written
   */
  readonly onRefusal?: (name: string, units: number) => void;
}

/** Makes clients that count. Every request asks DynamoDB to state the consumed capacity. */
export const metered = (
  clients: AwsClients,
  bill: Bill,
  { nameOf = (table, command) => `${table} ${command}`, onRefusal = () => {} }: Metering = {},
): AwsClients => {
  const lastUnits = new Map<string, number>();
  clients.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const name = String(context.commandName);
      const { TableName: table, Key } = args.input as { TableName?: string; Key?: object };
      const row = JSON.stringify([table, Key]);
      const answer = await next(args).catch((cause: unknown) => {
        if (cause instanceof ConditionalCheckFailedException)
          onRefusal(nameOf(table, name.replace('Command', ''), args.input), lastUnits.get(row) ?? 1);
        throw cause;
      });
      const counts = READS.has(name) ? bill.readUnits : bill.writeUnits;
      const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Consumed | Consumed[] };
      for (const { TableName, CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat()) {
        if (Key && counts === bill.writeUnits) lastUnits.set(row, CapacityUnits);
        const units = isPart(name, args.input) ? wholeRead(lastUnits.get(row)) : CapacityUnits;
        add(counts, nameOf(TableName, name.replace('Command', ''), args.input), units);
      }
      return answer;
    },
    { step: 'initialize', name: 'meter' },
  );
  clients.sqs.middlewareStack.add(
    (next, context) => async (args) => {
      const { QueueUrl = '' } = args.input as { QueueUrl?: string };
      const name = String(context.commandName).replace('Command', '');
      const what = `${QueueUrl.split('/').at(-1)} ${name}`;
      if (name !== 'ReceiveMessage') add(bill.sqsRequests, what, sqsRequestsFor(sentSizes(args.input)));
      const answer = await next(args);
      const { Messages = [] } = answer.output as { Messages?: readonly { readonly Body?: string }[] };
      const received = sqsRequestsFor(Messages.map(({ Body = '' }) => Buffer.byteLength(Body)));
      if (name === 'ReceiveMessage') add(received > 0 ? bill.sqsRequests : bill.emptyReceives, what, received || 1);
      return answer;
    },
    { step: 'initialize', name: 'meter' },
  );
  return clients;
};
