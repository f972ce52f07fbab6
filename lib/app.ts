/** The stacks of the CDK app. The `cdk` command uses them, and a local start creates them within its own process. */
import { App, type AppProps, CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import type { Config } from '../src/domain/config/resolved.ts';
import type { PrivateApi } from './api.ts';
import { type ApiText, parseApi } from './api-text.ts';
import { Flow, type FlowProps } from './flow.ts';
import type { HandlerCode } from './handler-code.ts';
import { Ops, type OpsProps } from './ops/ops.ts';
import { namesOf } from './ops/resources.ts';
import { FlowOutputs } from './outputs.ts';
import { PublishedNames } from './published-names.ts';
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
  /**
   * How callers reach the API: `function-url`, `http-api`, or the ids of VPC endpoints, separated by commas.
   * @default - the context `api`, otherwise `function-url`
   */
  readonly api?: string;
  /** See `FlowProps.code`. */
  readonly code?: HandlerCode;
}

/**
 * The stacks name no account and no region, so the same templates can be deployed anywhere. `cdk` takes both from the
 * environment.
 *
 * @throws InvalidOption
 */
export const groupageApp = ({ config, stage: given, api: givenApi, code, ...props }: GroupageAppProps): App => {
  const app = new App(props);
  const stage = checkStage(given ?? String(app.node.tryGetContext('stage') ?? 'dev'));
  const api = parseApi(givenApi ?? String(app.node.tryGetContext('api') ?? 'function-url'));
  const names = stackNames(stage);
  const removalPolicy = keepsData(stage) ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  const tags = { [STAGE_TAG]: stage };
  const { tables } = new DataStack(app, names.data, {
    removalPolicy,
    tags,
    description: 'Groupage: tables',
  });
  const { flow, names: published } = new FlowStack(app, names.flow, {
    config,
    tables,
    api,
    removalPolicy,
    tags,
    description: 'Groupage: queues and functions',
    ...(code ? { code } : {}),
  });
  if (config.alarms)
    new OpsStack(app, names.ops, {
      config,
      flow,
      tables,
      names: published,
      tags,
      description: 'Groupage: dashboard and alarms',
    });
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
  /** The names of the resources that the ops stack watches. */
  readonly names: PublishedNames;

  /** @throws InvalidProps */
  constructor(
    scope: Construct,
    id: string,
    { api, ...props }: StackProps & Omit<FlowProps, 'api'> & { readonly api: ApiText },
  ) {
    super(scope, id, props);
    this.flow = new Flow(this, 'Flow', { ...props, api: typeof api === 'string' ? api : this.#through(api) });
    new FlowOutputs(this, 'Outputs', { flow: this.flow });
    // CloudFormation generates these names. If they were exports, this stack could not replace or remove a resource
    // while the ops stack imports its name. For example, the callback queue is removed if the configuration has no
    // destination any more.
    this.names = new PublishedNames(this, 'Names', namesOf(this.flow, props.tables));
  }

  #through({ vpcEndpointIds }: Exclude<ApiText, string>): PrivateApi {
    const endpointOf = (vpcEndpointId: string) =>
      InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(this, vpcEndpointId, { vpcEndpointId, port: 443 });
    return { vpcEndpoints: vpcEndpointIds.map(endpointOf) };
  }
}

/** The dashboard and the alarms. This stack may be removed and deployed again at any time. */
class OpsStack extends Stack {
  readonly ops: Ops;

  constructor(
    scope: Construct,
    id: string,
    { config, flow, tables, names, ...props }: StackProps & Required<OpsProps>,
  ) {
    super(scope, id, props);
    this.ops = new Ops(this, 'Ops', { config, flow, tables, names });
    new CfnOutput(this, 'DashboardName', {
      value: this.ops.dashboard.dashboard.dashboardName,
      description: 'The dashboard in CloudWatch',
    });
  }
}
