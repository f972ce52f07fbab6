/** `groupage tasks`: lists waiting tasks or failed tasks. */
import { type Command, Option } from 'commander';
import { ago, table } from '../../terminal.ts';
import { TASK, type TaskShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listing, ofTargets, show } from '../shared/pages.ts';

interface TasksOptions extends CommonOptions {
  readonly target?: string;
  readonly status: 'created' | 'failed';
  readonly limit: number;
}

export const tasksCommand = (): Command =>
  listing('tasks', 'list waiting or failed tasks')
    .option('--target <target>', 'list only tasks of this Target (default: of all Targets)')
    .addOption(
      new Option('--status <status>', 'status of the tasks to list; waiting tasks have the status created')
        .choices(['created', 'failed'])
        .default('created'),
    )
    .action(async (options: TasksOptions) => {
      const api = await connect(options);
      const all = await ofTargets(api, options, 'tasks', TASK, { status: options.status });
      const tasks = all.toSorted(options.status === 'failed' ? newestEnd : oldestFirst);
      show(options, 'tasks', tasks, tasksTable, `no ${options.status === 'failed' ? 'failed' : 'waiting'} tasks`);
    });

const oldestFirst = (a: TaskShape, b: TaskShape): number => a.createdAt.localeCompare(b.createdAt);
const newestEnd = (a: TaskShape, b: TaskShape): number => (b.finishedAt ?? '').localeCompare(a.finishedAt ?? '');

const tasksTable = (tasks: readonly TaskShape[]): string =>
  table(
    ['ID', 'TARGET', 'STATUS', 'AGE', 'ERROR'],
    tasks.map(({ id, target, status, createdAt, error }) => [
      id,
      target,
      status,
      ago(createdAt),
      error ? `${error.code}: ${error.message}`.slice(0, 80) : '',
    ]),
  );
