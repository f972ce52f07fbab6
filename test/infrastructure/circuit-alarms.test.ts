import { expect, it } from 'vitest';
import { METRICS, NAMESPACE, STACK_DIMENSION } from '../../src/metrics.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { ofType } from './rules/template.ts';
import { ours } from './templates.ts';

const circuit = { failures: 5, coolDown: 900_000 };

it('every operation with a circuit has an alarm of what its function counts, which lasts from one opening to the next', () => {
  const config = aConfig({ circuit }, { operation: operationName('plain'), circuit: null });
  const alarms = ofType(ours('prod', config), 'AWS::CloudWatch::Alarm').map(([, properties]) => properties);
  expect(alarms).toHaveLength(1);
  expect(alarms[0]).toMatchObject({
    Namespace: NAMESPACE,
    MetricName: 'CircuitOpened',
    Dimensions: expect.arrayContaining([
      { Name: METRICS.CircuitOpened.by[0], Value: 'ship' },
      { Name: STACK_DIMENSION, Value: { Ref: 'AWS::StackName' } },
    ]),
    Statistic: 'Sum',
    Threshold: 1,
    TreatMissingData: 'notBreaching',
    AlarmDescription: expect.stringContaining('docs/operating.md#a-circuit-is-open'),
  });
  expect(Number(alarms[0]?.Period) * 1_000).toBeGreaterThan(circuit.coolDown);
});
