/** The cost of a trial at list prices. */

import { AWS } from '../../tools/simulate/platform.ts';
import { PRICES } from '../../tools/simulate/prices.ts';
import type { Tried } from './trial.ts';

const MILLION = 1_000_000;

/**
 * The price in US dollars per million tasks, including the time that functions wait for calls, without the cost of an
 * idle stack.
 */
export const perMillion = ({ usage, tasks }: Pick<Tried, 'usage' | 'tasks'>): number => {
  const { writeUnits, readUnits, sqsRequests, invocations, lambdaMillis } = usage;
  const { dynamodb, sqs, lambda } = PRICES;
  const invoked = Object.values(invocations).reduce((sum, each) => sum + each, 0);
  const perMillionOf =
    writeUnits * dynamodb.perMillionWriteUnits +
    readUnits * dynamodb.perMillionReadUnits +
    sqsRequests * sqs.perMillionRequests +
    invoked * lambda.perMillionInvocations;
  const seconds = (lambdaMillis / 1_000) * AWS.memory * lambda.perGigabyteSecond;
  return (perMillionOf / MILLION + seconds) * (MILLION / tasks);
};

export const dollars = (amount: number): string =>
  `$${amount < 100 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en')}`;
