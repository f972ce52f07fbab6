/** `npm run deploy` and `npm run destroy`: their options, their steps, and their exit status. */

import { randomUUID } from 'node:crypto';
import { parseApi } from '../../lib/api-text.ts';
import { InvalidOption } from '../../lib/invalid-option.ts';
import { checkStage, keepsData, stackNames } from '../../lib/stage.ts';
import { EXAMPLE_CONFIG, findConfig, InvalidConfig, loadConfig } from '../../src/config/load.ts';
import { unstartable } from '../../src/domain/config/endpoints.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { openAccount } from '../account/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { parseOptions } from '../options.ts';
import { printable } from '../terminal.ts';
import { makeReady } from './bootstrap.ts';
import { cdk, cdkJsonHas, untilInterrupted } from './cdk.ts';
import { cleanUp } from './clean-up.ts';
import { planDeploy, planDestroy } from './plan.ts';
import { quotaNote } from './quota.ts';
import { removeStacks } from './remove.ts';
import { changeSetOf, stacksOf, whoAmI } from './stacks.ts';
import { nextSteps, staysOf, warningsOf } from './words.ts';

const USAGE = {
  deploy: `npm run deploy [-- OPTION…]: deploy or update Groupage in the AWS account of your credentials

  --stage NAME    stage to deploy (default: dev). Stages whose names begin with prod (prod, prod-eu) keep their data
                  when they are removed
  --config FILE   configuration file (default: $GROUPAGE_CONFIG, groupage.config.ts or .json in this folder, or else
                  the example, examples/flights)
  --api API       how callers reach the HTTP API: function-url (default), http-api, or the ids of VPC endpoints for a
                  private API (default: the context "api" in cdk.json). Give it again with each update

The region is that of AWS_REGION, AWS_DEFAULT_REGION or the AWS profile.
`,
  destroy: `npm run destroy -- --stage NAME [--yes]: remove a stage from the AWS account of your credentials

  --stage NAME    stage to remove
  --yes           also remove a stage whose name begins with prod (its data stays), and stacks of unknown owner
`,
} as const;

type Verb = keyof typeof USAGE;

/** @param args the verb and its options. @returns the exit status: 0, 1 if the command failed, 2 if it was used wrongly. */
export const run = async ([verb = '', ...args]: readonly string[], folder = process.cwd()): Promise<number> => {
  if (verb !== 'deploy' && verb !== 'destroy') return say(`${USAGE.deploy}\n${USAGE.destroy}`, 2);
  try {
    const options = optionsOf(verb, args);
    if (options === 'help') return say(USAGE[verb], 0);
    const { stage, config, api, yes } = options;
    await (verb === 'deploy' ? deploy(stage, findConfig(folder, config) ?? EXAMPLE_CONFIG, api) : destroy(stage, yes));
    return 0;
  } catch (cause) {
    if (!(cause instanceof CommandFailure || cause instanceof InvalidConfig || cause instanceof InvalidOption))
      throw cause;
    const lines = cause.message.split('\n').map(printable).join('\n');
    return say(lines, cause instanceof WrongUsage || cause instanceof InvalidOption ? 2 : 1);
  }
};

const say = (text: string, status: number): number => {
  (status === 0 ? console.log : console.error)(text);
  return status;
};

interface Options {
  readonly stage: string;
  readonly config: string | undefined;
  readonly api: string | undefined;
  readonly yes: boolean;
}

const optionsOf = (verb: Verb, args: readonly string[]): Options | 'help' => {
  const { stage, config, api, yes = false, help } = parsed(verb, args);
  if (help) return 'help';
  if (verb === 'destroy' && stage === undefined) throw new WrongUsage(`--stage is missing\n\n${USAGE.destroy}`);
  return { stage: stage ?? 'dev', config, api, yes };
};

const parsed = (verb: Verb, args: readonly string[]) => {
  const text = { type: 'string' } as const;
  const own = verb === 'deploy' ? { config: text, api: text } : { yes: { type: 'boolean' } as const };
  try {
    const options = { stage: text, help: { type: 'boolean' }, ...own } as const;
    return parseOptions(args, options) as {
      readonly stage?: string;
      readonly config?: string;
      readonly api?: string;
      readonly yes?: boolean;
      readonly help?: boolean;
    };
  } catch (cause) {
    throw new WrongUsage(`${reasonOf(cause)}\n\n${USAGE[verb]}`, { cause });
  }
};

/**
 * Deploys a stage. It checks first, and cleans up after a failure, so that no incomplete stage remains.
 *
 * @param file absolute path of the configuration.
 * @param api how callers reach the API, if the context of cdk.json does not decide that.
 * @throws CommandFailure, InvalidConfig, InvalidOption, if possible before anything is created.
 */
const deploy = async (stage: string, file: string, api: string | undefined): Promise<void> => {
  checkStage(stage);
  if (api !== undefined) parseApi(api);
  const config = await loadConfig(file);
  const account = await openAccount(process.env);
  const number = await whoAmI(account);
  const problems = unstartable(config.operations, number);
  if (problems.length > 0) throw new InvalidConfig(file, problems);
  console.log(`Deploying the stage ${stage} to account ${number}, region ${account.region}, with ${file}`);
  const quota = await quotaNote(account, config);
  for (const note of [...warningsOf(stage, config), ...(quota === undefined ? [] : [quota])])
    console.log(`Note: ${printable(note)}`);
  const { ops, ...others } = stackNames(stage);
  const names = [...Object.values(others), ...(config.alarms ? [ops] : [])];
  const choosesApi = api !== undefined || cdkJsonHas('api');
  const plan = planDeploy({ stage, names, choosesApi }, await stacksOf(account, stage));
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const settings = { stage, config: file, region: account.region, ...(api === undefined ? {} : { api }) };
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
 * Removes a stage. A stage that keeps its data keeps its data stack.
 *
 * @param yes confirms the removal of a stage that keeps its data, and of stacks that may not belong to Groupage.
 * @throws CommandFailure, InvalidOption
 */
const destroy = async (stage: string, yes: boolean): Promise<void> => {
  checkStage(stage);
  if (keepsData(stage) && !yes)
    throw new WrongUsage(
      `this removes the functions and the API of ${stage}, and the messages in its internal queues. Its tables stay, and so do the queues with tasks or rejected messages. Add --yes to confirm`,
    );
  const account = await openAccount(process.env);
  const number = await whoAmI(account);
  const where = `account ${number}, region ${account.region}`;
  const plan = planDestroy(stage, await stacksOf(account, stage), yes);
  if (plan.do === 'stop') throw new CommandFailure(plan.problems.join('\n'));
  const { keep, orphans } = plan;
  // Remove in reverse order: the flow stack uses exports of the data stack, and the ops stack reads names that the flow
  // stack publishes.
  const remove = plan.remove.toReversed();
  if (remove.length === 0 && keep === undefined)
    throw new CommandFailure(`there is no stack of the stage ${stage} in ${where}. Check the region and the account`);
  console.log(`Removing ${remove.join(', ') || 'no stack'} from ${where}`);
  const tables = orphans ? { tablesOf: stackNames(stage).data } : {};
  const { says, problems } = await untilInterrupted((signal) =>
    removeStacks(account, { stage, remove, ...tables }, signal),
  );
  for (const line of says) console.log(line);
  if (keep !== undefined) console.log(staysOf(stage, keep));
  if (problems.length > 0) throw new CommandFailure(problems.join('\n'));
};
