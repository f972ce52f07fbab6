/** `groupage watch`: a live overview in the terminal. */
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Command } from 'commander';
import pLimit from 'p-limit';
import { CommandFailure } from '../../failure.ts';
import { lowerBound, shortLowerBound } from '../../lower-bounds.ts';
import { ago, cut, dim, green, plural, printable, printJson, red } from '../../terminal.ts';
import { BATCH, type BatchShape, type OperationShape, type TargetShape } from '../shared/answers.ts';
import { type ApiClient, ApiFailure } from '../shared/api-client.ts';
import { everyOption } from '../shared/arguments.ts';
import { type CommonOptions, connect } from '../shared/connect.ts';
import { allTargets, CONCURRENCY, listed, operationsOf } from '../shared/pages.ts';
import { troubleOf } from './operations.ts';

interface WatchOptions extends CommonOptions {
  readonly every: number;
  readonly once?: boolean;
}

export const watchCommand = (): Command =>
  new Command('watch')
    .description('watch Targets live: waiting tasks, leaders, batches, fill and failures')
    .option('--every <seconds>', 'seconds between two updates', everyOption, 1)
    .option('--once', 'print one snapshot and exit (default if the output is not a terminal)')
    .action((options: WatchOptions) => watch(options));

/** Maximum number of Targets that are read. If there are more, the summary says so. */
const LISTED = 1_000;
/** Maximum number of Targets whose batches are read too: the most urgent Targets, as many as fit on the screen. */
const SHOWN_MAX = 100;
const BATCHES_EACH = 5;

const look = async (api: ApiClient, shown: number): Promise<Snapshot> => {
  const targets = (await allTargets(api, LISTED)).toSorted(byUrgency);
  const atOnce = pLimit(CONCURRENCY);
  const batchesOf = (target: string) => listed(api, 'batches', BATCH, { target }, BATCHES_EACH);
  const rows = await Promise.all(
    targets.map(async (target, index) => ({
      ...target,
      batches: index < Math.min(shown, SHOWN_MAX) ? await atOnce(() => batchesOf(target.target)) : [],
    })),
  );
  const operations = await statesOf(api);
  return { url: api.url, at: Date.now(), rows, operations, isAll: targets.length < LISTED };
};

/** An API of an earlier release does not have this route. */
const statesOf = async (api: ApiClient): Promise<readonly OperationShape[]> => {
  try {
    return (await operationsOf(api)).value.operations;
  } catch (cause) {
    if (cause instanceof ApiFailure && cause.status === 404) return [];
    throw cause;
  }
};

const watch = async ({ every, once, ...options }: WatchOptions): Promise<void> => {
  const { json } = options;
  const api = await connect(options);
  if (once || json || !process.stdout.isTTY) {
    const snapshot = await look(api, SHOWN_MAX);
    console.log(
      json
        ? printJson(JSON.stringify(snapshot))
        : draw(snapshot, { width: process.stdout.columns ?? 120, height: Number.POSITIVE_INFINITY }),
    );
    return;
  }
  await live(api, every);
};

/** In raw mode, the terminal sends Ctrl-C as a character instead of a signal. */
const CTRL_C = '\u0003';
const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const NORMAL_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_TO_END_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** While a stack restarts, show the error instead of ending the command. */
const pictureOf = async (api: ApiClient, screen: Screen): Promise<string> => {
  try {
    return draw(await look(api, screen.height), screen);
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return `groupage watch\n\n${red(printable(cause.message))}\n${dim('Retrying …  q quits')}`;
  }
};

