/** A stage of its own in the run's cloud, for tests that deploy, update and remove. */
import { stackNames } from '../../lib/stage.ts';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { type Backend, deployedStack } from './backend.ts';
import { type Cdk, cdkFor, deployAll, destroyAll, type Ran } from './cdk.ts';
import type { Cloud } from './cloud.ts';
import { openDeployed } from './deployed.ts';
import { fitToEmulator } from './emulator-fit.ts';

export interface Stage {
  readonly cloud: Cloud;
  readonly name: string;
  readonly stacks: ReturnType<typeof stackNames>;
  /** The URL at which the functions reach the test's downstream. */
  readonly downstreamUrl: string;
  /** Deploys or updates all stacks. @param api the context `api` of the app. @throws Error with the CDK's output */
  deploy(input: ConfigInput, api?: string): Promise<void>;
  /** Runs `cdk` with the configuration that was deployed last. */
  cdk(command: 'diff' | 'deploy' | 'destroy', ...args: string[]): Promise<Ran>;
  /** Opens the deployed stack as a backend. */
  open(): Promise<Backend>;
  /** Removes the deployed stacks. Can be repeated. */
  remove(): Promise<void>;
}

export const openStage = (name: string): Stage => {
  const { cloud, downstreamUrl } = deployedStack();
  const stage = `${name}${cloud.suffix}`;
  const stacks = stackNames(stage);
  let cdk: Cdk | undefined;
  const deployed = () => {
    if (!cdk) throw new Error(`${stage} was not deployed yet`);
    return cdk;
  };
  return {
    cloud,
    name: stage,
    stacks,
    downstreamUrl,
    deploy: async (input, api) => {
      cdk = cdkFor(cloud, stage, input, api);
      await deployAll(cdk);
      await fitToCloud(cloud);
    },
    cdk: (command, ...args) => deployed()(command, ...args),
    open: () => openDeployed({ cloud, stackName: stacks.flow }),
    remove: async () => {
      if (cdk) await destroyAll(cdk);
      cdk = undefined;
    },
  };
};

const fitToCloud = async (cloud: Cloud): Promise<void> => {
  if (cloud.name === 'ministack') await fitToEmulator(cloud);
};
