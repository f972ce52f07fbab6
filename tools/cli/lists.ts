/** `groupage tasks`, `batches`, `targets`: what there is. */
import { Command, Option } from 'commander';
import pLimit from 'p-limit';
import type * as z from 'zod';
import { WrongUsage } from '../failure.ts';
import { BATCH, type BatchShape, type CommonOptions, TASK, type TargetShape, type TaskShape } from '../shapes.ts';
import { ago, printable, table } from '../terminal.ts';
import type { ApiClient } from './api-client.ts';
import { connect } from './connect.ts';
import { pauseText } from './operations.ts';
import { allTargets, CONCURRENCY, listed, show } from './pages.ts';
import { count } from './reading.ts';

interface ListOptions extends CommonOptions {
  readonly target?: string;
  readonly operation?: string;
  readonly prefix?: string;
  readonly status: 'created' | 'failed';
  readonly limit: number;
}

const list = (name: string, what: string): Command =>
  new Command(name).description(what).option('--limit <n>', 'how many to show', count, 50);

export const tasksCommand = (): Command =>
  list('tasks', 'list waiting or failed tasks')
    .option('--target <target>', 'of one Target (default: of all)')
    .addOption(new Option('--status <status>', 'which tasks').choices(['created', 'failed']).default('created'))
    .action(async (options: ListOptions) => {
      const api = await connect(options);
      const all = await ofTargets(api, options, 'tasks', TASK, { status: options.status });
      const tasks = all.toSorted(options.status === 'failed' ? newestEnd : oldestFirst);
      show(options, 'tasks', tasks, tasksTable, `no ${options.status === 'failed' ? 'failed' : 'waiting'} tasks`);
    });

export const batchesCommand = (): Command =>
  list('batches', 'list batches, newest first')
    .option('--target <target>', 'of one Target (default: of all)')
    .action(async (options: ListOptions) => {
      const batches = await ofTargets(await connect(options), options, 'batches', BATCH);
      const newest = batches.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
      show(options, 'batches', newest, batchesTable, 'no batches yet');
    });

export const targetsCommand = (): Command =>
  list('targets', 'list Targets: what waits, and who leads')
    .option('--operation <name>', 'of one operation (default: of all)')
    .option('--prefix <text>', 'those whose part after the operation begins so, such as origin=MU (case matters)')
    .action(async (options: ListOptions) => {
      const { operation, prefix } = options;
      if (prefix !== undefined && operation === undefined) throw new WrongUsage('--prefix needs an --operation');
      const targets = await allTargets(await connect(options), options.limit + 1, options);
      const none =
        prefix === undefined ? 'no Targets yet: no task was registered' : `no Target ${operation}/${prefix}…`;
      show(options, 'targets', targets, targetsTable, printable(none));
    });

const oldestFirst = (a: TaskShape, b: TaskShape): number => a.createdAt.localeCompare(b.createdAt);
const newestEnd = (a: TaskShape, b: TaskShape): number => (b.finishedAt ?? '').localeCompare(a.finishedAt ?? '');

/** A list that the API keeps by Target: of the one asked for, or of all; of each one more than is shown. */
const ofTargets = async <Shape>(
  api: ApiClient,
  { target, limit }: ListOptions,
  key: 'tasks' | 'batches',
  shape: z.ZodType<Shape>,
  query: Record<string, string> = {},
): Promise<Shape[]> => {
  const targets = target === undefined ? await allTargets(api, Number.POSITIVE_INFINITY) : [{ target }];
  const found = await pLimit(CONCURRENCY).map(targets, (each) =>
    listed(api, key, shape, { ...query, target: each.target }, limit + 1),
  );
  return found.flat();
};

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

const batchesTable = (batches: readonly BatchShape[]): string =>
  table(
    ['BATCH', 'STATUS', 'SEALED BY', 'TASKS', 'FILL', 'ATTEMPT', 'FAILED', 'AGE'],
    batches.map(({ id, status, sealedBy, size, fill, attempt, counts, createdAt }) => [
      id,
      status,
      sealedBy,
      size,
      fill === undefined ? '' : `${Math.round(fill * 100)}%`,
      attempt,
      counts?.failed ?? 0,
      ago(createdAt),
    ]),
  );

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
