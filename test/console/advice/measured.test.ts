import { describe, expect, it } from 'vitest';
import { operationFor } from '../../../src/domain/config/resolved.ts';
import { parseConfig } from '../../../src/domain/config/schema/config.ts';
import { settingsFor } from '../../../src/domain/config/settings.ts';
import { measuredIn } from '../../../tools/console/server/advice/measured.ts';
import { policyFrom } from '../../../tools/console/server/advice/policy.ts';
import { configWith } from '../../../tools/simulate/settings.ts';
import { operationName } from '../../factories/factories.ts';
import { aSeries, metrics } from '../page/kit.ts';

describe('the figures of an operation', () => {
  it('are those of the time in which tasks were registered', () => {
    const view = metrics(
      aSeries('TasksRegistered', [0, 5, 0, 7, 0]),
      aSeries('TasksRegistered', [90, 0, 0, 0, 90], { operation: 'book' }),
      aSeries('BatchesSealed', [0, 1, 0, 0, 0], { operation: 'ship', reason: 'full' }),
      aSeries('BatchesSealed', [0, 0, 2, 1, 0], { operation: 'ship', reason: 'waited' }),
      // Two values in each step: percents of 3 and 5 on average.
      aSeries('FillRatio', [0, 6, 10, 0, 0]),
      aSeries('DownstreamLatency', [0, 80, 0, 0, 0]),
    );
    expect(measuredIn(view, 'ship')).toEqual({
      ...{ tasks: 12, span: 60_000, batches: 4, fill: 0.04, sealedBy: 'waited', callTakes: 40 },
    });
  });

  it('are none if nothing was measured', () => {
    const none = { tasks: 0, span: 0, batches: 0, fill: 0, sealedBy: undefined, callTakes: undefined };
    expect(measuredIn(metrics(), 'ship')).toEqual(none);
  });
});

describe('the policy that is simulated', () => {
  const ofShip = (operation: object, others: object = {}) => {
    const downstream = { kind: 'step-functions', stateMachine: 'render' };
    const parsed = parseConfig({ operations: { ship: { target: ['depot'], downstream, ...operation } }, ...others });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const { value } = parsed;
    return { value, policy: policyFrom('ship', settingsFor(value, operationFor(value, operationName('ship')))) };
  };

  it('has the batch settings of the operation', () => {
    for (const batch of [
      {},
      { maxSize: 7, maxWait: '3s' },
      { window: '5m' },
      { quietPeriod: '200ms', minSize: 2, maxWeight: 9 },
    ]) {
      const { value, policy } = ofShip({ batch }, { register: { maxWait: '1s', maxMessages: 100 } });
      const simulated = configWith(policy.input, 'ship', {});
      if (!simulated.ok) throw new Error(JSON.stringify(simulated.problems));
      const [mine, its] = [simulated.value, value].map((of) => operationFor(of, operationName('ship')).batch);
      expect(mine).toEqual(its);
      expect(simulated.value.register).toEqual(value.register);
    }
  });

  it('knows the setting that decides how long tasks wait', () => {
    expect(ofShip({ batch: { window: '5m' } }).policy).toMatchObject({ waitSetting: 'window', wait: 300_000 });
    expect(ofShip({}).policy).toMatchObject({ waitSetting: 'maxWait', wait: 1_000, isMerging: false });
    expect(ofShip({ target: [], merge: { keys: 'a[].id' } }).policy).toMatchObject({
      isMerging: true,
      hasOneTarget: true,
    });
  });
});
