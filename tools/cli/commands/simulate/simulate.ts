/** `groupage simulate`: what would this configuration do with these tasks? In virtual time, without a stack. */
import { Command } from 'commander';
import type { SimulateOptions } from './options.ts';

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
    .option('--recommend', 'search for the cheapest policy that meets the aims')
    .option('--aim <aims...>', '"p99 wait < 5s", "calls < 1000/h", "cost < $3/day", "fill > 0.9"')
    .option('--out <file>', 'draw it: a page (.html), or a picture (.svg)')
    .addHelpText(
      'after',
      `
Examples:
  groupage simulate --load "rate=20/s targets=10 skew=1 duration=10m"
  groupage simulate --trace yesterday.csv --downstream "takes=300ms limit=5/s"
  groupage simulate --trace yesterday.csv --vary maxWait=0s..60s
  groupage simulate --trace yesterday.csv --recommend --aim "p99 wait < 5s" --aim "calls < 1000/h"`,
    )
    // Others should not wait for what it needs.
    .action(async (options: SimulateOptions) => (await import('./run.ts')).runSimulate(options));
