/** Where is the bottleneck? */
import { type GraphWidget, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { byOperation, graph, ofFunctions, ofQueues, ofTables, workingQueues } from './lines.ts';
import type { Watched } from './watched.ts';

export const whereIsTheBottleneck = (watched: Watched): GraphWidget[] => {
  const { flow, tables } = watched;
  const queues = workingQueues(watched);
  return [
    graph('A call of the downstream, p95 (ms)', byOperation(watched, ['DownstreamLatency'], 'p95')),
    graph('Calls that came to nothing', byOperation(watched, ['DownstreamErrors'])),
    graph('Batches that are tried again', byOperation(watched, ['BatchesRetried'])),
    graph('Messages that wait in their queue', ofQueues(queues, 'ApproximateNumberOfMessagesVisible')),
    graph('Messages in flight', ofQueues(queues, 'ApproximateNumberOfMessagesNotVisible')),
    graph('Messages that are delayed', ofQueues(queues, 'ApproximateNumberOfMessagesDelayed')),
    graph('Functions at once', ofFunctions(flow.functions, 'ConcurrentExecutions', Stats.MAXIMUM)),
    graph('Duration of functions, p95 (ms)', ofFunctions(flow.functions, 'Duration', 'p95')),
    graph('Functions that failed', ofFunctions(flow.functions, 'Errors', Stats.SUM)),
    graph('Functions that were throttled', ofFunctions(flow.functions, 'Throttles', Stats.SUM)),
    graph('Tables that were throttled', ofTables(tables, ['ReadThrottleEvents', 'WriteThrottleEvents'])),
  ];
};
