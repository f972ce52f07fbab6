/** What does it cost? */
import { type GraphWidget, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Watched } from '../dashboard.ts';
import { STEP } from '../measured.ts';
import { byOperation, graph, ofFunctions, ofTables, workingQueues } from './lines.ts';

/** Against one call for each task. */
const callsSaved = ({ operations, measured }: Watched): IMetric[] =>
  operations.map(({ operation }, n) => {
    const [succeeded, failed, calls] = [`succeeded${n}`, `failed${n}`, `calls${n}`];
    return new MathExpression({
      // A step without any has no value, which would leave the whole without one.
      expression: `FILL(${succeeded}, 0) + FILL(${failed}, 0) - FILL(${calls}, 0)`,
      usingMetrics: {
        [succeeded]: measured('TasksSucceeded', { operation }),
        [failed]: measured('TasksFailed', { operation }),
        [calls]: measured('DownstreamCalls', { operation }),
      },
      label: operation,
      period: STEP,
    });
  });

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
