/** The app with a slow resource in its data stack that fails at last: it waits for a signal that never comes. */
import { CfnResource, Stack } from 'aws-cdk-lib';
import { groupageApp } from '../../lib/app.ts';
import { loadConfig } from '../../src/config/load.ts';

const SECONDS = 15;

const app = groupageApp({
  config: await loadConfig(process.env.GROUPAGE_CONFIG ?? ''),
  // The validation only warns, and takes most of the time.
  builtinCloudFormationValidation: false,
});
for (const stack of app.node.children)
  if (stack instanceof Stack && stack.stackName.endsWith('-Data')) {
    const handle = new CfnResource(stack, 'Handle', { type: 'AWS::CloudFormation::WaitConditionHandle' });
    new CfnResource(stack, 'Slow', {
      type: 'AWS::CloudFormation::WaitCondition',
      properties: { Handle: handle.ref, Timeout: String(SECONDS) },
    });
  }
app.synth();
