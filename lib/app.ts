/** The CDK app's stacks: synthesised by `cdk`, and in process by the local runtime. */
import { App, type AppProps, RemovalPolicy } from 'aws-cdk-lib';
import type { Config } from '../src/domain/config/resolved.ts';
import { DataStack } from './data-stack.ts';
import { FlowStack } from './flow-stack.ts';
import type { HandlerCode } from './handler-code.ts';
import { OpsStack } from './ops-stack.ts';
import { checkStage, keepsData, STAGE_TAG, stackNames } from './stage.ts';

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
