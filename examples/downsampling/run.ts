/**
 * Many overlapping requests, and jobs that take three minutes to start: one job per request beside one job for all
 * requests of a window.
 *
 *   npm run example:downsampling                    71 requests within one window, then nine of them again
 *   npm run example:downsampling -- --scattered     six requests for three products
 *   npm run example:downsampling -- --windows       300 over five windows
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { plural, table } from '../../tools/terminal.ts';
import { burst, type Request, scattered, WINDOW, windows } from './requests.ts';
import { type Runner, startRunner } from './runner.ts';
import { oneJobEach, startGroupage } from './ways.ts';

/** Time to start a job, in minutes. */
const START_UP = 3;
const PER_SCENE = 1 / 60;

const usage = (): never => {
  console.error(
    'usage: npm run example:downsampling -- [--scattered | --windows] [--cap N] [--scale 2…300: speed factor]',
  );
  process.exit(2);
};

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        scattered: { type: 'boolean', default: false },
        windows: { type: 'boolean', default: false },
        cap: { type: 'string', default: '25' },
        scale: { type: 'string', default: '60' },
      },
    }).values;
  } catch {
    return usage();
  }
};

const options = readOptions();
const [cap, scale] = [Number(options.cap), Number(options.scale)];
if (!Number.isInteger(cap) || cap < 1 || !(scale >= 2 && scale <= 300) || (options.scattered && options.windows))
  usage();
const minute = Math.round(60_000 / scale);
const requests = options.windows ? windows() : options.scattered ? scattered() : burst();

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const minutes = (span: number): number => Math.round(span / minute);

/** Computes the figures of one way from the runner's records and from the times of the results. */
const figures = (runner: Runner, done: ReadonlyMap<string, number>, from: number, skipped: number) => {
  const waits = requests.map(({ id, at }) => (done.get(id) ?? Number.NaN) - (from + at * minute));
  return {
    'requests done': done.size,
    'jobs started': runner.jobs.length,
    'most jobs at once': runner.mostAtOnce,
    'refused for the cap': runner.refused,
    'inputs done': sum(runner.jobs.map(({ inputs }) => inputs)),
    'inputs skipped': skipped,
    'minutes of start-ups': minutes(sum(runner.jobs.map(({ startedAt, readyAt = startedAt }) => readyAt - startedAt))),
    'longest wait, minutes': minutes(Math.max(...waits)),
  };
};

const runners = await Promise.all(
  ['each', 'merged'].map(() => startRunner({ startUp: START_UP * minute, perInput: PER_SCENE * minute, cap })),
);
const [each, merged] = runners as [Runner, Runner];
const groupage = await startGroupage(merged, { minute });

/** Waits for the next window, which begins at a multiple of its length. */
const nextWindow = async (): Promise<number> => {
  const from = Math.ceil((Date.now() + 100) / (WINDOW * minute)) * WINDOW * minute;
  await setTimeout(from - Date.now());
  return from;
};

const asked = sum(requests.map(({ scenes }) => scenes.length));
const products = new Set(requests.map(({ product }) => product)).size;
const different = new Set(requests.flatMap(({ product, scenes }) => scenes.map(({ id }) => `${product}/${id}`))).size;
const inWindows = new Set(requests.map(({ at }) => Math.floor(at / WINDOW))).size;
console.log(
  `${plural(requests.length, 'request')} within ${plural(inWindows, 'window')} of ${WINDOW} minutes, for ${plural(products, 'product')}. They ask for ${plural(asked, 'input')}, ${different.toLocaleString('en')} of them different.
A job takes ${START_UP} minutes to start; at most ${cap} run at once. The example runs ${scale} times as fast.\n`,
);

const from = await nextWindow();
const [doneEach, doneMerged] = await Promise.all([
  oneJobEach(each, requests, from, { minute }),
  groupage.run(requests, from),
]);
const [alone, together] = [figures(each, doneEach, from, 0), figures(merged, doneMerged, from, groupage.skipped)];
const lines = Object.entries(alone).map(([name, value]) => [name, value, together[name as keyof typeof together]]);
console.log(`${table(['', 'one job each', 'with Groupage'], lines as (string | number)[][])}\n`);
console.log(
  `${plural(asked, 'input')} merged into ${together['inputs done'].toLocaleString('en')}; ${plural(alone['minutes of start-ups'] - together['minutes of start-ups'], 'minute')} of start-ups saved.`,
);

/** In the next window, repeats requests that are already done. */
const askAgain = async (some: readonly Request[]): Promise<number> => {
  const [jobs, skipped] = [merged.jobs.length, groupage.skipped];
  const again = some.map((request) => ({ ...request, id: `${request.id}-again` }));
  const done = await groupage.run(again, await nextWindow());
  console.log(
    `Asked again, ${plural(done.size, 'request')}: ${plural(merged.jobs.length - jobs, 'job')} started, ${plural(groupage.skipped - skipped, 'input')} skipped.`,
  );
  return again.length - done.size;
};
const failedAgain = options.windows || options.scattered ? 0 : await askAgain(requests.slice(0, 9));

await groupage.stop();
await Promise.all(runners.map((runner) => runner.stop()));
const failed = 2 * requests.length - doneEach.size - doneMerged.size + failedAgain;
if (failed > 0) {
  console.error(`\n${plural(failed, 'request')} failed`);
  process.exitCode = 1;
}
