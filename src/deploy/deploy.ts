/** `npm run deploy`: looks first, then makes; what fails leaves nothing half-made. */
import { checkStage, stackNames } from '../../lib/stage.ts';
import { type Account, type FoundStack, openAccount } from '../account/stacks.ts';
import { loadConfig } from '../config/load.ts';
import { CommandFailure } from '../failure.ts';
import { afterFailure } from './after-failure.ts';
import { causesIn } from './causes-in.ts';
import { cdk } from './cdk.ts';
import { stacksOf, whoAmI } from './look.ts';
import { makeReady } from './make-ready.ts';
import { planDeploy } from './plan.ts';
import { removeStacks } from './remove.ts';
import { nextSteps, warningsOf } from './words.ts';

export interface DeployOptions {
  readonly stage: string;
  /** The configuration's file, absolute. */
  readonly config: string;
}

/** @throws CommandFailure, InvalidConfig, InvalidStage: in words, and before anything was made if it can be known then. */
export const deploy = async ({ stage, config: file }: DeployOptions): Promise<void> => {
  checkStage(stage);
  const config = await loadConfig(file);
  const account = await openAccount(process.env);
  const number = await whoAmI(account);
  console.log(`Deploying the stage ${stage} into account ${number}, region ${account.region}, with ${file}`);
  for (const warning of warningsOf(stage, config)) console.log(`Note: ${warning}`);
  const names = Object.values(stackNames(stage));
  const plan = planDeploy(stage, names, await stacksOf(account, stage));
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const settings = { stage, config: file, region: account.region };
  await makeReady(account, number, settings);
  const from = Date.now();
  if (await cdk(settings, 'deploy', '--all', '--require-approval', 'never')) {
    console.log(nextSteps(stage, await stacksOf(account, stage)));
    return;
  }
  throw new CommandFailure(await cleanUp(account, stage, plan.creates, from));
};

/** @returns what went wrong, what was removed, and what stands. */
const cleanUp = async (account: Account, stage: string, creates: readonly string[], from: number): Promise<string> => {
  const stacks = await stacksOf(account, stage);
  const causes = await causesOfAll(account, stacks, from);
  const states = new Map(stacks.map(({ name, status }) => [name, status]));
  const { remove, orphans, says } = afterFailure(stage, creates, states);
  const { data } = stackNames(stage);
  const removed = await removeStacks(account, { stage, remove, ...(orphans ? { tablesOf: data } : {}) });
  return [
    `\nThe deployment failed${causes.length > 0 ? ':' : ', see above.'}`,
    ...causes,
    ...removed.says,
    ...says,
    ...removed.problems,
    ...(stacks.length === 0 ? ['Nothing was made.'] : []),
  ].join('\n');
};

const causesOfAll = async (account: Account, stacks: readonly FoundStack[], from: number): Promise<string[]> => {
  const causes = await Promise.all(stacks.map(({ id }) => causesIn(account, id, from)));
  return causes.flatMap((some, index) => some.map((cause) => `  ${stacks[index]?.name}: ${cause}`));
};
