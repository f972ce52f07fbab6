/**
 * The app with three more roles that principals of its account may assume: one that may read through the API, one that
 * may operate, one that may do everything. Their names are outputs.
 */
import { Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import { AccountPrincipal, type IGrantable, Role } from 'aws-cdk-lib/aws-iam';
import { groupageApp } from '../../lib/app.ts';
import { Flow } from '../../lib/flow.ts';
import { loadConfig } from '../../src/config/load.ts';

const app = groupageApp({ config: await loadConfig(process.env.GROUPAGE_CONFIG ?? '') });
const flow = app.node.findAll().find((each) => each instanceof Flow);
if (!flow) throw new Error('the app has no flow');
const stack = Stack.of(flow);
const { apiCallers } = flow;
const GRANTS = {
  Reader: (role: IGrantable) => apiCallers.grant(role, 'read'),
  OnCall: (role: IGrantable) => apiCallers.grant(role, 'operate'),
  Service: (role: IGrantable) => apiCallers.grantAll(role),
};
for (const [name, grant] of Object.entries(GRANTS)) {
  const role = new Role(stack, name, { assumedBy: new AccountPrincipal(Aws.ACCOUNT_ID), path: '/people/' });
  grant(role);
  new CfnOutput(stack, `${name}Role`, { value: role.roleArn });
}
app.synth();
