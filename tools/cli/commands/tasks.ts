/** `groupage tasks`: lists waiting tasks, tasks in batches, failed tasks, or the tasks of a batch. */
import { type Command, Option } from 'commander';
import { WrongUsage } from '../../failure.ts';
import { ago, table } from '../../terminal.ts';
import { TASK, type TaskShape } from '../shared/answers.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { listed, listing, ofOperations, ofTargets, show } from '../shared/pages.ts';

type Status = 'created' | 'batched' | 'in-progress' | 'failed';

interface TasksOptions extends CommonOptions {
  readonly target?: string;
  readonly operation?: string;
  readonly batch?: string;
  readonly status?: Status;
  readonly limit: number;
}

export const tasksCommand = (): Command =>
  listing('tasks', 'list waiting tasks, tasks in batches, failed tasks, or the tasks of a batch')
    .option('--target <target>', 'list only tasks of this Target (default: of all Targets)')
    .option('--operation <name>', 'with --status batched or in-progress: list only tasks of this operation')
    .option('--batch <id>', 'list the tasks of this batch, with their outcomes')
    .addOption(
      new Option(
        '--status <status>',
        'status of the tasks to list: waiting (created), in a batch before its first attempt (batched), in a batch whose first attempt has started (in-progress), or failed (default: created)',
      ).choices(['created', 'batched', 'in-progress', 'failed'] satisfies Status[]),
    )
    .action(async (options: TasksOptions) => {
      const { batch, target, operation, status = 'created' } = options;
      const isInBatch = status === 'batched' || status === 'in-progress';
      if (batch !== undefined && (target ?? operation ?? options.status) !== undefined)
        throw new WrongUsage('--batch lists all tasks of one batch: leave out --target, --operation and --status');
      if (operation !== undefined && (target !== undefined || !isInBatch))
        throw new WrongUsage('--operation needs --status batched or --status in-progress, and no --target');
      const api = await connect(options);
      if (batch !== undefined) {
        const members = await listed(api, 'tasks', TASK, { batch }, options.limit + 1);
        return show(options, 'tasks', members, tasksTable, 'this batch has no tasks');
      }
      const isWide = isInBatch && target === undefined;
      const all = await (isWide ? ofOperations : ofTargets)(api, options, 'tasks', TASK, { status });
      show(options, 'tasks', all.toSorted(status === 'failed' ? newestEnd : oldestFirst), tasksTable, NONE[status]);
      if (isWide && !options.json)
        console.error('Only batches under way are included. With --target, also batches in their first attempt');
    });

const NONE: Readonly<Record<Status, string>> = {
  created: 'no waiting tasks',
  batched: 'no tasks in batches before their first attempt',
  'in-progress': 'no tasks in batches whose first attempt has started',
  failed: 'no failed tasks',
};

const oldestFirst = (a: TaskShape, b: TaskShape): number => a.createdAt.localeCompare(b.createdAt);
const newestEnd = (a: TaskShape, b: TaskShape): number => (b.finishedAt ?? '').localeCompare(a.finishedAt ?? '');

const tasksTable = (tasks: readonly TaskShape[]): string =>
  table(
    ['ID', 'TARGET', 'STATUS', 'AGE', 'ATTEMPTS', 'REASON'],
    tasks.map(({ id, target, status, createdAt, attempts, error, lastReason }) => [
      id,
      target,
      status,
      ago(createdAt),
      attempts > 0 ? attempts : '',
      (error ? `${error.code}: ${error.message}` : (lastReason ?? '')).slice(0, 80),
    ]),
  );
