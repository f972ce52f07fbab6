/** The stacks of the CDK app. The `cdk` command uses them, and a local start creates them within its own process. */
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
   * Part of the stacks' names. If the stage's name begins with `prod`, its data is kept when a stack is removed. The
   * data of any other stage is deleted.
   * @default - the context `stage`, otherwise `dev`
   */
  readonly stage?: string;
  /** See `FlowProps.code`. */
  readonly code?: HandlerCode;
}

/**
 * The stacks name no account and no region, so the same templates can be deployed anywhere. `cdk` takes both from the
 * environment.
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

/** The tables, which must outlive a deployment. */
class DataStack extends Stack {
  readonly tables: Tables;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & DataProps) {
    super(scope, id, props);
    this.tables = new Tables(this, 'Tables', props);
  }
}

/** The queues, functions and the API, which a deployment may replace. */
class FlowStack extends Stack {
  readonly flow: Flow;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & FlowProps) {
    super(scope, id, props);
    this.flow = new Flow(this, 'Flow', props);
    new FlowOutputs(this, 'Outputs', { flow: this.flow });
  }
}

/** The dashboard and the alarms. This stack may be removed and deployed again at any time. */
class OpsStack extends Stack {
  readonly ops: Ops;

  constructor(scope: Construct, id: string, { config, flow, tables, ...props }: StackProps & OpsProps) {
    super(scope, id, props);
    // The metrics refer to names that CloudFormation generates. If the flow stack exported these names, it could not
    // change or remove an export while this stack imports it. The flow stack is deployed first, so it could then not
    // replace or remove a queue. For example, the callback queue is removed if the configuration has no destination any
    // more. A weak reference is only resolved when this stack is deployed, so it blocks nothing.
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    this.ops = new Ops(this, 'Ops', { config, flow, tables });
    new CfnOutput(this, 'DashboardName', {
      value: this.ops.dashboard.dashboard.dashboardName,
      description: 'The dashboard in CloudWatch',
    });
  }
}
