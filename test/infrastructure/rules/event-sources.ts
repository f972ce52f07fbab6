/** Rules that hold for every event source. */

import { ENVIRONMENT } from '../../../src/domain/deployed/environment.ts';
import { MESSAGES_AT_ONCE, REGISTER_LIMITS } from '../../../src/domain/timings.ts';
import { functionsOf, sourcesOf } from './flow.ts';
import { at, differing, idOf, type Rule, type Template } from './template.ts';

/** One failed message must not bring back the others of its batch, which were handled. */
export const failuresAreReportedByMessage: Rule = (template) =>
  sourcesOf(template).flatMap(({ id, properties }) =>
    differing(id, properties, { FunctionResponseTypes: ['ReportBatchItemFailures'] }),
  );

/** Whether a source reads the queue to which producers send. */
const isOfRegister = (template: Template, queue: string): boolean =>
  functionsOf(template).some(
    ([, { Environment }]) => idOf(at(Environment as object, `Variables.${ENVIRONMENT.registerQueue}`)) === queue,
  );

/**
 * A batching window is allowed only for register messages, and only if the configuration sets one. The leader gathers
 * tasks for each Target; a window elsewhere would delay elections and guards. No filter is allowed, since Lambda
 * deletes the messages that a filter excludes.
 */
export const messagesArriveAtOnceAndAll: Rule = (template) =>
  sourcesOf(template).flatMap(({ id, queue, properties }) => {
    const { BatchSize, MaximumBatchingWindowInSeconds: window, FilterCriteria, Enabled } = properties;
    const isRegister = isOfRegister(template, queue);
    const isKnown = Object.values<unknown>(MESSAGES_AT_ONCE).includes(BatchSize);
    const isGathered = isRegister && Number(window) >= 1 && Number(BatchSize) <= REGISTER_LIMITS.messages;
    return [
      ...differing(id, { FilterCriteria }, { FilterCriteria: undefined }),
      ...(window && !isRegister ? [`${id}: waits to fill a batch`] : []),
      ...(Enabled === false ? [`${id}: is switched off`] : []),
      ...(isKnown || isGathered ? [] : [`${id}: BatchSize is ${String(BatchSize)}, which the timings do not consider`]),
    ];
  });

/** Lambda's limits are 2 and 1,000. The sum leaves other functions half of an account's default quota of 1,000. */
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

/** Two functions on one queue would take each other's messages. */
export const queuesHaveOneReader: Rule = (template) => {
  const sources = sourcesOf(template);
  const functions = new Set(functionsOf(template).map(([id]) => id));
  return sources.flatMap(({ id, queue, fn }) => [
    ...(sources.some((other) => other.id !== id && other.queue === queue) ? [`${queue}: has several readers`] : []),
    ...(functions.has(fn) && template.Resources[queue]?.Type === 'AWS::SQS::Queue'
      ? []
      : [
          `${id}: joins ${queue || 'something'} to ${fn || 'something'}, which are not a queue and a function of this template`,
        ]),
  ]);
};
