/** Is anything late? */
import { type GraphWidget, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { lateAfter, longestWait } from '../../src/domain/config/resolved.ts';
import { byOperation, graph, ofQueues, workingQueues } from './lines.ts';
import type { Watched } from './watched.ts';

export const isItLate = (watched: Watched): GraphWidget[] => {
  const { operations } = watched;
  return [
    graph('How long the oldest task has waited (ms)', byOperation(watched, ['OldestWaiting'], Stats.MAXIMUM), {
      leftAnnotations: operations.map((operation) => ({
        value: lateAfter(operation),
        label: `${operation.operation} is late`,
      })),
    }),
    graph('How long batches waited for their seal, p99 (ms)', byOperation(watched, ['Wait'], 'p99'), {
      leftAnnotations: operations.map((operation) => ({
        value: longestWait(operation),
        label: `${operation.batch.window === null ? 'maxWait' : 'window'} of ${operation.operation}`,
      })),
    }),
    graph('Oldest message (s)', ofQueues(workingQueues(watched), 'ApproximateAgeOfOldestMessage')),
    graph('Tasks in', byOperation(watched, ['TasksRegistered', 'TasksRedriven'])),
    graph('Tasks out', byOperation(watched, ['TasksSucceeded', 'TasksFailed'])),
  ];
};
