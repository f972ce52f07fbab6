/** `groupage fleet worker`: a node of a fleet, whose partitions a program in any language works on. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { FleetOptions } from '../../../src/fleet/run-fleet.ts';
import { WrongUsage } from '../../failure.ts';
import { somePart } from '../shared/arguments.ts';
import type { CommonOptions } from '../shared/connect.ts';
import { programOf, secondsBetween, withProgram } from '../worker/options.ts';

type Partitions = FleetOptions['partitions'];

/** Parses the partitions: a number, or names with optional weights. `runFleet` checks them. */
const partitionsIn = (text: string): Partitions => {
  if (/^\d+$/.test(text)) return Number(text);
  return text.split(',').map((each) => {
    const [id = '', weight = '1', more] = each.split('=');
    if (id === '' || more !== undefined || !/^\d+$/.test(weight))
      throw new InvalidArgumentError('Give a number, or names such as eu,us or eu=3,us=1.');
    return { id, weight: Number(weight) };
  });
};

interface WorkerOptions extends CommonOptions {
  readonly timeout: number;
  readonly partitions: Partitions;
  readonly table?: string;
  readonly node?: string;
  readonly whenFinished: NonNullable<FleetOptions['whenFinished']>;
  readonly restartWithin?: number;
  readonly drainTimeout: number;
  readonly cycle: number;
  readonly metrics?: boolean;
}

/** The command that adds `fleet worker` to its group also adds the option --table. */
export const fleetWorker = (): Command =>
  withProgram(
    new Command('worker')
      .description('join a fleet, and work on its partitions with a program in any language')
      .argument('<fleet>', 'name of the fleet', somePart('the name of a fleet')),
  )
    .addOption(
      new Option('--partitions <list>', 'all partitions of the fleet: a number, or names such as eu,us or eu=3,us=1')
        .argParser(partitionsIn)
        .makeOptionMandatory(),
    )
    .option('--node <name>', 'name of this node (default: host name and process id)')
    .addOption(
      new Option('--when-finished <what>', 'what happens to a partition when its process exits by itself with status 0')
        .choices(['keep', 'release', 'again'])
        .default('keep'),
    )
    .option(
      '--restart-within <seconds>',
      'after a stop, keep the partitions for the next process with the same --node for this time (at least six cycles; 0: off)',
      secondsBetween(0, 3_600),
    )
    .addOption(
      new Option('--drain-timeout <seconds>', 'longest time for the end of running work when this node stops')
        .argParser(secondsBetween(0, 86_400))
        .default(20_000, '20'),
    )
    .addOption(
      new Option('--cycle <seconds>', 'interval of heartbeats; a node without one for six cycles counts as dead')
        .argParser(secondsBetween(0.2, 60))
        .default(5_000, '5'),
    )
    .option('--metrics', 'write metrics for CloudWatch to standard output, once a minute')
    .addHelpText(
      'after',
      `
Example:
  groupage fleet worker flights --partitions 64 --table TheirStack-FleetTable4A611C9B-1C0J8 -- python3 worker.py`,
    )
    .action(workIn);

/** The texts of `runFleet` are for programs. @throws WrongUsage */
const checkRestart = ({ restartWithin = 0, cycle, node }: WorkerOptions): void => {
  if (restartWithin === 0) return;
  if (node === undefined)
    throw new WrongUsage('--restart-within needs --node, a name that the next process of this worker has too');
  if (restartWithin < 6 * cycle)
    throw new WrongUsage(`--restart-within must be 0, or at least six cycles: ${(6 * cycle) / 1_000} seconds`);
};

const workIn = async (fleet: string, given: readonly string[], options: WorkerOptions): Promise<void> => {
  const { partitions, table, node, whenFinished, restartWithin, drainTimeout, cycle, metrics = false } = options;
  if (options.stack !== undefined || options.api !== undefined)
    throw new WrongUsage(
      "a worker reads and writes the fleet's table directly. Give --table NAME instead of --stack or --api; without --table it uses the local stack of this folder",
    );
  const program = programOf(given, options);
  checkRestart(options);
  // Load the SDK only here: loading takes longer than a whole local command.
  const { workInFleet } = await import('../worker/fleet-worker.ts');
  await workInFleet(program, {
    ...{ fleet, partitions, table, whenFinished, drainTimeout, cycle },
    ...(node === undefined ? {} : { node }),
    ...(restartWithin === undefined ? {} : { restartWithin }),
    ...(metrics ? { metrics: 'emf' } : {}),
  });
};
