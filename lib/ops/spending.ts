/** What does it cost? */
import { type GraphWidget, type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { byOperation, graph, ofFunctions, ofTables, workingQueues } from './lines.ts';
import { callsSavedBy, STEP } from './measured.ts';
import type { Watched } from './watched.ts';

const callsSaved = ({ operations, measured }: Watched): IMetric[] =>
  operations.map(({ operation }, n) => callsSavedBy(measured, operation, {}, n));

export const whatDoesItCost = (watched: Watched): GraphWidget[] => {
  const { flow, tables, config, operations, measured } = watched;
  const merging = operations.filter(({ merge }) => merge);
  const sent = Object.entries({ ...workingQueues(watched), rejected: flow.rejectedQueue.queue });
  return [
    graph('Calls of the downstream', byOperation(watched, ['DownstreamCalls'])),
    graph('Calls saved, against one for each task', callsSaved(watched)),
    graph('Leaders elected', byOperation(watched, ['LeadersElected'])),
    graph('Write units', ofTables(tables, ['ConsumedWriteCapacityUnits'])),
    graph('Read units', ofTables(tables, ['ConsumedReadCapacityUnits'])),
    graph('Invocations', ofFunctions(flow.functions, 'Invocations', Stats.SUM)),
    graph(
      'Messages sent',
      sent.map(([label, queue]) => queue.metric('NumberOfMessagesSent', { label, period: STEP, statistic: Stats.SUM })),
    ),
    graph('Events told, and fan-outs that are done', [
      ...Object.keys(config.destinations).map((destination) =>
        measured('CallbacksDelivered', { destination }, { label: destination }),
      ),
      measured('FanOutsCompleted', {}),
    ]),
    ...(merging.length > 0
      ? [
          graph(
            'Merging',
            byOperation({ ...watched, operations: merging }, [
              'RequestsMerged',
              'JobsStarted',
              'InputsMerged',
              'InputsSkipped',
            ]),
          ),
        ]
      : []),
  ];
};
