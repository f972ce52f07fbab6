/** Costs of a simulated trace at list prices, without free tiers and without the producers' requests. */
import type { Outcome } from './outcome.ts';
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

/** @param surroundings the platform, with the functions' memory */
export const costOf = (
  { usage, operations, sentOver }: Pick<Outcome, 'usage' | 'operations' | 'sentOver'>,
  { memory }: Pick<Platform, 'memory'>,
): Cost => {
  const invocations = Object.values(usage.invocations).reduce((sum, each) => sum + each, 0);
  const tasks = operations.reduce((sum, each) => sum + each.tasks, 0);
  const dynamodb =
    (usage.writeUnits * PRICES.dynamodb.perMillionWriteUnits + usage.readUnits * PRICES.dynamodb.perMillionReadUnits) /
    MILLION;
  const sqs = (usage.sqsRequests * PRICES.sqs.perMillionRequests) / MILLION;
  const lambda =
    (invocations * PRICES.lambda.perMillionInvocations) / MILLION +
    (usage.lambdaMillis / 1_000) * memory * PRICES.lambda.perGigabyteSecond;
  const total = dynamodb + sqs + lambda;
  const request = PRICES.sqs.perMillionRequests;
  return {
    dynamodb,
    sqs,
    lambda,
    total,
    perDay: sentOver > 0 ? (total * DAY) / sentOver : null,
    perMillion: tasks > 0 ? (total * MILLION) / tasks : null,
    producersPerMillion: { oneByOne: request, tenAtOnce: request / 10 },
  };
};
