/** `groupage tasks`, `batches`, `targets`: what there is. */
import { Command, InvalidArgumentError, Option } from 'commander';
import pLimit from 'p-limit';
import type { ApiClient } from './api-client.ts';
import { connect } from './connect.ts';
import { ago, table } from './output.ts';
import type { BatchShape, CommonOptions, TargetShape, TaskShape } from './shapes.ts';

interface ListOptions extends CommonOptions {
  readonly target?: string;
  readonly operation?: string;
  readonly status: 'created' | 'failed';
  readonly limit: number;
}

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It takes a whole number from 1.');
  return value;
};

const list = (name: string, what: string): Command =>
  new Command(name).description(what).option('--limit <n>', 'how many to show', count, 50);

export const tasksCommand = (): Command =>
  list('tasks', 'list waiting or failed tasks')
    .option('--target <target>', 'of one Target (default: of all)')
    .addOption(new Option('--status <status>', 'which tasks').choices(['created', 'failed']).default('created'))
    .action(async (options: ListOptions) => {
      const api = await connect(options);
      const all = await ofTargets<TaskShape>(api, options, 'tasks', { status: options.status });
      const tasks = all.toSorted(options.status === 'failed' ? newestEnd : oldestFirst).slice(0, options.limit);
      show(
        options,
        { tasks },
        tasks.length === 0 ? `no ${options.status === 'failed' ? 'failed' : 'waiting'} tasks` : tasksTable(tasks),
      );
    });

export const batchesCommand = (): Command =>
  list('batches', 'list batches, newest first')
    .option('--target <target>', 'of one Target (default: of all)')
    .action(async (options: ListOptions) => {
      const batches = await ofTargets<BatchShape>(await connect(options), options, 'batches');
      const newest = batches.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, options.limit);
      show(options, { batches: newest }, newest.length === 0 ? 'no batches yet' : batchesTable(newest));
    });

export const targetsCommand = (): Command =>
  list('targets', 'list Targets: what waits, and who leads')
    .option('--operation <name>', 'of one operation (default: of all)')
    .action(async (options: ListOptions) => {
      const targets = await allTargets(await connect(options), options.limit, options.operation);
      show(
        options,
        { targets },
        targets.length === 0 ? 'no Targets yet: no task was registered' : targetsTable(targets),
      );
    });

const oldestFirst = (a: TaskShape, b: TaskShape): number => a.createdAt.localeCompare(b.createdAt);
const newestEnd = (a: TaskShape, b: TaskShape): number => (b.finishedAt ?? '').localeCompare(a.finishedAt ?? '');

const show = ({ json }: CommonOptions, value: unknown, text: string): void =>
  console.log(json ? JSON.stringify(value) : text);

/** What the API lists at once at the most. */
const PAGE_MAX = 100;
/** Targets that are asked about at once. */
export const CONCURRENCY = 8;

/** The first `limit` of a list, page by page. @param key names the list, in the path and in the answer. */
export const listed = async <Shape>(
  api: ApiClient,
  key: 'targets' | 'tasks' | 'batches',
  query: Record<string, string>,
  limit: number,
): Promise<Shape[]> => {
  const all: Shape[] = [];
  let cursor: string | undefined;
  do {
    const page = new URLSearchParams({
      ...query,
      limit: String(Math.min(PAGE_MAX, limit - all.length)),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { value } = await api.get(`/${key}?${page}`);
    const answer = value as Record<typeof key, Shape[]> & { cursor?: string };
    all.push(...answer[key]);
    cursor = answer.cursor;
  } while (cursor !== undefined && all.length < limit);
  return all;
};

/** The first Targets. */
export const allTargets = (api: ApiClient, limit: number, operation?: string): Promise<TargetShape[]> =>
  listed(api, 'targets', operation === undefined ? {} : { operation }, limit);

/** A list that the API keeps by Target: of the one asked for, or of all. */
const ofTargets = async <Shape>(
  api: ApiClient,
  { target, limit }: ListOptions,
  key: 'tasks' | 'batches',
  query: Record<string, string> = {},
): Promise<Shape[]> => {
  const targets = target === undefined ? await allTargets(api, Number.POSITIVE_INFINITY) : [{ target }];
  const atOnce = pLimit(CONCURRENCY);
  const found = await Promise.all(
    targets.map((each) => atOnce(() => listed<Shape>(api, key, { ...query, target: each.target }, limit))),
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
    ['TARGET', 'WAITING', 'OLDEST', 'LEADER', 'OPEN BATCH'],
    targets.map(({ target, waiting, waitingIsAtLeast, oldestAt, leader, openBatch }) => [
      target,
      waitingIsAtLeast ? `${waiting}+` : String(waiting),
      ago(oldestAt),
      leader ? `fence ${leader.fence}` : '',
      openBatch ?? '',
    ]),
  );
