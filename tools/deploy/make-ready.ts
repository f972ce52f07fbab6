/** Bootstraps an account and region in which nobody did. */
import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { inWords } from '../account/failures.ts';
import { type Account, findStack } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { bootstrapLeaves, planBootstrap, TOOLKIT } from './bootstrap.ts';
import { causesIn } from './causes-in.ts';
import { type CdkSettings, cdk } from './cdk.ts';
import { bootstrapOf } from './look.ts';
import { stateOf } from './stack-state.ts';
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
