/** `groupage lists worker`: lets a program in any language work on the jobs of a list. */
import { Command } from 'commander';
import { plural, printable, printJson } from '../../../terminal.ts';
import { somePart } from '../../shared/arguments.ts';
import type { CommonOptions } from '../../shared/connect.ts';
import { programOf, wholeUpTo, withProgram } from '../../worker/options.ts';

interface WorkerOptions extends CommonOptions {
  readonly timeout: number;
  readonly concurrency: number;
  readonly claimers: number;
  readonly count: number;
  readonly lease: number;
  readonly holder?: string;
}

export const worker = (): Command =>
  withProgram(
    new Command('worker')
      .description('claim the jobs of a list and pass them to a program in any language')
      .argument('<id>', 'id of the list', somePart('the id of a list')),
  )
    .option('--concurrency <n>', 'number of processes for each claim; each has one job at a time', wholeUpTo(64), 1)
    .option('--claimers <n>', 'number of claims at the same time', wholeUpTo(64), 1)
    .option('--count <n>', 'maximum number of jobs of a claim', wholeUpTo(1_000), 10)
    .option('--lease <seconds>', 'lease of a claim, which is renewed in time', wholeUpTo(43_200), 60)
    .option('--holder <name>', 'who claims, as `groupage lists claims` shows it (default: host name and process id)')
    .addHelpText(
      'after',
      `
Example:
  groupage lists worker night-7 --concurrency 4 -- python3 worker.py`,
    )
    .action(workOn);

const workOn = async (id: string, given: readonly string[], options: WorkerOptions): Promise<void> => {
  const { concurrency, claimers, count, lease: leaseSeconds, holder, json = false } = options;
  const program = programOf(given, options);
  // Load the SDK only here: loading takes longer than a whole local command.
  const { workOnList } = await import('../../worker/list-worker.ts');
  const loop = { concurrency, claimers, count, leaseSeconds, ...(holder === undefined ? {} : { holder }) };
  const end = await workOnList(id, program, loop, options);
  if (json) return console.log(printJson(JSON.stringify(end)));
  const why = end.ended === 'aborted' ? 'stopped' : `${id} is ${end.ended}`;
  const counts = (['succeeded', 'failed', 'released', 'lost'] as const).map((name) => `${name} ${end[name]}`);
  console.log(printable(`${why}; jobs: ${counts.join(', ')}; ${plural(end.claims, 'claim')}`));
};
