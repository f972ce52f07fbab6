/** Costs of a simulated trace at list prices, without free tiers and without the producers' requests. */
import type { Outcome, Usage } from './outcome.ts';
import type { Platform } from './platform.ts';
import { PRICES } from './prices.ts';

/** Costs of a trace, in US dollars. */
export interface Cost {
  readonly dynamodb: number;
  readonly sqs: number;
  readonly lambda: number;
  /** Sum of the costs of all services, for the whole trace. */
  readonly total: number;
  /** Costs of a day at the rate of the trace; null if all tasks have the same time. */
  readonly perDay: number | null;
  /** Costs of a million tasks; null if no task was registered. */
  readonly perMillion: number | null;
  /** The producers' costs to send a million tasks to the register queue, in requests of one task or ten tasks. */
  readonly producersPerMillion: { readonly oneByOne: number; readonly tenAtOnce: number };
}

const DAY = 86_400_000;
const MILLION = 1_000_000;

/** The bill for a usage, in US dollars. @param surroundings the platform, with the functions' memory */
export const billOf = (
  { writeUnits, readUnits, sqsRequests, invocations, lambdaMillis }: Usage,
  { memory }: Pick<Platform, 'memory'>,
): Pick<Cost, 'dynamodb' | 'sqs' | 'lambda' | 'total'> => {
  const invoked = Object.values(invocations).reduce((sum, each) => sum + each, 0);
  const dynamodb =
    (writeUnits * PRICES.dynamodb.perMillionWriteUnits + readUnits * PRICES.dynamodb.perMillionReadUnits) / MILLION;
  const sqs = (sqsRequests * PRICES.sqs.perMillionRequests) / MILLION;
  const lambda =
    (invoked * PRICES.lambda.perMillionInvocations) / MILLION +
    (lambdaMillis / 1_000) * memory * PRICES.lambda.perGigabyteSecond;
  return { dynamodb, sqs, lambda, total: dynamodb + sqs + lambda };
};

/** @param surroundings the platform, with the functions' memory */
export const costOf = (
  { usage, operations, sentOver, produced }: Pick<Outcome, 'usage' | 'operations' | 'sentOver' | 'produced'>,
  surroundings: Pick<Platform, 'memory'>,
): Cost => {
  const bill = billOf(usage, surroundings);
  const tasks = operations.reduce((sum, each) => sum + each.tasks, 0);
  const perMillionSent = (requests: number): number =>
    (requests * PRICES.sqs.perMillionRequests) / Math.max(1, produced.messages);
  return {
    ...bill,
    perDay: sentOver > 0 ? (bill.total * DAY) / sentOver : null,
    perMillion: tasks > 0 ? (bill.total * MILLION) / tasks : null,
    producersPerMillion: {
      oneByOne: perMillionSent(produced.oneByOne),
      tenAtOnce: perMillionSent(produced.tenAtOnce),
    },
  };
};
