/** `groupage redrive`: runs failed tasks again, and sends dead letters again. */
import { Command, Option } from 'commander';
import type { Skipped } from '../../../src/api/shared/answer-schemas.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { complain, plural, printable, printJson } from '../../terminal.ts';
import { DEAD_LETTERS as LETTERS_LYING, LETTERS_REDRIVEN, TASKS_REDRIVEN } from '../shared/answers.ts';
import type { ApiClient } from '../shared/api-client.ts';
import { connectBecause, reasonOption, type WithReason } from '../shared/connect.ts';
import { orInterrupted } from '../shared/progress.ts';
import { failuresOf } from './failures.ts';

interface RedriveOptions extends WithReason {
  readonly target?: string;
  readonly deadLetters?: string;
  readonly cause?: string;
  readonly dryRun?: boolean;
}

/** Queues whose dead letters the sweep also sends again. Rejected messages and given-up events wait for this command. */
const DEAD_LETTERS = ['register', 'elect', 'group', 'batch', 'callback'];

export const redriveCommand = (): Command =>
  new Command('redrive')
    .description('run failed tasks again, or send dead letters again now')
    .argument('[ids...]', 'ids of failed tasks')
    .option('--target <target>', 'redrive all failed tasks of this Target')
    .addOption(
      new Option(
        '--dead-letters <queue>',
        'send again the dead letters of one queue or of all five queues (all), rejected messages (rejected), or given-up events (given-up). `all` leaves out rejected messages and given-up events, because their cause must be fixed first',
      ).choices([...DEAD_LETTERS, 'all', 'rejected', 'given-up']),
    )
    .option(
      '--cause <key>',
      'redrive all tasks that failed for this cause; `groupage failures` shows the keys of the causes',
    )
    .option('--dry-run', 'only print what the command would do')
    .addOption(reasonOption())
    .addHelpText(
      'after',
      `
A repeated redrive does no harm. A rejected message is sent again only if it would be accepted now; \`groupage rejected\`
shows the reasons. \`--dead-letters all\` sends neither rejected messages nor given-up events.

Examples:
  groupage redrive 01JD2Y0FQZ4XB8 01JD2Y0FR05MTW
  groupage redrive --target report-flights/origin=MUC --dry-run
  groupage redrive --cause 3bXq0Zk1_f
  groupage redrive --dead-letters all`,
    )
    .action((ids: readonly string[], options: RedriveOptions) => redrive(ids, options));

const redrive = async (ids: readonly string[], options: RedriveOptions): Promise<void> => {
  const { target, deadLetters, cause, dryRun = false } = options;
  if ([ids.length > 0, ...[target, deadLetters, cause].map((each) => each !== undefined)].filter(Boolean).length !== 1)
    throw new WrongUsage('give one of: ids of tasks, --target, --cause, --dead-letters');
  const api = await connectBecause(options);
  if (deadLetters !== undefined) {
    const done: DeadLettersDone[] = [];
    const leftOut: string[] = [];
    return telling(
      async () => {
        const { queues, others } =
          deadLetters === 'all' ? await thoseThere(api) : { queues: [deadLetters], others: [] };
        leftOut.push(...others);
        await redriveDeadLettersOf(api, queues, dryRun, done);
      },
      (stopped) => {
        reportDeadLetters(done, options, stopped);
        for (const line of leftOut) console.error(line);
      },
    );
  }
  const done: Done = { redriven: 0, skipped: [] };
  return telling(
    async () => {
      if (target !== undefined) return redriveTarget(api, target, dryRun, done);
      return redriveIds(api, cause === undefined ? ids : await idsOf(api, cause), dryRun, done);
    },
    (stopped) => reportTasks(done, options, stopped),
  );
};

/** Does some work and reports what was done, even after an error or Ctrl-C. */
const telling = async (work: () => Promise<void>, tell: (stopped?: string) => void): Promise<void> => {
  try {
    await orInterrupted(() => {
      tell('interrupted');
      console.error('Interrupted. The last request may still take effect for up to ten seconds');
    }, work);
  } catch (cause) {
    if (cause instanceof CommandFailure) tell(cause.message);
    throw cause;
  }
  tell();
};

interface Done {
  redriven: number;
  readonly skipped: Skipped[];
}

/** Maximum number of ids in one request. */
const IDS_AT_ONCE = 1_000;

const redriveIds = async (api: ApiClient, ids: readonly string[], dryRun: boolean, done: Done): Promise<void> => {
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    await ask(api, { ids: ids.slice(from, from + IDS_AT_ONCE), dryRun }, done);
};

const redriveTarget = async (api: ApiClient, target: string, dryRun: boolean, done: Done): Promise<void> => {
  let cursor: string | undefined;
  do cursor = await ask(api, { target, cursor, dryRun }, done);
  while (cursor !== undefined);
};

/** @throws CommandFailure if no failed task has this cause. */
const idsOf = async (api: ApiClient, cause: string): Promise<readonly string[]> => {
  const { groups } = await failuresOf(api, Number.POSITIVE_INFINITY);
  const group = groups.find(({ key }) => key === cause);
  if (!group)
    throw new CommandFailure(`no failed task has the cause ${cause}. List the causes with: groupage failures`);
  return group.ids;
};

