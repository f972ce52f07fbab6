/** `npm run verify:aws`: its steps, output and exit status. */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { InvalidOption } from '../../lib/invalid-option.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { type Account, openAccount } from '../account/stacks.ts';
import { untilInterrupted } from '../deploy/cdk.ts';
import { quotaNote } from '../deploy/quota.ts';
import { whoAmI } from '../deploy/stacks.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { printable } from '../terminal.ts';
import { predictedCosts, sumOf } from './budget.ts';
import { configInput, configOf, costPerTask, predict } from './loads/plan.ts';
import { type Options, optionsOf, USAGE } from './options.ts';
import { isOver, removeRun, runsIn } from './removal.ts';
import { type Compared, compare } from './report/compare.ts';
import { isGood, pageOf, type Report } from './report/page.ts';
import { newRun } from './run-settings.ts';
import { deployAndRun, type Found, type Surroundings } from './running.ts';
import { notRun } from './suite/run-suite.ts';
import { leftText, type Planned, planText } from './words.ts';

const IN_AWS: Surroundings = {
  onDeployed: async () => {},
  addressOf: (url) => url,
  metricsAfter: 5 * MINUTE,
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/monitoring-using-cloudwatch.html
  queuesReportAfter: 15 * MINUTE,
  testFiles: [],
};

/** @returns the exit status: 0, 1 if a promise did not hold or the run failed, 2 for wrong usage. */
export const run = async (args: readonly string[], surroundings: Surroundings = IN_AWS): Promise<number> => {
  try {
    const options = optionsOf(args);
    if (options === 'help') {
      console.log(USAGE);
      return 0;
    }
    if (!options.removeOnly) checkWritable(resolve(options.page));
    if (options.region !== undefined) process.env.AWS_REGION = options.region;
    const account = await openAccount(process.env);
    const number = await whoAmI(account);
    return options.removeOnly
      ? await removeOnly(account, options)
      : await verify(account, number, options, surroundings);
  } catch (cause) {
    if (!(cause instanceof CommandFailure || cause instanceof InvalidOption)) throw cause;
    console.error(cause.message.split('\n').map(printable).join('\n'));
    return cause instanceof WrongUsage || cause instanceof InvalidOption ? 2 : 1;
  }
};

const verify = async (
  account: Account,
  number: string,
  options: Options,
  surroundings: Surroundings,
): Promise<number> => {
  const page = resolve(options.page);
  const planned = await plan(account, number, options);
  console.log(planText(planned));
  const quota = await quotaNote(account, configOf(`groupage-verify-${planned.id}`));
  if (quota !== undefined) console.log(`Note: ${printable(quota)}`);
  await confirm('Begin?', options);
  for (const { id } of planned.over)
    console.log(leftText(await untilInterrupted((signal) => removeRun(account, id, signal)), account.region));
  const from = new Date().toISOString();
  const run = newRun({
    id: planned.id,
    config: join(temporaryFolder('verify-config'), 'groupage.config.json'),
    until: planned.until,
    token: options.suite ? randomBytes(16).toString('hex') : undefined,
  });
  writeFileSync(run.config, JSON.stringify(configInput(run.functionName)));
  const found: Found = { observed: [], suite: notRun('the run ended before') };
  let failure: unknown;
  try {
    const running = { account, number, run, options, planned, surroundings };
    await untilInterrupted((signal) => deployAndRun(running, found, signal));
  } catch (cause) {
    failure = cause;
  }
  console.log('Removing everything that the run created …');
  const left = await untilInterrupted((signal) => removeRun(account, run.id, signal));
  console.log(leftText(left, account.region));
  const { suite } = found;
  const loads = await compareAll(configOf(run.functionName), found.observed);
  const { region } = account;
  const report: Report = {
    account: number,
    region,
    stage: run.stage,
    from,
    until: new Date().toISOString(),
    loads,
    suite,
    left,
  };
  writeFileSync(page, pageOf(report));
  console.log(`The page is in ${page}`);
  if (failure !== undefined) throw failure;
  return isGood(report) ? 0 : 1;
};

/** A run takes hours, and its results must not be lost at its end. @throws CommandFailure */
const checkWritable = (page: string): void => {
  try {
    accessSync(existsSync(page) ? page : dirname(page), constants.W_OK);
    if (existsSync(page) && !statSync(page).isFile()) throw new TypeError(`${page} is no file`);
  } catch (cause) {
    const problem = `the page cannot be written: ${reasonOf(cause)}. Nothing was created. Use another --page`;
    throw new CommandFailure(problem, { cause });
  }
};

const compareAll = async (config: Config, observed: Found['observed']): Promise<Compared[]> => {
  const loads: Compared[] = [];
  for (const [each, sent] of observed) loads.push(compare(each, await predict(config, sent)));
  return loads;
};

const plan = async (account: Account, number: string, options: Options): Promise<Planned> => {
  const id = randomBytes(3).toString('hex');
  const perTask = await costPerTask(options, configOf(`groupage-verify-${id}`));
  const runs = await runsIn(account);
  const planned = {
    id,
    account: number,
    region: account.region,
    options,
    perTask,
    until: new Date(Date.now() + options.duration + 4 * 60 * MINUTE).toISOString(),
    over: runs.filter((each) => isOver(each, Date.now())),
    others: runs.filter((each) => !isOver(each, Date.now())),
  };
  const predicted = sumOf(predictedCosts(options, perTask));
  if (predicted > options.budget)
    throw new CommandFailure(
      `the run is predicted to cost $${predicted.toFixed(2)}, more than the budget of $${options.budget}. Nothing was created. Use a larger --budget, or fewer tasks (--burst, --rate, --duration)`,
    );
  return planned;
};

/** @throws CommandFailure unless the user agrees, or `--yes` is given */
const confirm = async (question: string, { yes }: Options): Promise<void> => {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new WrongUsage('there is no terminal to ask in. To begin without a question, add --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was created.');
};

const removeOnly = async (account: Account, options: Options): Promise<number> => {
  const runs = await runsIn(account);
  if (runs.length === 0) {
    console.log(`No run left anything in ${account.region}.`);
    return 0;
  }
  for (const each of runs)
    console.log(`Run ${each.id}${isOver(each, Date.now()) ? '' : `, which may still be running until ${each.until}`}`);
  await confirm('Remove these runs?', options);
  const left: string[] = [];
  for (const { id } of runs) left.push(...(await untilInterrupted((signal) => removeRun(account, id, signal))));
  console.log(leftText(left, account.region));
  return left.length === 0 ? 0 : 1;
};