/** Redraws on the alternate screen until q or Ctrl-C. */
const live = async (api: ApiClient, every: number): Promise<void> => {
  const { stdin, stdout } = process;
  const stop = new AbortController();
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    stop.abort();
  };
  const onKey = (key: Buffer): void => {
    if (key.toString() === CTRL_C) interrupt();
    if (['q', '\u001b'].includes(key.toString())) stop.abort();
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onKey);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  const stopped = new Promise<undefined>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(undefined));
  });
  stdout.write(ALTERNATE_SCREEN);
  try {
    while (!stop.signal.aborted) {
      const from = performance.now();
      const picture = await Promise.race([pictureOf(api, { width: stdout.columns, height: stdout.rows }), stopped]);
      if (picture === undefined) break;
      stdout.write(
        `${HOME}${picture.replaceAll('\n', `${CLEAR_TO_END_OF_LINE}\n`)}${CLEAR_TO_END_OF_LINE}${CLEAR_BELOW}`,
      );
      // With many Targets, a snapshot may take long. Wait at least as long as the snapshot took, to limit the load on
      // the stack.
      const pause = Math.max(every * 1_000, performance.now() - from);
      await setTimeout(pause, undefined, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    stdout.write(NORMAL_SCREEN);
    stdin.off('data', onKey);
    stdin.setRawMode?.(false);
    stdin.pause();
    if (isInterrupted) console.log('Stopped.');
  }
};

export interface Snapshot {
  readonly url: string;
  readonly at: number;
  readonly rows: readonly (TargetShape & { readonly batches: readonly BatchShape[] })[];
  readonly operations: readonly OperationShape[];
  /** Whether the snapshot contains all Targets. */
  readonly isAll: boolean;
}

export interface Screen {
  readonly width: number;
  readonly height: number;
}

type Row = Snapshot['rows'][number];

const BAR = 10;

/** One screen as text. Pure, so that it can be tested without a terminal. */
export const draw = (snapshot: Snapshot, { width, height }: Screen): string => {
  const { rows, at, url } = snapshot;
  const heading = [
    `${'groupage watch'}  ${dim(`${url}  ${new Date(at).toTimeString().slice(0, 8)}  q quits`)}`,
    summary(snapshot),
    ...troubles(snapshot),
    '',
  ];
  if (rows.length === 0)
    return [...heading, 'No task has been registered yet. Send one:  groupage send OPERATION PAYLOAD'].join('\n');
  const isNarrow = width < 100;
  const columns = columnsOf(isNarrow);
  const taken = columns.reduce((sum, column) => sum + column.width + GAP.length, 0);
  const nameWidth = Math.min(Math.max(...rows.map(({ target }) => target.length), 6), Math.max(18, width - taken));
  const inColumns = ([name = '', ...cells]: readonly string[]): string =>
    [name.padEnd(nameWidth), ...cells.map((cell, index) => padded(cell, columns[index]?.width ?? 0, index === 0))]
      .join(GAP)
      .trimEnd();
  const paused = new Set(snapshot.operations.filter((each) => each.paused).map(({ operation }) => operation));
  const shown = rows.map((row) => ({ ...row, isHeldUp: paused.has(row.operation) }));
  const lines = shown.toSorted(byUrgency).map((row) => inColumns(cellsOf(row, nameWidth, at, isNarrow)));
  const room = Math.max(1, height - heading.length - 2);
  const more = lines.length > room ? [dim(`… and ${lines.length - room} more`)] : [];
  return [...heading, dim(inColumns(['TARGET', ...columns.map(({ name }) => name)])), ...lines.slice(0, room), ...more]
    .map((text) => cut(text, width))
    .join('\n');
};

const summary = ({ rows, isAll }: Snapshot): string => {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const batches = rows.flatMap((row) => row.batches).filter(({ fill }) => fill !== undefined);
  const failed = sum(failedOf);
  const fill =
    batches.length === 0
      ? ''
      : ` · recent batches ${Math.round((batches.reduce((total, batch) => total + (batch.fill ?? 0), 0) / batches.length) * 100)}% full`;
  const tasks = lowerBound(
    sum((row) => row.waiting),
    rows.some(({ waitingIsAtLeast }) => waitingIsAtLeast),
  );
  const waiting = `${tasks} waiting in ${isAll ? '' : 'the first '}${plural(rows.length, 'Target')}`;
  return `${waiting} · ${plural(
    sum(({ leader }) => (leader ? 1 : 0)),
    'leader',
  )}${fill}${failed > 0 ? ` · ${red(`${plural(failed, 'task')} failed`)}` : ''}`;
};

/** Maximum number of operations with problems that are listed, so that a small screen also shows Targets. */
const TROUBLES_SHOWN = 3;

/** Lines about operations with a problem. */
const troubles = ({ operations, at }: Snapshot): string[] => {
  const all = operations.flatMap((operation) => troubleOf(operation, at) ?? []);
  const more = all.length - TROUBLES_SHOWN;
  return [
    ...all.slice(0, TROUBLES_SHOWN).map((trouble) => red(printable(trouble))),
    ...(more > 0 ? [red(`… and ${plural(more, 'operation')} more: groupage operations`)] : []),
  ];
};

/** Targets with the most waiting tasks first, then those with the newest batch. */
const byUrgency = (a: TargetShape & Moved, b: TargetShape & Moved): number =>
  b.waiting - a.waiting ||
  Number(b.leader !== null) - Number(a.leader !== null) ||
  (b.batches?.[0]?.createdAt ?? '').localeCompare(a.batches?.[0]?.createdAt ?? '') ||
  a.target.localeCompare(b.target);

/** Failed tasks in the batches shown. */
const failedOf = ({ batches }: Row): number => batches.reduce((total, { counts }) => total + (counts?.failed ?? 0), 0);

interface Moved {
  readonly batches?: readonly BatchShape[];
}

/**
 * @param row has `isHeldUp` if its operation is paused. Its Targets then wait for the resume in the slot queue in which
 * they otherwise wait for a free slot.
 */
const cellsOf = (row: Row & HeldUp, nameWidth: number, now: number, isNarrow: boolean): string[] => {
  const [last] = row.batches;
  const failed = failedOf(row);
  const target = printable(row.target);
  const name = target.length > nameWidth ? `…${target.slice(-nameWidth + 1)}` : target;
  return [
    name,
    shortLowerBound(row.waiting, row.waitingIsAtLeast),
    ago(row.oldestAt, now),
    stateOf(row),
    failed > 0 ? red(failed.toLocaleString('en')) : '',
    last ? `${status(last)} ${ago(last.createdAt, now)}` : '',
    last ? fillOf(last, isNarrow) : '',
  ];
};

interface HeldUp {
  readonly isHeldUp: boolean;
}

const stateOf = ({ openBatch, paused, blocked, leader, isHeldUp }: Row & HeldUp): string => {
  if (openBatch) return 'sealing';
  if (paused || (blocked && isHeldUp)) return red('paused');
  if (blocked) return 'blocked';
  return leader ? 'waiting' : '';
};

const fillOf = ({ fill = 0, size }: BatchShape, isNarrow: boolean): string =>
  isNarrow ? `${Math.round(fill * 100)}%` : `${bar(fill)} ${size}`;

const status = ({ status, attempt }: BatchShape): string => {
  if (status === 'succeeded') return green(status);
  if (status === 'in-progress') return attempt > 1 ? red(`attempt ${attempt}`) : status;
  return status === 'sealed' || status === 'forming' ? status : red(printable(status));
};

const bar = (fill: number): string =>
  `${'█'.repeat(Math.round(fill * BAR))}${'░'.repeat(BAR - Math.round(fill * BAR))}`;

const GAP = '  ';

/** Columns after the Target's name, with their widths. The narrow columns fit into 80 characters. */
const columnsOf = (isNarrow: boolean): readonly { readonly name: string; readonly width: number }[] => [
  { name: 'WAITING', width: 7 },
  { name: 'OLDEST', width: 6 },
  { name: 'LEADER', width: 7 },
  { name: 'FAILED', width: 6 },
  { name: 'LAST BATCH', width: isNarrow ? 17 : 20 },
  { name: 'FILL', width: isNarrow ? 4 : 15 },
];

/** Pads by visible width: colour codes have none. */
const padded = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - stripVTControlCharacters(text).length));
  return right ? space + text : text + space;
};
