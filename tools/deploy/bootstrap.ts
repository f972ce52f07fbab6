/** Checks whether an account and region are bootstrapped for CDK, and bootstraps them if not. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { inWords } from '../account/failures.ts';
import { type Account, findStack } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { causesIn } from './causes.ts';
import { type CdkSettings, cdk } from './cdk.ts';
import { stateOf } from './stacks.ts';
import { headingOf } from './words.ts';

/** Bootstraps if needed, but only after the stacks have been synthesized successfully. @throws CommandFailure */
export const makeReady = async (account: Account, number: string, settings: CdkSettings): Promise<void> => {
  const found = await bootstrapOf(account, number);
  const plan = planBootstrap(found);
  if (plan.do === 'nothing') return;
  if (plan.do === 'stop') throw new CommandFailure(plan.problem);
  const synth = await cdk(settings, 'synth', '-q');
  if (!synth.succeeded)
    throw new CommandFailure(
      `the stacks ${synth.interrupted ? 'were not synthesized, because the command was interrupted' : 'cannot be synthesized, see above'}. Nothing was created`,
    );
  console.log(
    `${found.environment} is not bootstrapped for CDK yet. The bootstrap runs first: it creates the stack ${TOOLKIT}, once per account and region`,
  );
  const from = Date.now();
  const { succeeded, interrupted } = await cdk(
    settings,
    'bootstrap',
    found.environment,
    '--qualifier',
    found.qualifier,
  );
  if (succeeded) return;
  const { causes, status } = await whatIsLeft(account, from);
  const what = interrupted ? 'The bootstrap was interrupted' : `${found.environment} could not be bootstrapped`;
  throw new CommandFailure(
    [
      headingOf(what, { causes, interrupted }),
      ...causes.map((cause) => `  ${cause}`),
      ...(interrupted
        ? []
        : [
            'A bootstrap needs the permission to create IAM roles and a bucket, and the names of these roles and of the bucket must not be in use. If the stack of an earlier bootstrap was deleted, its bucket still exists.',
          ]),
      bootstrapLeaves(status),
    ].join('\n'),
  );
};

/** Why the bootstrap failed, and the state of its stack. A stack without resources is removed. */
const whatIsLeft = async (
  account: Account,
  from: number,
): Promise<{ readonly causes: readonly string[]; readonly status?: string }> => {
  const { region, cloudFormation } = account;
  const toolkit = await findStack(account, TOOLKIT);
  if (toolkit === undefined) return { causes: [] };
  const causes = await causesIn(account, toolkit.id, from);
  // A stack that waits for its change set may belong to another bootstrap that is still running.
  if (stateOf(toolkit.status) !== 'broken') return { causes, status: toolkit.status };
  await inWords(`remove the stack ${TOOLKIT}`, region, async () => {
    await cloudFormation.send(new DeleteStackCommand({ StackName: toolkit.id }));
    await waitUntilStackDeleteComplete({ client: cloudFormation, maxWaitTime: 600 }, { StackName: toolkit.id });
  });
  return { causes };
};

const bootstrapOf = async (account: Account, number: string): Promise<BootstrapFound> => {
  const { region } = account;
  const qualifier = bootstrapQualifier();
  const version = await inWords('check whether the account is bootstrapped', region, () => read(region, qualifier));
  // Read the stack only if there is no version: a bootstrap stack may have another name.
  const toolkit = version === undefined ? (await findStack(account, TOOLKIT))?.status : undefined;
  return {
    environment: `aws://${number}/${region}`,
    qualifier,
    ...(version === undefined ? {} : { version }),
    ...(toolkit === undefined ? {} : { toolkit }),
  };
};

const read = async (region: string, qualifier: string): Promise<string | undefined> => {
  try {
    const { Parameter } = await new SSMClient({ region }).send(
      new GetParameterCommand({ Name: versionParameter(qualifier) }),
    );
    return Parameter?.Value;
  } catch (cause) {
    if (cause instanceof ParameterNotFound) return undefined;
    throw cause;
  }
};

/** The bootstrap qualifier from cdk.json, or the default of `cdk`. */
const bootstrapQualifier = (): string => {
  const { context = {} } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  return String(context['@aws-cdk/core:bootstrapQualifier'] ?? 'hnb659fds');
};

/** Name of the stack that `cdk bootstrap` creates. */
const TOOLKIT = 'CDKToolkit';

/** The version that stacks synthesized by aws-cdk-lib need by default. */
const VERSION_MIN = 6;

/** The SSM parameter in which `cdk bootstrap` stores its version, and which `cdk deploy` reads. */
const versionParameter = (qualifier: string): string => `/cdk-bootstrap/${qualifier}/version`;

const removal = `\`aws cloudformation delete-stack --stack-name ${TOOLKIT}\``;

export interface BootstrapFound {
  /** `aws://ACCOUNT/REGION` */
  readonly environment: string;
  readonly qualifier: string;
  /** Value of the SSM parameter. */
  readonly version?: string;
  /** Status of the bootstrap stack. */
  readonly toolkit?: string;
}

export type BootstrapPlan =
  | { readonly do: 'nothing' }
  | { readonly do: 'bootstrap' }
  | { readonly do: 'stop'; readonly problem: string };

/** Bootstraps only if nothing exists: an existing bootstrap is shared by all CDK apps of the account, and may be customized. */
export const planBootstrap = ({ environment, qualifier, version, toolkit }: BootstrapFound): BootstrapPlan => {
  if (version !== undefined)
    return Number(version) >= VERSION_MIN
      ? { do: 'nothing' }
      : {
          do: 'stop',
          problem: `${environment} was bootstrapped for an older CDK (version ${version}; version ${VERSION_MIN} is needed). Other CDK apps may use it, so nothing was changed. Update it with \`npx cdk bootstrap ${environment}\``,
        };
  // A stack whose creation failed has no resources, and `cdk bootstrap` removes it first.
  if (toolkit === undefined || toolkit === 'ROLLBACK_COMPLETE') return { do: 'bootstrap' };
  return { do: 'stop', problem: toolkitProblem(environment, qualifier, toolkit) };
};

/** Describes what remains after a failed bootstrap. @param status status of the bootstrap stack, if it exists. */
export const bootstrapLeaves = (status: string | undefined): string => {
  if (status === undefined) return 'Nothing was created.';
  const none = 'No stack of the stage was created.';
  if (stateOf(status) === 'busy')
    return `This command has stopped, but CloudFormation is still working on the stack ${TOOLKIT} (${status}). Wait for CloudFormation to finish, then run the command again. ${none}`;
  if (stateOf(status) === 'review')
    return `The stack ${TOOLKIT} has no resources yet (${status}). If no other bootstrap is running, remove the stack with ${removal}, then run the command again. ${none}`;
  return `The stack ${TOOLKIT} (${status}) was not removed, because all CDK apps of the account share it. The next deployment uses this stack. ${none}`;
};

const toolkitProblem = (environment: string, qualifier: string, toolkit: string): string => {
  if (stateOf(toolkit) === 'busy')
    return `${environment} is being bootstrapped (the stack ${TOOLKIT} is ${toolkit}). Wait for the bootstrap to finish, then run the command again`;
  if (stateOf(toolkit) === 'whole')
    return `${environment} has a stack ${TOOLKIT}, but no parameter ${versionParameter(qualifier)}: the bootstrap used another qualifier. Set that qualifier in cdk.json, as "@aws-cdk/core:bootstrapQualifier" in "context"`;
  return `the bootstrap of ${environment} is incomplete (the stack ${TOOLKIT} is ${toolkit}). Remove this stack with ${removal}, then run the command again`;
};
