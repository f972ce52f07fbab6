/**
 * Measures the capacity that DynamoDB reads consume. Only requests of the measured work ask DynamoDB to report this
 * capacity.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ReadMeter } from '../ports/rows.ts';

const READS: ReadonlySet<string | undefined> = new Set([
  'GetItemCommand',
  'BatchGetItemCommand',
  'QueryCommand',
  'ScanCommand',
]);

interface Capacity {
  readonly CapacityUnits?: number;
}

/** Adds the meter to a client. The client's other requests are unchanged. */
export const readMeter = (client: DynamoDBDocumentClient): ReadMeter => {
  const measured = new AsyncLocalStorage<number[]>();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const units = READS.has(commandName) ? measured.getStore() : undefined;
        if (!units) return next(args);
        const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        const { ConsumedCapacity } = answer.output as { ConsumedCapacity?: Capacity | readonly Capacity[] };
        for (const { CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat()) units.push(CapacityUnits);
        return answer;
      },
    { step: 'initialize' },
  );
  return {
    measure: async (work) => {
      const units: number[] = [];
      await measured.run(units, work);
      return units.reduce((sum, each) => sum + each, 0);
    },
  };
};
