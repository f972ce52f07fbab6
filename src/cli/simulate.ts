/** `groupage simulate`: what would this configuration do with these tasks? In virtual time, without a stack. */
import { Command } from 'commander';
import type { Config } from '../config/resolved.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';
import { costOf } from '../simulate/cost.ts';
import { NothingToCompare } from '../simulate/figures.ts';
import { simulateJob } from '../simulate/job.ts';
import type { Outcome } from '../simulate/outcome.ts';
import { PRICES } from '../simulate/prices.ts';
import { InvalidTrace } from '../simulate/trace.ts';
import { policiesOf, type Varied, vary } from '../simulate/vary.ts';
import { plural, printJson } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { type Asked, askedOf, type SimulateOptions } from './simulate-options.ts';
import { describeOutcome, describeVaried } from './simulate-report.ts';

export const simulateCommand = (): Command =>
  new Command('simulate')
    .description('what a configuration would do with the tasks of a trace, or of a load that you describe')
    .option('--config <file>', 'the configuration (default: as for check)')
    .option('--trace <file>', 'JSON lines or CSV of time, operation and payload; - is the standard input')
    .option(
      '--load <text>',
      'tasks by chance instead, e.g. "rate=100/s targets=50 skew=1 bursts=500x/10s duration=10m"',
    )
    .option('--operation <name>', 'whose load it is, and whose policy is varied, where several are configured')
    .option('--downstream <text>', 'how it answers, e.g. "takes=200ms perItem=1ms limit=10/s down=1h..7h"')
    .option('--local', 'on the local stack instead of AWS')
    .option('--seed <n>', 'of what comes by chance (default: 1)')
    .option('--vary <setting=values...>', 'compare policies, e.g. --vary maxWait=0s..60s maxSize=10,100')
    .addHelpText(
      'after',
      `
Examples:
  groupage simulate --load "rate=20/s targets=10 skew=1 duration=10m"
  groupage simulate --trace yesterday.csv --downstream "takes=300ms limit=5/s"
  groupage simulate --trace yesterday.csv --vary maxWait=0s..60s`,
    )
    .action(async (options: SimulateOptions) => {
      try {
        await run(await askedOf(options), options);
      } catch (cause) {
        if (cause instanceof InvalidTrace || cause instanceof NothingToCompare) throw new CommandFailure(cause.message);
        throw cause;
      }
    });

const run = async (asked: Asked, options: SimulateOptions): Promise<void> => {
  const outcome = await simulated(asked.config, asked);
  const varied = asked.axes === undefined ? undefined : await variedOver(asked);
  if (options.json) console.log(printJson(JSON.stringify(found(asked, outcome, varied))));
  else
    console.log(
      [describeOutcome(outcome, asked.surroundings), ...(varied ? [describeVaried(varied)] : [])].join('\n\n'),
    );
};

/** What `--json` prints. */
const found = ({ surroundings, downstream, seed }: Asked, outcome: Outcome, varied: Varied | undefined): object => ({
  outcome,
  cost: costOf(outcome, surroundings),
  ...(varied === undefined ? {} : { varied }),
  assumed: { surroundings, downstream, seed, prices: PRICES },
});

const simulated = async (config: Config, asked: Asked): Promise<Outcome> => {
  const bar = progressBar(asked.expected ?? 1);
  bar?.start('Simulating');
  let before = 0;
  const outcome = await simulateJob({ ...asked, config }, (sent) => {
    bar?.advance(asked.expected === undefined ? 0 : sent - before, `${plural(sent, 'task')} sent`);
    before = sent;
  });
  bar?.stop('simulated');
  return outcome;
};

const variedOver = async (asked: Asked): Promise<Varied> => {
  const { subject, axes = {} } = asked;
  if (subject === undefined)
    throw new WrongUsage('several operations are configured: --operation names the one to vary');
  const all = policiesOf(axes).length;
  const bar = progressBar(all);
  bar?.start(plural(all, 'policy', 'policies'));
  const varied = await vary(subject, asked, axes, () => bar?.advance(1));
  bar?.stop('compared');
  if (varied.tried.length === 0)
    throw new CommandFailure(`the configuration can have none of these: ${varied.refused[0]?.reason}`);
  return varied;
};
