/** What a simulated trace costs at list prices; free tiers are not counted, nor what producers pay for sending. */
import type { Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';
import { PRICES } from './prices.ts';

/** In US dollars. */
export interface Cost {
  readonly dynamodb: number;
  readonly sqs: number;
  readonly lambda: number;
  /** All three, for the whole trace. */
  readonly total: number;
  /** If every day went on as the trace; null for a trace of one moment. */
  readonly perDay: number | null;
  /** Null where no task was registered. */
  readonly perMillion: number | null;
  /** What producers pay for a million requests to the register queue: each may carry ten tasks. */
  readonly producersPerMillion: { readonly oneByOne: number; readonly tenAtOnce: number };
}

const DAY = 86_400_000;
const MILLION = 1_000_000;

/** @param surroundings have the functions' memory */
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
