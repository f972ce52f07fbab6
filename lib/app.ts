/** The CDK app's stacks: synthesised by `cdk`, and in process by the local runtime. */
import {
  App,
  type AppProps,
  CfnOutput,
  CrossStackReferences,
  ReferenceStrength,
  RemovalPolicy,
  Stack,
  type StackProps,
} from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../src/domain/config/resolved.ts';
import { Flow, type FlowProps } from './flow.ts';
import type { HandlerCode } from './handler-code.ts';
import { Ops, type OpsProps } from './ops/ops.ts';
import { FlowOutputs } from './outputs.ts';
import { checkStage, keepsData, STAGE_TAG, stackNames } from './stage.ts';
import type { DataProps } from './surroundings.ts';
import { Tables } from './tables.ts';

export interface GroupageAppProps extends AppProps {
  readonly config: Config;
  /**
   * Becomes part of the stacks' names. `prod`, and what begins so, keeps its data when a stack is removed, any other stage throws it away.
   * @default - the context `stage`, otherwise `dev`
   */
  readonly stage?: string;
  /** See `FlowProps.code`. */
  readonly code?: HandlerCode;
}

/**
 * The stacks name no account and no region: the same templates go into any, and `cdk` takes both from the environment.
 *
 * @throws InvalidStage
 */
export const groupageApp = ({ config, stage: given, code, ...props }: GroupageAppProps): App => {
  const app = new App(props);
  const stage = checkStage(given ?? String(app.node.tryGetContext('stage') ?? 'dev'));
  const names = stackNames(stage);
  const removalPolicy = keepsData(stage) ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  const tags = { [STAGE_TAG]: stage };
  const { tables } = new DataStack(app, names.data, {
    removalPolicy,
    tags,
    description: 'Groupage: tables',
  });
  const { flow } = new FlowStack(app, names.flow, {
    config,
    tables,
    removalPolicy,
    tags,
    description: 'Groupage: queues and functions',
    ...(code ? { code } : {}),
  });
  if (config.alarms)
    new OpsStack(app, names.ops, { config, flow, tables, tags, description: 'Groupage: dashboard and alarms' });
  return app;
};

/** What must outlive a deployment: the tables. */
class DataStack extends Stack {
  readonly tables: Tables;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & DataProps) {
    super(scope, id, props);
    this.tables = new Tables(this, 'Tables', props);
  }
}

/** What may be replaced by a deployment: queues, λs, the API. */
class FlowStack extends Stack {
  readonly flow: Flow;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & FlowProps) {
    super(scope, id, props);
    this.flow = new Flow(this, 'Flow', props);
    new FlowOutputs(this, 'Outputs', { flow: this.flow });
  }
}

/** What people look at, and what calls them: the dashboard and the alarms. It may go, and come back, at any time. */
class OpsStack extends Stack {
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
