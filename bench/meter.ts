/** Counts what AWS would bill: capacity units as DynamoDB reports them, SQS requests, invocations. */
import type { AwsClients } from '../src/aws/clients.ts';

/** Counts by what they were for, e.g. `Tables-Task UpdateItem`. */
export interface Bill {
  readonly writeUnits: Map<string, number>;
  readonly readUnits: Map<string, number>;
  readonly sqsRequests: Map<string, number>;
  readonly invocations: Map<string, number>;
}

export const newBill = (): Bill => ({
  writeUnits: new Map(),
  readUnits: new Map(),
  sqsRequests: new Map(),
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

/** Makes clients that count. Every request asks DynamoDB what it consumed. */
export const metered = (clients: AwsClients, bill: Bill): AwsClients => {
  clients.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const answer = await next(args);
      const name = String(context.commandName);
      const counts = READS.has(name) ? bill.readUnits : bill.writeUnits;
      const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Consumed | Consumed[] };
      for (const { TableName, CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat())
        add(counts, `${TableName} ${name.replace('Command', '')}`, CapacityUnits);
      return answer;
    },
    { step: 'initialize', name: 'meter' },
  );
  clients.sqs.middlewareStack.add(
    (next, context) => async (args) => {
      const { QueueUrl = '' } = args.input as { QueueUrl?: string };
      add(bill.sqsRequests, `${QueueUrl.split('/').at(-1)} ${String(context.commandName).replace('Command', '')}`);
      return next(args);
    },
    { step: 'initialize', name: 'meter' },
  );
  return clients;
};
