/** `groupage failures`: what went wrong, cause by cause. */
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
    .description('list why tasks failed, grouped by cause, and how to give them another run')
    .option('--operation <name>', 'of one operation (default: of all)')
    .option('--limit <n>', 'how many failed tasks to look at', count, 10_000)
    .action(async (options: FailuresOptions) => {
      const failures = await failuresOf(await connect(options), options.limit, options.operation);
      if (options.json) return console.log(printJson(JSON.stringify(failures)));
      console.log(failures.groups.length === 0 ? 'no failed tasks' : described(failures.groups));
      if (failures.more) console.error(`… and more: ${failures.looked} were looked at, --limit <n> looks at others`);
    });

interface Failures {
  readonly groups: readonly FailureGroup[];
  readonly looked: number;
  readonly more?: true;
}

/** Page by page, groups of one cause put together, largest first. @param limit of tasks to look at; a page is a page */
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

/** A Target of two pages counts once at least, and is not known to count once. */
const together = (before: FailureGroup | undefined, group: FailureGroup): FailureGroup =>
  before
    ? {
        ...before,
        tasks: before.tasks + group.tasks,
        targets: Math.max(before.targets, group.targets),
        ids: [...before.ids, ...group.ids],
      }
    : group;

const described = (groups: readonly FailureGroup[]): string =>
  [
    table(
      ['TASKS', 'OPERATION', 'CODE', 'CAUSE', 'EXAMPLE', 'KEY'],
      groups.map(({ tasks, operation, code, cause, ids, key }) => [
        tasks,
        operation,
        code,
        cause.slice(0, 100),
        ids[0] ?? '',
        key,
      ]),
    ),
    ...groups
      .slice(0, 1)
      .map(({ key, tasks }) =>
        dim(printable(`groupage redrive --cause ${key} gives ${plural(tasks, 'task')} another run (--dry-run first)`)),
      ),
  ].join('\n');
