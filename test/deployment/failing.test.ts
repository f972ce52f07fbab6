/** `npm run deploy` where it cannot succeed: it says why, and leaves nothing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CloudFormationClient,
  CreateStackCommand,
  DeleteStackCommand,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import { describe, expect, it } from 'vitest';
import { stackNames } from '../../lib/stage.ts';
import { temporaryFolder } from '../../src/temporary-folder.ts';
import { deployedStack } from '../backends/backend.ts';
import { type Ran, ROOT, runIn } from '../backends/cdk.ts';
import { leftOf } from '../backends/left.ts';
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
  const left = (stage: string): Promise<string[]> => leftOf(cloud, `Groupage-${stage}-`);

  it('refuses a configuration that is wrong, with the path and the fix', async () => {
    const stage = `wrong${cloud.suffix}`;
    const ship = { target: ['depot'], batch: { maxSize: 0 }, downstream: { kind: 'http', url: 'http://127.0.0.1/' } };
    const { code, output } = await deploy(stage, config({ operations: { ship } }));
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('operations.ship.batch.maxSize must be a whole number'),
    ]);
    expect(await left(stage)).toEqual([]);
  });

  it('touches no stack of the same name that is somebody else’s', async () => {
    const stage = `taken${cloud.suffix}`;
    const StackName = stackNames(stage).flow;
    const client = new CloudFormationClient();
    const Tags = Object.entries(cloud.tags).map(([Key, Value]) => ({ Key, Value }));
    const TemplateBody = JSON.stringify({ Resources: { Topic: { Type: 'AWS::SNS::Topic' } } });
    await client.send(new CreateStackCommand({ StackName, TemplateBody, Tags }));
    await waitUntilStackCreateComplete({ client, maxWaitTime: 120, minDelay: 1 }, { StackName });
    try {
      const { code, output } = await deploy(stage, good());
      expect([code, output]).toEqual([1, expect.stringContaining(`there is a stack ${StackName} already`)]);
      expect(await left(stage)).toEqual([`stack ${StackName}`]);
    } finally {
      await client.send(new DeleteStackCommand({ StackName }));
      await waitUntilStackDeleteComplete({ client, maxWaitTime: 120, minDelay: 1 }, { StackName });
    }
  }, 180_000);

  it('says what CloudFormation could not make, and takes away what it made before', async () => {
    const stage = `broken${cloud.suffix}`;
    const CDK_APP = `node ${join(ROOT, 'test/deployment/broken-app.ts')}`;
    const { code, output } = await deploy(stage, good(), { CDK_APP });
    expect([code, output]).toEqual([1, expect.stringMatching(/The deployment failed:\n.*-Flow: Taken.*bucket/is)]);
    expect(await left(stage)).toEqual([]);
  }, 240_000);
});
