/** `groupage targets`: lists Targets, with their waiting tasks and leaders. */
import { type Command, Option } from 'commander';
import { type SortKey, sortedBy } from '../../../src/api/targets/order.ts';
import { WrongUsage } from '../../failure.ts';
import { lowerBound } from '../../lower-bounds.ts';
import { ago, printable, table } from '../../terminal.ts';
import type { TargetShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { allTargets, listing, show } from '../shared/pages.ts';
import { inBatches, underWayTexts } from '../shared/under-way.ts';
import { pauseText } from './operations.ts';

interface TargetsOptions extends CommonOptions {
  readonly operation?: string;
  readonly prefix?: string;
  readonly search?: string;
  readonly sort?: (typeof SORTS)[number];
  readonly limit: number;
}

/** Without `failed`: failed tasks are counted only in a list that the API sorts by them. */
const SORTS = ['waiting', 'oldest', 'retried', 'paused'] as const satisfies SortKey[];

export const targetsCommand = (): Command =>
  listing('targets', 'list Targets, with their waiting tasks and leaders')
    .option('--operation <name>', 'list only Targets of this operation (default: of all operations)')
    .option(
      '--prefix <text>',
      'list only Targets whose part after OPERATION/ begins with this text, e.g. origin=MU (case-sensitive)',
    )
    .option('--search <text>', 'list only Targets whose name contains this text (upper and lower case are the same)')
    .addOption(
      new Option(
        '--sort <by>',
        'list only Targets with waiting tasks (waiting: most first; oldest: longest wait first), with batches under way (retried: oldest task first), or with a pause or no free slot (paused: longest first)',
      ).choices(SORTS),
    )
    .action(async (options: TargetsOptions) => {
      const { operation, prefix, sort } = options;
      if (prefix !== undefined && operation === undefined) throw new WrongUsage('--prefix needs --operation');
      // The order is only known when all Targets are read.
      const all = await allTargets(
        await connect(options),
        sort ? Number.POSITIVE_INFINITY : options.limit + 1,
        options,
      );
      const targets = sort ? sortedBy(all, sort) : all;
      show(options, 'targets', targets, targetsTable, printable(noneOf(options)));
    });

const noneOf = ({ operation, prefix, search, sort }: TargetsOptions): string => {
  if (search !== undefined) return `no Target contains ${search}${sort ? ` and matches --sort ${sort}` : ''}`;
  if (sort !== undefined) return `no Target matches --sort ${sort}`;
  return prefix === undefined
    ? 'no Targets yet: no task has been registered'
    : `no Target begins with ${operation}/${prefix}`;
};

const targetsTable = (targets: readonly TargetShape[]): string =>
  table(
    ['TARGET', 'WAITING', 'OLDEST', 'IN BATCHES', 'LEADER', 'OPEN BATCH', 'IN FLIGHT', 'STATE'],
    targets.map(({ target, waiting, waitingIsAtLeast, oldestAt, leader, openBatch, inFlight, ...state }) => [
      target,
      lowerBound(waiting, waitingIsAtLeast),
      ago(oldestAt),
      inBatches(state.underWay),
      leader ? `fence ${leader.fence}` : '',
      openBatch ?? '',
      inFlight ? String(inFlight.length) : '',
      stateOf(state),
    ]),
  );

/** What holds a Target up. Several causes may apply at once. */
const stateOf = ({ paused, blocked, underWay }: Pick<TargetShape, 'paused' | 'blocked' | 'underWay'>): string =>
  [
    ...(paused ? [pauseText(paused)] : []),
    ...(blocked ? ['waits for a free slot or the end of a pause (see groupage operations)'] : []),
    ...underWayTexts(underWay),
  ].join('; ');
