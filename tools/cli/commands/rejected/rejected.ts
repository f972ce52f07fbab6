/** `groupage rejected …`: lists rejected messages with their reasons, and sends them again or deletes them. */
import { Command } from 'commander';
import type * as z from 'zod/mini';
import type { Skipped } from '../../../../src/api/shared/answer-schemas.ts';
import { CommandFailure, WrongUsage } from '../../../failure.ts';
import { complain, plural, printJson } from '../../../terminal.ts';
import { LETTERS_DISCARDED, LETTERS_REDRIVEN } from '../../shared/answers.ts';
import type { ApiClient } from '../../shared/api-client.ts';
import { connectBecause, reasonOption, type WithReason } from '../../shared/connect.ts';
import { orInterrupted } from '../../shared/progress.ts';
import { listCommand } from './list.ts';
import { givenUpOption, oneOf, type QueueOptions, queueOf } from './queue.ts';

interface HandleOptions extends WithReason, QueueOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

export const rejectedCommand = (): Command => {
  const group = new Command('rejected')
    .description('list rejected messages with the reasons, send them again, or delete them')
    .addHelpText('after', '\nWithout a subcommand, `groupage rejected` lists the messages.');
  group.addCommand(listCommand(), { isDefault: true });
  group.addCommand(
    handling('redrive', 'send rejected messages again that would be accepted now').action(
      (ids: readonly string[], options: HandleOptions) => handle(REDRIVE, ids, options),
    ),
  );
  group.addCommand(
    handling('discard', 'delete rejected messages for good: their tasks are never registered').action(
      (ids: readonly string[], options: HandleOptions) => handle(DISCARD, ids, options),
    ),
  );
  return group;
};

const handling = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('[ids...]', 'ids of messages, as `groupage rejected` shows them')
    .option('--all', 'all messages of the queue instead of single ones')
    .addOption(givenUpOption())
    .option('--dry-run', 'only print what the command would do')
    .addOption(reasonOption());

/** Counts of one response, of either command. */
interface Answer {
  readonly done: number;
  readonly skipped: readonly Skipped[];
  readonly left: number;
  readonly cursor?: string | undefined;
}

interface Handling {
  readonly path: string;
  readonly all: Readonly<Record<string, unknown>>;
  readonly ask: (api: ApiClient, path: string, body: string) => Promise<Answer>;
  /** The participle that the output uses. */
  readonly done: string;
  readonly name: 'redriven' | 'discarded';
}

const asking =
  <Shape>(shape: z.ZodMiniType<Shape>, answer: (value: Shape) => Answer): Handling['ask'] =>
  async (api, path, body) =>
    answer((await api.post(path, body, shape)).value);

const REDRIVE: Handling = {
  path: 'redrive',
  all: {},
  ask: asking(LETTERS_REDRIVEN, ({ redriven, skipped, left, cursor }) => ({ done: redriven, skipped, left, cursor })),
  done: 'sent again',
  name: 'redriven',
};
const DISCARD: Handling = {
  path: 'discard',
  all: { all: true },
  ask: asking(LETTERS_DISCARDED, ({ discarded, skipped, left, cursor }) => ({
    done: discarded,
    skipped,
    left,
    cursor,
  })),
  done: 'deleted',
  name: 'discarded',
};

interface Total {
  done: number;
  /** Skipped messages by their ids, because a message may be received more than once. */
  readonly skipped: Map<string, Skipped>;
  left: number;
}

const handle = async (handling: Handling, ids: readonly string[], options: HandleOptions): Promise<void> => {
  if (ids.length > 0 === (options.all === true)) throw new WrongUsage('give either ids of messages or --all');
  const api = await connectBecause(options);
  const total: Total = { done: 0, skipped: new Map(), left: 0 };
  const tell = (stopped?: string): void => report(handling, total, options, stopped);
  try {
    await orInterrupted(
      () => {
        tell('interrupted');
        console.error('Interrupted. The last request may still take effect for up to ten seconds');
      },
      () => (options.all ? handleAll(api, handling, options, total) : handleIds(api, handling, ids, options, total)),
    );
  } catch (cause) {
    if (cause instanceof CommandFailure && total.done > 0) tell(cause.message);
    throw cause;
  }
  tell();
};

/** Maximum number of ids in one request. */
const IDS_AT_ONCE = 100;

const handleIds = async (
  api: ApiClient,
  { path, ask }: Handling,
  ids: readonly string[],
  options: HandleOptions,
  total: Total,
): Promise<void> => {
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const body = JSON.stringify({ ids: ids.slice(from, from + IDS_AT_ONCE), dryRun: options.dryRun });
    add(total, await ask(api, `/dead-letters/${queueOf(options)}/${path}`, body));
  }
};

/** Repeats the request until it finds only messages that were skipped before, because one request has a time limit. */
const handleAll = async (
  api: ApiClient,
  { path, all, ask }: Handling,
  options: HandleOptions,
  total: Total,
): Promise<void> => {
  for (let cursor: string | undefined; ; ) {
    const body = JSON.stringify({ ...all, dryRun: options.dryRun, cursor });
    const answer = await ask(api, `/dead-letters/${queueOf(options)}/${path}`, body);
    const isNew = answer.done > 0 || answer.skipped.some(({ id }) => !total.skipped.has(id));
    add(total, answer);
    cursor = answer.cursor;
    if (cursor === undefined || !isNew) return;
  }
};

const add = (total: Total, { done, skipped, left }: Answer): void => {
  total.done += done;
  total.left = left;
  for (const each of skipped) total.skipped.set(each.id, each);
};

const report = ({ done, name }: Handling, total: Total, options: HandleOptions, stopped?: string): void => {
  const { json, dryRun, all } = options;
  const queue = queueOf(options);
  const skipped = [...total.skipped.values()];
  if (json) {
    const counts = { [name]: total.done, skipped, left: total.left, stopped };
    console.log(printJson(JSON.stringify({ ...(dryRun ? { dryRun } : {}), ...counts })));
  } else if (all && total.done + skipped.length + total.left === 0) console.log(`no ${oneOf(queue)}s`);
  else {
    // All messages are only counted in a dry run, not read.
    const unless = dryRun && all && name === 'redriven' ? ' if accepted now' : '';
    const what = `${plural(total.done, oneOf(queue))} ${dryRun ? `would be ${done}${unless}` : done}`;
    console.log(`${what}${!dryRun && total.left > 0 ? `, about ${total.left} left in the queue` : ''}`);
    const unseen = total.left - skipped.length;
    if (!dryRun && all && unseen > 0)
      console.error(
        `About ${plural(unseen, 'message was', 'messages were')} not handled: another reader had received them, or they are new. Run the command again in 30 seconds`,
      );
  }
  complain(skipped.map(({ id, reason }) => `${id}: ${reason}`));
  if (skipped.length > 0) process.exitCode ||= 1;
};
