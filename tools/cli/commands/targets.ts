/** `groupage targets`: lists Targets, with their waiting tasks and leaders. */
import type { Command } from 'commander';
import { WrongUsage } from '../../failure.ts';
import { lowerBound } from '../../lower-bounds.ts';
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
  listing('targets', 'list Targets, with their waiting tasks and leaders')
    .option('--operation <name>', 'list only Targets of this operation (default: of all operations)')
    .option(
      '--prefix <text>',
      'list only Targets whose part after OPERATION/ begins with this text, e.g. origin=MU (case-sensitive)',
    )
    .action(async (options: TargetsOptions) => {
      const { operation, prefix } = options;
      if (prefix !== undefined && operation === undefined) throw new WrongUsage('--prefix needs --operation');
      const targets = await allTargets(await connect(options), options.limit + 1, options);
      const none =
        prefix === undefined
          ? 'no Targets yet: no task has been registered'
          : `no Target begins with ${operation}/${prefix}`;
      show(options, 'targets', targets, targetsTable, printable(none));
    });

const targetsTable = (targets: readonly TargetShape[]): string =>
  table(
    ['TARGET', 'WAITING', 'OLDEST', 'LEADER', 'OPEN BATCH', 'IN FLIGHT', 'STATE'],
    targets.map(({ target, waiting, waitingIsAtLeast, oldestAt, leader, openBatch, inFlight, paused, blocked }) => [
      target,
      lowerBound(waiting, waitingIsAtLeast),
      ago(oldestAt),
      leader ? `fence ${leader.fence}` : '',
      openBatch ?? '',
      inFlight ? String(inFlight.length) : '',
      paused ? pauseText(paused) : blocked ? 'waits for its operation (see groupage operations)' : '',
    ]),
  );