/** @returns the next page's cursor. */
const ask = async (api: ApiClient, request: object, done: Done): Promise<string | undefined> => {
  const { value } = await api.post('/tasks/redrive', JSON.stringify(request), TASKS_REDRIVEN);
  done.redriven += value.redriven;
  done.skipped.push(...value.skipped);
  return value.cursor;
};

/** The queues with dead letters that this stack has, and what the word `all` leaves out. Not every stack has a callback queue. */
const thoseThere = async (
  api: ApiClient,
): Promise<{ readonly queues: readonly string[]; readonly others: readonly string[] }> => {
  const { queues } = (await api.get('/dead-letters', LETTERS_LYING)).value;
  return {
    queues: DEAD_LETTERS.filter((name) => queues.some(({ queue }) => queue === name)),
    others: queues.flatMap(({ queue, messages }) => (messages > 0 ? leftOut(queue, messages) : [])),
  };
};

/** Their cause must be fixed first, so `all` does not include them. */
const leftOut = (queue: string, messages: number): readonly string[] => {
  if (queue === 'rejected')
    return [
      `${plural(messages, 'rejected message')} left out. Read the reasons: groupage rejected. Send them again: groupage rejected redrive --all`,
    ];
  if (queue === 'given-up')
    return [
      `${plural(messages, 'given-up event')} left out. See them: groupage rejected --given-up. Send them again: groupage rejected redrive --all --given-up`,
    ];
  return [];
};

interface DeadLettersDone {
  readonly queue: string;
  redriven: number;
  /** Skipped messages by their ids, because a message may be received more than once. */
  readonly skipped: Map<string, Skipped>;
  /** Approximate number of messages left in the queue. */
  left: number;
}

/** @param done gets an entry for each queue with the first response about that queue. */
const redriveDeadLettersOf = async (
  api: ApiClient,
  queues: readonly string[],
  dryRun: boolean,
  done: DeadLettersDone[],
): Promise<void> => {
  for (const queue of queues) await redriveQueue(api, queue, dryRun, done);
};

/**
 * Repeats the request until all messages of the queue are handled, because one request has a time limit. A skipped
 * message becomes visible again after half a minute, so the repetition ends after a request that finds only messages
 * that were skipped before.
 */
const redriveQueue = async (api: ApiClient, queue: string, dryRun: boolean, done: DeadLettersDone[]): Promise<void> => {
  const ofQueue: DeadLettersDone = { queue, redriven: 0, skipped: new Map(), left: 0 };
  for (let cursor: string | undefined; ; ) {
    const body = JSON.stringify({ dryRun, cursor });
    const { value } = await api.post(`/dead-letters/${queue}/redrive`, body, LETTERS_REDRIVEN);
    if (done.at(-1) !== ofQueue) done.push(ofQueue);
    const isNew = value.redriven > 0 || value.skipped.some(({ id }) => !ofQueue.skipped.has(id));
    ofQueue.redriven += value.redriven;
    ofQueue.left = value.left;
    for (const each of value.skipped) ofQueue.skipped.set(each.id, each);
    cursor = value.cursor;
    if (cursor === undefined || !isNew) return;
  }
};

/** @param stopped why the command ended early. */
const reportTasks = ({ redriven, skipped }: Done, { json, dryRun, target }: RedriveOptions, stopped?: string): void => {
  const isNothing = redriven === 0 && skipped.length === 0;
  // Nothing was done: the reason is reported as the error.
  if (isNothing && stopped !== undefined) return;
  const tasks = `${plural(redriven, 'task')} ${dryRun ? 'would run' : redriven === 1 ? 'runs' : 'run'} again`;
  const text = isNothing && target !== undefined ? printable(`${target} has no failed tasks`) : tasks;
  console.log(json ? printJson(JSON.stringify({ ...(dryRun ? { dryRun } : {}), redriven, skipped, stopped })) : text);
  notDone(skipped.map(({ id, reason }) => `${id}: ${reason}`));
};

const reportDeadLetters = (
  done: readonly DeadLettersDone[],
  { json, dryRun }: RedriveOptions,
  stopped?: string,
): void => {
  if (done.length === 0) return;
  const queues = done.map((each) => ({ ...each, skipped: [...each.skipped.values()] }));
  if (json) console.log(printJson(JSON.stringify({ ...(dryRun ? { dryRun } : {}), queues, stopped })));
  else for (const each of done) console.log(deadLettersLine(each, dryRun === true));
  notDone(queues.flatMap(({ queue, skipped }) => skipped.map(({ id, reason }) => `${queue} ${id}: ${reason}`)));
};

const deadLettersLine = ({ queue, redriven, skipped, left }: DeadLettersDone, dryRun: boolean): string => {
  const isRefused = queue === 'rejected' || queue === 'given-up';
  const one = queue === 'rejected' ? 'rejected message' : queue === 'given-up' ? 'given-up event' : 'dead letter';
  if (redriven + skipped.size + left === 0) return `${queue}: no ${one}s`;
  // The messages were counted, not read: some may not be valid messages of this queue.
  if (dryRun && !isRefused) return `${queue}: at most ${plural(redriven, one)} would be sent again`;
  if (dryRun) return `${queue}: ${plural(redriven, one)} would be sent again if accepted now`;
  return `${queue}: ${plural(redriven, one)} sent again${left > 0 ? `, about ${left} left in the queue` : ''}`;
};

/** Reports what was not done. */
const notDone = (reasons: readonly string[]): void => {
  complain(reasons);
  if (reasons.length > 0) process.exitCode ||= 1;
};
