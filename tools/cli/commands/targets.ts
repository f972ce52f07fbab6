/** `groupage targets`: what waits in each, and who leads. */
import type { Command } from 'commander';
import { WrongUsage } from '../../failure.ts';
import { ago, printable, table } from '../../terminal.ts';
import type { TargetShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { allTargets, listing, show } from '../shared/pages.ts';
import { pauseText } from './operations.ts';

interface TargetsOptions extends CommonOptions {
  readonly operation?: string;
  readonly prefix?: string;
  readonly limit: number;
}

export const targetsCommand = (): Command =>
  listing('targets', 'list Targets: what waits, and who leads')
    .option('--operation <name>', 'of one operation (default: of all)')
    .option('--prefix <text>', 'those whose part after the operation begins so, such as origin=MU (case matters)')
    .action(async (options: TargetsOptions) => {
      const { operation, prefix } = options;
      if (prefix !== undefined && operation === undefined) throw new WrongUsage('--prefix needs an --operation');
      const targets = await allTargets(await connect(options), options.limit + 1, options);
      const none =
        prefix === undefined ? 'no Targets yet: no task was registered' : `no Target ${operation}/${prefix}…`;
      show(options, 'targets', targets, targetsTable, printable(none));
    });

const targetsTable = (targets: readonly TargetShape[]): string =>
  table(
    ['TARGET', 'WAITING', 'OLDEST', 'LEADER', 'OPEN BATCH', 'UNDER WAY', 'STATE'],
    targets.map(({ target, waiting, waitingIsAtLeast, oldestAt, leader, openBatch, inFlight, paused, blocked }) => [
      target,
      waitingIsAtLeast ? `${waiting}+` : String(waiting),
      ago(oldestAt),
      leader ? `fence ${leader.fence}` : '',
      openBatch ?? '',
      inFlight ? String(inFlight.length) : '',
      paused ? pauseText(paused) : blocked ? 'waits for its operation: groupage operations says why' : '',
    ]),
  );
