/** `groupage failures`: lists failed tasks, grouped by cause. */
import { Command } from 'commander';
import type { FailureGroup } from '../../../src/api/tasks/responses.ts';
import { dim, plural, printable, printJson, table } from '../../terminal.ts';
import { FAILURES } from '../shared/answers.ts';
import type { ApiClient } from '../shared/api-client.ts';
import { count } from '../shared/arguments.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';

interface FailuresOptions extends CommonOptions {
  readonly operation?: string;
  readonly limit: number;
}

export const failuresCommand = (): Command =>
  new Command('failures')
    .description('list failed tasks, grouped by cause, with the command that redrives them')
    .option('--operation <name>', 'list only failed tasks of this operation (default: of all operations)')
    .option('--limit <n>', 'maximum number of failed tasks to read', count, 10_000)
    .action(async (options: FailuresOptions) => {
      const failures = await failuresOf(await connect(options), options.limit, options.operation);
      if (options.json) return console.log(printJson(JSON.stringify(failures)));
      console.log(failures.groups.length === 0 ? 'no failed tasks' : described(failures.groups));
      if (failures.more)
        console.error(
          `… and more: only the first ${failures.looked} failed tasks were read. To read more, use --limit <n>`,
        );
    });

interface Failures {
  readonly groups: readonly FailureGroup[];
  readonly looked: number;
  readonly more?: true;
}

/** Reads page by page and merges groups of the same cause, largest first. @param limit tasks to read, rounded up to whole pages. */
export const failuresOf = async (api: ApiClient, limit: number, operation?: string): Promise<Failures> => {
  const groups = new Map<string, FailureGroup>();
  let looked = 0;
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({
      ...(operation === undefined ? {} : { operation }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { value } = await api.get(`/failures?${query}`, FAILURES);
    for (const group of value.groups) groups.set(group.key, together(groups.get(group.key), group));
    looked += value.looked;
    cursor = value.cursor;
  } while (cursor !== undefined && looked < limit);
  const largestFirst = [...groups.values()].toSorted((a, b) => b.tasks - a.tasks);
  return { groups: largestFirst, looked, ...(cursor === undefined ? {} : { more: true }) };
};

/** Two pages may contain the same Targets, so the merged number of Targets is a lower bound: the larger of the two numbers. */
const together = (before: FailureGroup | undefined, group: FailureGroup): FailureGroup =>
  before
    ? {
        ...before,
        tasks: before.tasks + group.tasks,
        targets: Math.max(before.targets, group.targets),
        ids: [...before.ids, ...group.ids],
      }
    : group;

/** A row for each group, and its whole cause on the next line, because a cause may be long. */
const described = (groups: readonly FailureGroup[]): string => {
  const [headings = '', ...rows] = table(
    ['TASKS', 'OPERATION', 'CODE', 'EXAMPLE', 'KEY'],
    groups.map(({ tasks, operation, code, ids, key }) => [tasks, operation, code, ids[0] ?? '', key]),
  ).split('\n');
  const [largest] = groups;
  return [
    headings,
    ...rows.flatMap((row, index) => [row, `    ${printable(groups[index]?.cause.replaceAll(/\s+/g, ' ') ?? '')}`]),
    ...(largest ? [dim(printable(redriveHint(largest)))] : []),
  ].join('\n');
};

const redriveHint = ({ key, tasks }: FailureGroup): string =>
  `To run the largest group again: groupage redrive --cause ${key} (${plural(tasks, 'task')}; use --dry-run first)`;
