/** Whether an account and region are ready for `cdk`. Pure. */
import { stateOf } from './stack-state.ts';

/** What `cdk bootstrap` calls its stack. */
export const TOOLKIT = 'CDKToolkit';

/** Older ones lack what today's stacks ask for (aws-cdk-lib's own default). */
const VERSION_MIN = 6;

/** Where `cdk bootstrap` writes its version, and `cdk deploy` looks for it. */
export const versionParameter = (qualifier: string): string => `/cdk-bootstrap/${qualifier}/version`;

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
