/** `npm run deploy` in cases that fail: it prints the reason, and leaves nothing. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { STAGE_TAG, stackNames } from '../../lib/stage.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { deployedStack } from '../backends/backend.ts';
import { type Ran, ROOT, runIn } from '../backends/cdk.ts';
import { environmentOf } from '../backends/cloud.ts';
import { leftOf } from '../backends/left.ts';
import { eventually } from '../end-to-end/flow.ts';
import { suiteInput } from '../end-to-end/operations.ts';

describe('npm run deploy', () => {
  const { cloud } = deployedStack();

  const config = (value: unknown): string => {
    const file = join(temporaryFolder('failing'), 'groupage.config.json');
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const good = () => config(suiteInput('http://127.0.0.1:9100/batch'));
  const deploy = (stage: string, file: string, environment: Record<string, string> = {}): Promise<Ran> =>
    runIn(cloud, 'node', ['bin/deploy.ts', 'deploy', '--stage', stage, '--config', file], {
      GROUPAGE_CONFIG: file,
      ...environment,
    });
  const destroy = (stage: string): Promise<Ran> => runIn(cloud, 'node', ['bin/deploy.ts', 'destroy', '--stage', stage]);
  const left = (stage: string): Promise<string[]> => leftOf(cloud, `Groupage-${stage}-`);

  it('refuses an invalid configuration, and prints the path and the fix', async () => {
    const stage = `wrong${cloud.suffix}`;
    const ship = { target: ['depot'], batch: { maxSize: 0 }, downstream: { kind: 'http', url: 'http://127.0.0.1/' } };
    const { code, output } = await deploy(stage, config({ operations: { ship } }));
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('operations.ship.batch.maxSize must be a whole number'),
    ]);
    expect(await left(stage)).toEqual([]);
  });

  it('changes no stack of the same name that has another owner', async () => {
    const stage = `taken${cloud.suffix}`;
    const StackName = stackNames(stage).flow;
    const client = new CloudFormationClient();
    const Tags = Object.entries(cloud.tags).map(([Key, Value]) => ({ Key, Value }));
    const TemplateBody = JSON.stringify({ Resources: { Topic: { Type: 'AWS::SNS::Topic' } } });
    await client.send(new CreateStackCommand({ StackName, TemplateBody, Tags }));
    await waitUntilStackCreateComplete({ client, maxWaitTime: 120, minDelay: 1 }, { StackName });
    try {
      const { code, output } = await deploy(stage, good());
      expect([code, output]).toEqual([1, expect.stringContaining(`a stack ${StackName} already exists`)]);
      expect(await left(stage)).toEqual([`stack ${StackName}`]);
    } finally {
      await client.send(new DeleteStackCommand({ StackName }));
      await waitUntilStackDeleteComplete({ client, maxWaitTime: 120, minDelay: 1 }, { StackName });
    }
  });

  it('prints what CloudFormation could not create, and removes the rest', async () => {
    const CDK_APP = `node ${join(ROOT, 'test/deployment/broken-app.ts')}`;
    const stages = ['broken', 'broken2'].map((name) => `${name}${cloud.suffix}`);
    for (const { code, output } of await Promise.all(stages.map((stage) => deploy(stage, good(), { CDK_APP }))))
      expect([code, output]).toEqual([1, expect.stringMatching(/The deployment failed:\n.*-Flow: Taken.*bucket/is)]);
    for (const stage of stages) expect(await left(stage)).toEqual([]);
  });

  it('keeps a stack that another deployment of the stage created meanwhile', async () => {
    const stage = `race${cloud.suffix}`;
    const StackName = stackNames(stage).data;
    const folder = temporaryFolder('race');
    const [looked, go] = [join(folder, 'looked'), join(folder, 'go')];
    const app = join(ROOT, 'test/deployment/broken-app.ts');
    const script = join(folder, 'app.sh');
    writeFileSync(script, `touch ${looked}; until [ -e ${go} ]; do sleep 0.1; done; exec node ${app}`);
    const deployed = deploy(stage, good(), { CDK_APP: `sh ${script}` });
    await eventually(() => existsSync(looked));
    const client = new CloudFormationClient();
    const TemplateBody = JSON.stringify({ Resources: { Topic: { Type: 'AWS::SNS::Topic' } } });
    const Tags = [{ Key: STAGE_TAG, Value: stage }];
    await client.send(new CreateStackCommand({ StackName, TemplateBody, Tags }));
    await waitUntilStackCreateComplete({ client, maxWaitTime: 120, minDelay: 1 }, { StackName });
    writeFileSync(go, '');
    const { code, output } = await deployed;
    expect([code, output]).toEqual([1, expect.stringMatching(/-Data \(.*\) was created by another deployment/)]);
    expect(await left(stage)).toContain(`stack ${StackName}`);
    expect(await destroy(stage)).toMatchObject({ code: 0 });
    expect(await left(stage)).toEqual([]);
  });

  it('waits after an interrupt for its stacks, and removes them', async () => {
    const stage = `slow${cloud.suffix}`;
    const app = fileURLToPath(import.meta.resolve('../deploy/slow-app.ts'));
    const output: string[] = [];
    const child = spawn('node', ['bin/deploy.ts', 'deploy', '--stage', stage, '--config', good()], {
      cwd: ROOT,
      env: { ...process.env, ...environmentOf(cloud), CDK_APP: `node ${app}` },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(String(data)));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    await eventually(() => output.join('').includes('CREATE_IN_PROGRESS'));
    child.kill('SIGTERM');
    expect([await ended, output.join('')]).toEqual([
      1,
      expect.stringMatching(
        /CloudFormation is still working on .*-Data.*The deployment was interrupted.*-Data is removed/s,
      ),
    ]);
    expect(await left(stage)).toEqual([]);
  });
});
