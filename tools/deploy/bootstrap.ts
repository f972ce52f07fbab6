/** Whether an account and region are ready for `cdk`, and makes them so where nobody did. */

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

/** Only once it is clear that there will be something to deploy. @throws CommandFailure */
export const makeReady = async (account: Account, number: string, settings: CdkSettings): Promise<void> => {
  const found = await bootstrapOf(account, number);
  const plan = planBootstrap(found);
  if (plan.do === 'nothing') return;
  if (plan.do === 'stop') throw new CommandFailure(plan.problem);
  const synth = await cdk(settings, 'synth', '-q');
  if (!synth.succeeded)
    throw new CommandFailure(
      `the stacks ${synth.interrupted ? 'were not synthesised: it was interrupted' : 'cannot be synthesised, see above'}; nothing was made`,
    );
  console.log(`${found.environment} is not bootstrapped for CDK: doing that first (the stack ${TOOLKIT}, once)`);
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
            'It takes the right to make IAM roles and a bucket, and that none of their names is taken: the bucket of an earlier bootstrap outlives its stack, for one.',
          ]),
      bootstrapLeaves(status),
    ].join('\n'),
  );
};

/** Why it failed, and the state of what stands; a stack of it that holds nothing is removed. */
const whatIsLeft = async (
  account: Account,
  from: number,
): Promise<{ readonly causes: readonly string[]; readonly status?: string }> => {
  const { region, cloudFormation } = account;
  const toolkit = await findStack(account, TOOLKIT);
  if (toolkit === undefined) return { causes: [] };
  const causes = await causesIn(account, toolkit.id, from);
  // One that waits for its change set may be another bootstrap's, that goes on in a moment.
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
  const version = await inWords('read whether the account is bootstrapped', region, () => read(region, qualifier));
  // Only without a version does the stack matter: it may have any name.
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

/** What cdk.json says, otherwise what `cdk` takes. */
const bootstrapQualifier = (): string => {
  const { context = {} } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  return String(context['@aws-cdk/core:bootstrapQualifier'] ?? 'hnb659fds');
};

/** What `cdk bootstrap` calls its stack. */
const TOOLKIT = 'CDKToolkit';

/** Older ones lack what today's stacks ask for (aws-cdk-lib's own default). */
const VERSION_MIN = 6;

/** Where `cdk bootstrap` writes its version, and `cdk deploy` looks for it. */
const versionParameter = (qualifier: string): string => `/cdk-bootstrap/${qualifier}/version`;

const removal = `\`aws cloudformation delete-stack --stack-name ${TOOLKIT}\``;

export interface BootstrapFound {
  /** `aws://ACCOUNT/REGION` */
  readonly environment: string;
  readonly qualifier: string;
  /** What the parameter says. */
  readonly version?: string;
  /** The state of the toolkit's stack. */
  readonly toolkit?: string;
}

export type BootstrapPlan =
  | { readonly do: 'nothing' }
  | { readonly do: 'bootstrap' }
  | { readonly do: 'stop'; readonly problem: string };

/** Bootstraps where nothing is: what is there belongs to every CDK app of the account, and may be customised. */
export const planBootstrap = ({ environment, qualifier, version, toolkit }: BootstrapFound): BootstrapPlan => {
  if (version !== undefined)
    return Number(version) >= VERSION_MIN
      ? { do: 'nothing' }
      : {
          do: 'stop',
          problem: `${environment} was bootstrapped for an older CDK (version ${version}, needed is ${VERSION_MIN}). Other CDK apps may share that, so nothing was changed: \`npx cdk bootstrap ${environment}\` brings it up to date`,
        };
  // A stack that failed to be created holds nothing; `cdk bootstrap` begins by removing it.
  if (toolkit === undefined || toolkit === 'ROLLBACK_COMPLETE') return { do: 'bootstrap' };
  return { do: 'stop', problem: toolkitProblem(environment, qualifier, toolkit) };
};

/** What a bootstrap that did not succeed leaves. @param status of the toolkit's stack, where there is one. */
export const bootstrapLeaves = (status: string | undefined): string => {
  if (status === undefined) return 'Nothing was made.';
  const none = 'Nothing was made of the stage.';
  if (stateOf(status) === 'busy')
    return `CloudFormation goes on with the stack ${TOOLKIT} (${status}), also without this command: wait until that is done, and run the command again. ${none}`;
  if (stateOf(status) === 'review')
    return `The stack ${TOOLKIT} holds nothing yet (${status}): if nobody else is bootstrapping, remove it with ${removal}. ${none}`;
  return `The stack ${TOOLKIT} stands (${status}): it is the account's, and the next deployment goes on from there. ${none}`;
};

const toolkitProblem = (environment: string, qualifier: string, toolkit: string): string => {
  if (stateOf(toolkit) === 'busy')
    return `${environment} is being bootstrapped (${TOOLKIT} is ${toolkit}): wait until that is done, and run the command again`;
  if (stateOf(toolkit) === 'whole')
    return `${environment} has a stack ${TOOLKIT}, but no parameter ${versionParameter(qualifier)}: it was bootstrapped with a qualifier of its own. Name it in cdk.json, as "@aws-cdk/core:bootstrapQualifier" in "context"`;
  return `${environment} was not bootstrapped entirely (${TOOLKIT} is ${toolkit}): remove that with ${removal}, and run the command again`;
};
