/** `npm run deploy` and `npm run destroy`: their options, what they do, and how they end. */

import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { checkStage, InvalidStage, keepsData, stackNames } from '../../lib/stage.ts';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig, loadConfig } from '../../src/config/load.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { openAccount } from '../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { printable } from '../terminal.ts';
import { makeReady } from './bootstrap.ts';
import { cdk, untilInterrupted } from './cdk.ts';
import { cleanUp } from './clean-up.ts';
import { planDeploy, planDestroy } from './plan.ts';
import { removeStacks } from './remove.ts';
import { changeSetOf, stacksOf, whoAmI } from './stacks.ts';
import { nextSteps, staysOf, warningsOf } from './words.ts';

const USAGE = {
  deploy: `npm run deploy [-- OPTION…]: Groupage into the AWS account of your credentials, or an update of it

  --stage NAME    which one (default: dev); prod, and what begins so (prod-eu), keeps its data when it is removed
  --config FILE   the configuration (default: GROUPAGE_CONFIG, groupage.config.ts or .json in this folder, otherwise
                  examples/flights)
`,
  destroy: `npm run destroy -- --stage NAME [--yes]: removes a stage from the AWS account of your credentials

  --stage NAME    which one
  --yes           of prod too (or prod-…), whose data stays; and what nothing says whose it is
`,
} as const;

type Verb = keyof typeof USAGE;

/** @param args the verb, then its options. @returns the exit status: 0, 1 when it failed, 2 when it was used wrongly. */
export const run = async ([verb = '', ...args]: readonly string[], folder = process.cwd()): Promise<number> => {
  if (verb !== 'deploy' && verb !== 'destroy') return say(`${USAGE.deploy}\n${USAGE.destroy}`, 2);
  try {
    const options = optionsOf(verb, args);
    if (options === 'help') return say(USAGE[verb], 0);
    const { stage, config, yes } = options;
    await (verb === 'deploy' ? deploy(stage, findConfig(folder, config) ?? EXAMPLE_CONFIG) : destroy(stage, yes));
    return 0;
  } catch (cause) {
    if (!(cause instanceof CommandFailure || cause instanceof InvalidConfig || cause instanceof InvalidStage))
      throw cause;
    const lines = cause.message.split('\n').map(printable).join('\n');
    return say(lines, cause instanceof WrongUsage || cause instanceof InvalidStage ? 2 : 1);
  }
};

const say = (text: string, status: number): number => {
  (status === 0 ? console.log : console.error)(text);
  return status;
};

interface Options {
  readonly stage: string;
  readonly config: string | undefined;
  readonly yes: boolean;
}

const optionsOf = (verb: Verb, args: readonly string[]): Options | 'help' => {
  const { stage, config, yes = false, help } = parsed(verb, args);
  if (help) return 'help';
  if (verb === 'destroy' && stage === undefined) throw new WrongUsage(`--stage is missing\n\n${USAGE.destroy}`);
  return { stage: stage ?? 'dev', config, yes };
};

const parsed = (verb: Verb, args: readonly string[]) => {
  const own = verb === 'deploy' ? { config: { type: 'string' } as const } : { yes: { type: 'boolean' } as const };
  try {
    const options = { stage: { type: 'string' }, help: { type: 'boolean' }, ...own } as const;
    return parseArgs({ args: [...args], options }).values as {
      readonly stage?: string;
      readonly config?: string;
      readonly yes?: boolean;
      readonly help?: boolean;
    };
  } catch (cause) {
    throw new WrongUsage(`${reasonOf(cause)}\n\n${USAGE[verb]}`, { cause });
  }
};

/**
 * Looks first, then makes; what fails leaves nothing half-made.
 *
 * @param file the configuration's, absolute.
 * @throws CommandFailure, InvalidConfig, InvalidStage: in words, and before anything was made if it can be known then.
 */
const deploy = async (stage: string, file: string): Promise<void> => {
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

/**
 * Removes a stage. The stage that keeps its data keeps its data stack.
 *
 * @param yes whether what is lost with a stage that keeps its data may be lost, and what may be somebody else's removed.
 * @throws CommandFailure, InvalidStage
 */
const destroy = async (stage: string, yes: boolean): Promise<void> => {
  checkStage(stage);
  if (keepsData(stage) && !yes)
    throw new WrongUsage(
      `this takes the functions and the API of ${stage} away, and what waits in its inner queues (tables, and queues with tasks or refused messages, stay): add --yes if you mean it`,
    );
  const account = await openAccount(process.env);
  const number = await whoAmI(account);
  const where = `account ${number}, region ${account.region}`;
  const plan = planDestroy(stage, await stacksOf(account, stage), yes);
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const { keep, orphans } = plan;
  // Each uses those before it: the flow stack what the data stack exports, the ops stack both.
  const remove = plan.remove.toReversed();
  if (remove.length === 0 && keep === undefined)
    throw new CommandFailure(`there is nothing of the stage ${stage} in ${where}: is it another region or account?`);
  console.log(`Removing ${remove.join(', ') || 'nothing more'} from ${where}`);
  const tables = orphans ? { tablesOf: stackNames(stage).data } : {};
  const { says, problems } = await untilInterrupted((signal) =>
    removeStacks(account, { stage, remove, ...tables }, signal),
  );
  for (const line of says) console.log(line);
  if (keep !== undefined) console.log(staysOf(stage, keep));
  if (problems.length > 0) throw new CommandFailure(problems.join('\n'));
};
