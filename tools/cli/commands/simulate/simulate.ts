/** `groupage simulate`: simulates a configuration with given tasks, in virtual time and without a stack. */
import { Command } from 'commander';
import type { SimulateOptions } from './options.ts';

export const simulateCommand = (): Command =>
  new Command('simulate')
    .description('simulate a configuration with recorded or generated tasks: waits, calls and costs, without a stack')
    .option('--config <file>', 'configuration file (default: the same file as for `groupage check`)')
    .option(
      '--trace <file>',
      'recorded tasks: JSON lines or CSV with time, operation and payload (- for standard input)',
    )
    .option(
      '--load <text>',
      'random tasks instead of a trace, e.g. "rate=100/s targets=50 skew=1 bursts=500x/10s duration=10m"',
    )
    .option(
      '--operation <name>',
      'operation that receives the tasks of --load, and whose policy is varied (only needed if several operations are configured)',
    )
    .option(
      '--downstream <text>',
      'behaviour of the simulated downstream, e.g. "takes=200ms perItem=1ms limit=10/s down=1h..7h"',
    )
    .option('--local', 'simulate the local stack instead of AWS')
    .option('--seed <n>', 'seed of the random numbers (default: 1)')
    .option(
      '--vary <setting=values...>',
      'compare policies over these values, e.g. --vary maxWait=0s..60s maxSize=10,100',
    )
    .option('--recommend', 'search for the cheapest policy that meets every --aim')
    .option(
      '--aim <aims...>',
      'aims of --recommend, such as "p99 wait < 5s", "calls < 1000/h", "cost < $3/day", "fill > 0.9"',
    )
    .option('--out <file>', 'write the results to this file: a page (.html) or a picture (.svg)')
    .addHelpText(
      'after',
      `
Examples:
  groupage simulate --load "rate=20/s targets=10 skew=1 duration=10m"
  groupage simulate --trace yesterday.csv --downstream "takes=300ms limit=5/s"
  groupage simulate --trace yesterday.csv --vary maxWait=0s..60s
  groupage simulate --trace yesterday.csv --recommend --aim "p99 wait < 5s" --aim "calls < 1000/h"`,
    )
    // Load the simulator only here, so that other commands start fast.
    .action(async (options: SimulateOptions) => (await import('./run.ts')).runSimulate(options));
