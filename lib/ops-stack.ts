/** What people look at, and what calls them: the dashboard and the alarms. It may go, and come back, at any time. */
import { CfnOutput, CrossStackReferences, ReferenceStrength, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Ops, type OpsProps } from './ops/ops.ts';

export class OpsStack extends Stack {
  readonly ops: Ops;

  constructor(scope: Construct, id: string, { config, flow, tables, ...props }: StackProps & OpsProps) {
    super(scope, id, props);
    // Metrics are of names that CloudFormation makes. Exports of them could be neither changed nor removed while this stack
    // uses them: the flow stack, which is deployed first, could replace no queue and lose none (the callback queue goes
    // with the last destination). A weak reference is read when this stack is deployed, and holds nothing up.
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    this.ops = new Ops(this, 'Ops', { config, flow, tables });
    new CfnOutput(this, 'DashboardName', {
      value: this.ops.dashboard.dashboard.dashboardName,
      description: 'The dashboard in CloudWatch',
    });
  }
}
