/** The cost of a load from the figures of CloudWatch. Pure. */
import { billOf } from '../../simulate/cost.ts';
import type { Usage } from '../../simulate/outcome.ts';
import { AWS } from '../../simulate/platform.ts';
import type { Figures } from './figures.ts';

/** Cost of what AWS measured, in US dollars. Undefined if a part of it was not reported. */
export const costOfFigures = (figures: Figures): number | undefined => {
  const usage = usageOf(figures);
  return usage && billOf(usage, AWS).total;
};

/** The usage of a load as AWS measured it. Undefined if a part of it was not reported. */
const usageOf = ({ all, byFunction }: Figures): Usage | undefined => {
  const { writeUnits, readUnits, lambdaMillis, invocations } = all;
  const messages = messagesIn(all);
  if (writeUnits === undefined || readUnits === undefined || messages === undefined) return undefined;
  if (lambdaMillis === undefined || invocations === undefined) return undefined;
  return {
    writeUnits,
    readUnits,
    sqsRequests: messages,
    invocations: Object.fromEntries(Object.entries(byFunction).map(([fn, figures]) => [fn, figures.invocations ?? 0])),
    lambdaMillis,
  };
};

/**
 * SQS reports messages, but bills requests, which have up to ten messages and 64 KB. The messages of the loads are small,
 * so this is the largest possible number of requests.
 */
export const messagesIn = ({ sent, received, deleted, emptyReceives = 0 }: Figures['all']): number | undefined =>
  sent === undefined || received === undefined || deleted === undefined
    ? undefined
    : sent + received + deleted + emptyReceives;
