/** `groupage redrive`: another run for tasks that failed, and another try for messages that nobody works off. */
import { Command, Option } from 'commander';
import { WrongUsage } from '../failure.ts';
import type { ApiClient } from './api-client.ts';
import { connect } from './connect.ts';
import { plural, printable } from './output.ts';
import { type CommonOptions, LETTERS_REDRIVEN, type SkippedShape, TASKS_REDRIVEN } from './shapes.ts';

interface RedriveOptions extends CommonOptions {
  readonly target?: string;
  readonly deadLetters?: string;
  readonly dryRun?: boolean;
}

/** Those that the sweep takes care of too; refused messages are only sent again by who asks for them. */
const DEAD_LETTERS = ['register', 'elect', 'group', 'batch'];

export const redriveCommand = (): Command =>
  new Command('redrive')
    .description('give failed tasks another run, or send dead letters again now')
    .argument('[ids...]', 'tasks')
    .option('--target <target>', 'all failed tasks of a Target')
    .addOption(
      new Option(
        '--dead-letters <queue>',
        "a queue's dead letters, those of all, or the rejected queue's messages",
      ).choices([...DEAD_LETTERS, 'all', 'rejected']),
    )
    .option('--dry-run', 'only say what would be done')
    .addHelpText(
      'after',
      `
Twice is harmless. Refused messages go back to the register queue where they would not be refused any more.

Examples:
  groupage redrive 01JD2Y0FQZ4XB8 01JD2Y0FR05MTW
  groupage redrive --target report-flights/origin=MUC --dry-run
  groupage redrive --dead-letters all`,
    )
    .action((ids: readonly string[], options: RedriveOptions) => redrive(ids, options));

const redrive = async (ids: readonly string[], options: RedriveOptions): Promise<void> => {
  const { target, deadLetters, dryRun = false } = options;
  if ([ids.length > 0, target !== undefined, deadLetters !== undefined].filter(Boolean).length !== 1)
    throw new WrongUsage('give either ids of tasks, or --target, or --dead-letters');
  const api = await connect(options);
  if (deadLetters === undefined) {
    const done = target === undefined ? await redriveIds(api, ids, dryRun) : await redriveTarget(api, target, dryRun);
    return reportTasks(done, options);
  }
  const queues = deadLetters === 'all' ? DEAD_LETTERS : [deadLetters];
  const done: LettersDone[] = [];
  for (const queue of queues) done.push(await redriveLetters(api, queue, dryRun));
  return reportLetters(done, options);
};

interface Done {
  redriven: number;
  readonly skipped: SkippedShape[];
}

/** What one request of the API takes. */
const IDS_AT_ONCE = 1_000;

const redriveIds = async (api: ApiClient, ids: readonly string[], dryRun: boolean): Promise<Done> => {
  const done: Done = { redriven: 0, skipped: [] };
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    await ask(api, { ids: ids.slice(from, from + IDS_AT_ONCE), dryRun }, done);
  return done;
};

const redriveTarget = async (api: ApiClient, target: string, dryRun: boolean): Promise<Done> => {
  const done: Done = { redriven: 0, skipped: [] };
  let cursor: string | undefined;
  do cursor = await ask(api, { target, cursor, dryRun }, done);
  while (cursor !== undefined);
  return done;
};

/** @returns the next page's cursor. */
const ask = async (api: ApiClient, request: object, done: Done): Promise<string | undefined> => {
  const { value } = await api.post('/tasks/redrive', JSON.stringify(request), TASKS_REDRIVEN);
  done.redriven += value.redriven;
  done.skipped.push(...value.skipped);
  return value.cursor;
};

interface LettersDone extends Readonly<Done> {
  readonly queue: string;
  /** About how many lie there now. */
  readonly left: number;
}

/**
 * Request after request, since each has its time, until what lay there had its turn. One that was skipped is there again
 * after half a minute: a request that finds nothing but such ones is the last.
 */
const redriveLetters = async (api: ApiClient, queue: string, dryRun: boolean): Promise<LettersDone> => {
  const skipped = new Map<string, SkippedShape>();
  let redriven = 0;
  for (let cursor: string | undefined; ; ) {
    const body = JSON.stringify({ dryRun, cursor });
    const { value } = await api.post(`/dead-letters/${queue}/redrive`, body, LETTERS_REDRIVEN);
    const isNew = value.redriven > 0 || value.skipped.some(({ id }) => !skipped.has(id));
    redriven += value.redriven;
    for (const each of value.skipped) skipped.set(each.id, each);
    cursor = value.cursor;
    if (cursor === undefined || !isNew) return { queue, redriven, skipped: [...skipped.values()], left: value.left };
  }
};

const reportTasks = ({ redriven, skipped }: Done, { json, dryRun, target }: RedriveOptions): void => {
  const tasks = `${plural(redriven, 'task')} ${dryRun ? 'would get' : redriven === 1 ? 'gets' : 'get'} another run`;
  const isNothing = redriven === 0 && skipped.length === 0 && target !== undefined;
  const text = isNothing ? printable(`${target} has no failed tasks`) : tasks;
  console.log(json ? JSON.stringify({ ...(dryRun ? { dryRun } : {}), redriven, skipped }) : text);
  complain(skipped.map(({ id, reason }) => `${id}: ${reason}`));
};

const reportLetters = (done: readonly LettersDone[], { json, dryRun }: RedriveOptions): void => {
  if (json) console.log(JSON.stringify({ ...(dryRun ? { dryRun } : {}), queues: done }));
  else for (const each of done) console.log(lettersLine(each, dryRun === true));
  complain(done.flatMap(({ queue, skipped }) => skipped.map(({ id, reason }) => `${queue} ${id}: ${reason}`)));
};

const lettersLine = ({ queue, redriven, skipped, left }: LettersDone, dryRun: boolean): string => {
  const isRefused = queue === 'rejected';
  const one = isRefused ? 'refused message' : 'dead letter';
  if (redriven + skipped.length + left === 0) return `${queue}: no ${one}s`;
  if (dryRun)
    return `${queue}: ${plural(redriven, one)} would be sent again${isRefused ? ' where they would be taken' : ''}`;
  return `${queue}: ${plural(redriven, one)} sent again${left > 0 ? `, about ${left} left` : ''}`;
};

/** What was asked for and not done. */
const complain = (reasons: readonly string[]): void => {
  for (const reason of reasons.slice(0, 20)) console.error(printable(reason));
  if (reasons.length > 20) console.error(`… and ${reasons.length - 20} more`);
  if (reasons.length > 0) process.exitCode = 1;
};
