/** Bootstraps an account and region in which nobody did. */
import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation';
import { inWords } from '../account/failures.ts';
import { type Account, findStack } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { planBootstrap, TOOLKIT } from './bootstrap.ts';
import { causesIn } from './causes-in.ts';
import { type CdkSettings, cdk } from './cdk.ts';
import { bootstrapOf } from './look.ts';
import { stateOf } from './stack-state.ts';

/** Only once it is clear that there will be something to deploy. @throws CommandFailure */
export const makeReady = async (account: Account, number: string, settings: CdkSettings): Promise<void> => {
  const found = await bootstrapOf(account, number);
  const plan = planBootstrap(found);
  if (plan.do === 'nothing') return;
  if (plan.do === 'stop') throw new CommandFailure(plan.problem);
  if (!(await cdk(settings, 'synth', '-q')))
    throw new CommandFailure('the stacks cannot be synthesised, see above; nothing was made');
  console.log(`${found.environment} is not bootstrapped for CDK: doing that first (the stack ${TOOLKIT}, once)`);
  const from = Date.now();
  if (await cdk(settings, 'bootstrap', found.environment, '--qualifier', found.qualifier)) return;
  const causes = await whatIsLeft(account, from);
  throw new CommandFailure(
    [
      `\n${found.environment} could not be bootstrapped${causes.length > 0 ? ':' : ', see above.'}`,
      ...causes.map((cause) => `  ${cause}`),
      'It takes the right to make IAM roles and a bucket, and that none of their names is taken: the bucket of an earlier bootstrap outlives its stack, for one. Nothing was made.',
    ].join('\n'),
  );
};

/** Why it failed; the stack of it that holds nothing is removed. */
const whatIsLeft = async (account: Account, from: number): Promise<string[]> => {
  const { region, cloudFormation } = account;
  const toolkit = await findStack(account, TOOLKIT);
  if (toolkit === undefined) return [];
  const causes = await causesIn(account, toolkit.id, from);
  if (['broken', 'review'].includes(stateOf(toolkit.status)))
    await inWords(`remove the stack ${TOOLKIT}`, region, async () => {
      await cloudFormation.send(new DeleteStackCommand({ StackName: toolkit.id }));
      await waitUntilStackDeleteComplete({ client: cloudFormation, maxWaitTime: 600 }, { StackName: toolkit.id });
    });
  return causes;
};
