/**
 * The app with a register queue that has a name of its own, so that CloudFormation replaces the deployed queue. Nothing
 * else differs from the templates of `bin/app.ts`, whose plugin is named in their metadata.
 */
import { Aws, Stack, Validations } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { groupageApp } from '../../lib/app.ts';
import { loadConfig } from '../../src/config/load.ts';

const app = groupageApp({ config: await loadConfig(process.env.GROUPAGE_CONFIG ?? '') });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
for (const each of app.node.findAll())
  if (each instanceof CfnQueue && Stack.of(each).getLogicalId(each).startsWith('FlowRegisterQueue'))
    each.queueName = `${Aws.STACK_NAME}-FlowRegisterQueue-replaced`;
app.synth();
