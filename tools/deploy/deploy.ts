/** `npm run deploy`: looks first, then makes; what fails leaves nothing half-made. */
import { randomUUID } from 'node:crypto';
import { checkStage, stackNames } from '../../lib/stage.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openAccount } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { cdk } from './cdk.ts';
import { changeSetOf } from './change-set.ts';
import { cleanUp } from './clean-up.ts';
import { stacksOf, whoAmI } from './look.ts';
import { makeReady } from './make-ready.ts';
import { planDeploy } from './plan.ts';
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
  const { ops, ...others } = stackNames(stage);
  const names = [...Object.values(others), ...(config.alarms ? [ops] : [])];
  const plan = planDeploy(stage, names, await stacksOf(account, stage));
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const settings = { stage, config: file, region: account.region };
  await makeReady(account, number, settings);
  const from = Date.now();
  const changeSet = changeSetOf(randomUUID());
  const args = ['deploy', '--all', '--require-approval', 'never', '--change-set-name', changeSet];
  const { succeeded, interrupted } = await cdk(settings, ...args);
  if (!succeeded)
    throw new CommandFailure(await cleanUp(account, { stage, creates: plan.creates, changeSet, interrupted, from }));
  console.log(nextSteps(stage, await stacksOf(account, stage)));
};
