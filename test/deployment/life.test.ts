/** The life of a stack: deployed into an account, used, updated while tasks wait, compared, replaced, removed. */

import { join } from 'node:path';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { DeleteRolePolicyCommand, IAMClient, paginateListRolePolicies } from '@aws-sdk/client-iam';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { downstreamPort } from '../backends/backend.ts';
import { ROOT, succeeded } from '../backends/cdk.ts';
import { resourcesIn } from '../backends/deployed.ts';
import { countOf, leftOf, WHOLE_STAGE } from '../backends/left.ts';
import { openStage, type Stage } from '../backends/stage.ts';
import { expectEachTaskInOneBatch } from '../end-to-end/each-once.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { expectNothingLeft } from './nothing-left.ts';

const TASKS = 1_000;
const TARGETS = 10;

/** Deletes all policies of the role with this id in a stack's template. */
const revoke = async (stackName: string, role: string): Promise<void> => {
  const client = new IAMClient();
  for (const { logicalId, name: RoleName } of await resourcesIn(stackName, 'AWS::IAM::Role'))
    if (logicalId.startsWith(role))
      for await (const { PolicyNames = [] } of paginateListRolePolicies({ client }, { RoleName }))
        for (const PolicyName of PolicyNames) await client.send(new DeleteRolePolicyCommand({ RoleName, PolicyName }));
};

describe('a stack', () => {
  let downstream: TestDownstream;
  let stage: Stage;
  let flow: Flow;
  const sent: string[] = [];

  beforeAll(async () => {
    downstream = await startTestDownstream(undefined, { port: downstreamPort() });
    stage = openStage('life');
  });
  afterAll(async () => {
    await stage?.remove();
    await downstream?.stop();
  });

  const config = (batch: { maxSize: number; maxWait: '15m' | '10m' }): ConfigInput => ({
    operations: { ship: operationAt(stage.downstreamUrl, { batch }) },
  });
  const payloads = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ depot: `D${n % TARGETS}`, n: sent.length + n }));
  const waiting = async (): Promise<number> => {
    const { targets } = (await flow.get('/targets?operation=ship')) as { targets: { waiting: number }[] };
    return targets.reduce((sum, each) => sum + each.waiting, 0);
  };

  it('is deployed by a plain cdk deploy, and takes tasks', async () => {
    await stage.deploy(config({ maxSize: 1_000, maxWait: '15m' }));
    flow = flowOn(await stage.open(), downstream, 'ship');
    sent.push(...(await flow.send(payloads(TASKS))));
    await eventually(async () => (await waiting()) === TASKS);
    expect(flow.calls()).toEqual([]);
  });

  it('has no difference from its template', async () => {
    const { code, output } = await stage.cdk('diff', '--all', '--fail');
    expect([code, output]).toEqual([0, expect.stringContaining('Number of stacks with differences: 0')]);
  });

  it('is updated while 1,000 tasks wait and more arrive, and loses none', async () => {
    const [more] = await Promise.all([flow.send(payloads(200)), stage.deploy(config({ maxSize: 50, maxWait: '10m' }))]);
    sent.push(...more);
    await flow.backend.stop();
    flow = flowOn(await stage.open(), downstream, 'ship');
    // Leaders sleep until their tasks are due, so a flush is needed.
    for (let depot = 0; depot < TARGETS; depot += 1) {
      const body = JSON.stringify({ target: flow.target(`D${depot}`) });
      expect((await flow.backend.api('/targets/flush', { method: 'POST', body })).status).toBe(202);
    }
    await flow.settled(sent);
    expectEachTaskInOneBatch(flow.calls(), sent);
    for (const { items } of flow.calls()) expect(items.length).toBeLessThanOrEqual(50);
  });

  it('has only the rights of its roles, which the cloud enforces', async () => {
    await flow.backend.invoke('SweepHandler', { source: 'aws.events' });
    await revoke(stage.stacks.flow, 'FlowSweepHandlerRole');
    await eventually(async () => {
      const failure = await flow.backend.invoke('SweepHandler', { source: 'aws.events' }).catch(String);
      return /AccessDenied|not authorized/.test(String(failure));
    });
  });

  it('has alarms on the resources that replaced others, after a plain deployment', async () => {
    const registerQueue = async (): Promise<string | undefined> =>
      (await resourcesIn(stage.stacks.flow, 'AWS::SQS::Queue'))
        .find(({ logicalId }) => logicalId.startsWith('FlowRegisterQueue'))
        ?.name.split('/')
        .at(-1);
    const watched = async (): Promise<string | undefined> => {
      const AlarmNamePrefix = `${stage.stacks.ops}-OpsAlarmsRegisterAge`;
      const { MetricAlarms = [] } = await new CloudWatchClient().send(new DescribeAlarmsCommand({ AlarmNamePrefix }));
      return MetricAlarms[0]?.Dimensions?.[0]?.Value;
    };
    const before = await registerQueue();
    expect([before, await watched()]).toEqual([expect.stringContaining('RegisterQueue'), before]);
    const app = `node ${join(ROOT, 'test/deployment/replacing-app.ts')}`;
    succeeded(await stage.cdk('deploy', '--all', '--require-approval', 'never', '--app', app));
    const after = `${stage.stacks.flow}-FlowRegisterQueue-replaced`;
    expect([await registerQueue(), await watched()]).toEqual([after, after]);
  });

  it('leaves nothing when it is destroyed', async () => {
    const names = `Groupage-${stage.name}-`;
    expect(countOf(await leftOf(stage.cloud, names))).toEqual(WHOLE_STAGE);
    await stage.remove();
    await expectNothingLeft(stage.cloud, names);
  });
});
