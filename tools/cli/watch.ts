/** `groupage watch`: the flow, live in a terminal. */
import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import pLimit from 'p-limit';
import { CommandFailure } from '../failure.ts';
import { BATCH, type CommonOptions, type OperationShape } from '../shapes.ts';
import { dim, printable, printJson, red } from '../terminal.ts';
import { type ApiClient, ApiFailure } from './api-client.ts';
import { connect } from './connect.ts';
import { operationsOf } from './operations.ts';
import { allTargets, CONCURRENCY, listed } from './pages.ts';
import { everyOption } from './reading.ts';
import { byUrgency, draw, type Screen, type Snapshot } from './watch-view.ts';

interface WatchOptions extends CommonOptions {
  readonly every: number;
  readonly once?: boolean;
}

export const watchCommand = (): Command =>
  new Command('watch')
    .description('watch the flow: waiting tasks, leaders, batches, fill, failures')
    .option('--every <seconds>', 'how often to look', everyOption, 1)
    .option('--once', 'look once (also when the output is no terminal)')
    .action((options: WatchOptions) => watch(options));

/** Targets that are listed; whoever has more learns that these are not all. */
const LISTED = 1_000;
/** Of the most urgent of them, as many as are shown, the batches are looked at too. */
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

/** A stack that was deployed with an earlier version has none. */
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

const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const NORMAL_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_TO_END_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** A stack that is restarted comes back: until then the picture says why there is none. */
const pictureOf = async (api: ApiClient, screen: Screen): Promise<string> => {
  try {
    return draw(await look(api, screen.height), screen);
  } catch (cause) {
    if (!(cause instanceof CommandFailure)) throw cause;
    return `groupage watch\n\n${red(printable(cause.message))}\n${dim('Looking again …  q quits')}`;
  }
};

/** Draws again and again, on a screen of its own, until q or Ctrl-C. */
const live = async (api: ApiClient, every: number): Promise<void> => {
  const { stdin, stdout } = process;
  const stop = new AbortController();
  const onKey = (key: Buffer): void => {
    if (['q', '\u0003', '\u001b'].includes(key.toString())) stop.abort();
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onKey);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
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
      // Looking must not become the work: with many Targets it takes a while, and rests for as long.
      const pause = Math.max(every * 1_000, performance.now() - from);
      await setTimeout(pause, undefined, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    stdout.write(NORMAL_SCREEN);
    stdin.off('data', onKey);
    stdin.setRawMode?.(false);
    stdin.pause();
  }
};
