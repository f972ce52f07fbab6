/** What every event source promises. */
import { MESSAGES_AT_ONCE } from '../../../src/batching/timings.ts';
import { functionsOf, sourcesOf } from './flow.ts';
import { at, differing, type Rule } from './template.ts';

/** One message that fails must not bring back the nine that were handled. */
export const failuresAreReportedByMessage: Rule = (template) =>
  sourcesOf(template).flatMap(({ id, properties }) =>
    differing(id, properties, { FunctionResponseTypes: ['ReportBatchItemFailures'] }),
  );

/**
 * No window: waiting for company is the linger's business, per Target; here it would hold back elections and guards, and
 * a window adds to the time that a message must stay hidden. No filter: Lambda deletes what it filters out.
 */
export const messagesArriveAtOnceAndAll: Rule = (template) =>
  sourcesOf(template).flatMap(({ id, properties }) => [
    ...differing(id, properties, { FilterCriteria: undefined }),
    ...(properties.MaximumBatchingWindowInSeconds ? [`${id}: waits to fill a batch`] : []),
    ...(properties.Enabled === false ? [`${id}: is switched off`] : []),
    ...(Object.values<unknown>(MESSAGES_AT_ONCE).includes(properties.BatchSize)
      ? []
      : [`${id}: BatchSize is ${String(properties.BatchSize)}, which the timings do not know`]),
  ]);

/** Lambda's limits are 2 and 1,000; all together they leave an account's default of 1,000 to others too. */
export const concurrencyIsLimitedAtTheSource: Rule = (template) => {
  const limits = sourcesOf(template).map(({ id, properties }) => ({
    id,
    limit: at(properties, 'ScalingConfig.MaximumConcurrency'),
  }));
  const sum = limits.reduce((all, { limit }) => all + Number(limit ?? 0), 0);
  return [
    ...limits.flatMap(({ id, limit }) =>
      typeof limit === 'number' && limit >= 2 && limit <= 1_000
        ? []
        : [`${id}: MaximumConcurrency is ${String(limit)}`],
    ),
    ...(sum > 500 ? [`the event sources may take ${sum} of an account's 1,000 concurrent executions`] : []),
  ];
};

/** Two λs on one queue would take each other's messages. */
export const queuesHaveOneReader: Rule = (template) => {
  const sources = sourcesOf(template);
  const functions = new Set(functionsOf(template).map(([id]) => id));
  return sources.flatMap(({ id, queue, fn }) => [
    ...(sources.some((other) => other.id !== id && other.queue === queue) ? [`${queue}: has several readers`] : []),
    ...(functions.has(fn) && template.Resources[queue]?.Type === 'AWS::SQS::Queue'
      ? []
      : [
          `${id}: joins ${queue || 'something'} to ${fn || 'something'}, which are not a queue and a λ of this template`,
        ]),
  ]);
};
