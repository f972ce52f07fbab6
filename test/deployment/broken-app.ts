/**
 * The app with a resource in its flow stack that CloudFormation cannot create: its bucket has the name of CDK's own.
 */
import { Aws, CfnResource, Stack } from 'aws-cdk-lib';
import { groupageApp } from '../../lib/app.ts';
import { loadConfig } from '../../src/config/load.ts';

const app = groupageApp({
  config: await loadConfig(process.env.GROUPAGE_CONFIG ?? ''),
  // The validation only warns, and takes most of the time.
  builtinCloudFormationValidation: false,
});
for (const stack of app.node.children)
  if (stack instanceof Stack && stack.stackName.endsWith('-Flow'))
    new CfnResource(stack, 'Taken', {
      type: 'AWS::S3::Bucket',
      properties: { BucketName: `cdk-hnb659fds-assets-${Aws.ACCOUNT_ID}-${Aws.REGION}` },
    });
app.synth();
