/** The options of `npm run verify:aws`. Pure. */
import { parseApi } from '../../lib/api-text.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { WrongUsage } from '../failure.ts';
import { parseOptions } from '../options.ts';
import { count } from '../simulate/figures.ts';
import { duration, type Reader, rate, wholeWithin } from '../simulate/name-values.ts';

export const USAGE = `npm run verify:aws -- --region REGION [OPTION…]: run Groupage in the AWS account of your credentials, and
write a page that compares what AWS did with the simulator's prediction

It deploys a stage of its own, runs the tests for deployed stacks, sends tasks, and removes everything but CDK's bootstrap.
It prints the predicted cost and asks before it begins.

  --region REGION   region of the run (default: the region of your AWS profile or environment)
  --burst TASKS     tasks of the burst, sent at up to 2000 a second (default: 100000)
  --rate RATE       tasks a second of the sustained load (default: 50/s)
  --duration TIME   duration of the sustained load, at most 1d (default: 1h)
  --targets COUNT   Targets of the tasks (default: 20)
  --budget DOLLARS  the run stops sending, and removes everything, when it has spent this much (default: 10)
  --no-suite        leave out the tests for deployed stacks, whose calls need a function URL
  --api API         how the stage's API is reached, as in npm run deploy. In regions without function URLs, use
                    --api http-api --no-suite
  --page FILE       the page (default: verify-aws.html)
  --yes             do not ask
  --remove          only remove what an earlier run left
`;

export interface Options {
  readonly region: string | undefined;
  /** Tasks of the burst; 0: no burst. */
  readonly burst: number;
  /** Tasks per second of the sustained load. */
  readonly rate: number;
  /** Duration of the sustained load. */
  readonly duration: Millis;
  readonly targets: number;
  /** In US dollars. */
  readonly budget: number;
  readonly suite: boolean;
  /** The option `api` of the stage. Undefined: that of cdk.json. */
  readonly api: string | undefined;
  readonly page: string;
  readonly yes: boolean;
  readonly removeOnly: boolean;
}

const DEFAULTS = {
  burst: '100000',
  rate: '50/s',
  duration: '1h',
  targets: '20',
  budget: '10',
  page: 'verify-aws.html',
};

/** The budget contains a fixed amount for the stage's alarms, metrics and logs, which cost more the longer it exists. */
const DURATION_MAX: Millis = 24 * 60 * MINUTE;

/** The most tasks of a run: at its end they are simulated in memory, all at once. */
const TASKS_MAX = 1_000_000;

/** @throws InvalidOption for `--api`, WrongUsage for the others: the option, its valid values, and the given value */
export const optionsOf = (args: readonly string[]): Options | 'help' => {
  const given = parsed(args);
  if (given.help) return 'help';
  const text = { ...DEFAULTS, ...given };
  const options: Options = {
    region: given.region,
    burst: read('burst', text.burst, wholeWithin(0, TASKS_MAX)),
    rate: read('rate', text.rate, rate),
    duration: read('duration', text.duration, duration),
    targets: read('targets', text.targets, wholeWithin(1, 10_000)),
    budget: read('budget', text.budget, dollars),
    suite: given.suite ?? true,
    api: given.api,
    page: text.page,
    yes: given.yes ?? false,
    removeOnly: given.remove ?? false,
  };
  if (options.duration > DURATION_MAX) throw wrong(`--duration takes at most 1d, not ${JSON.stringify(text.duration)}`);
  if (options.api !== undefined) parseApi(options.api);
  const sustained = (options.rate * options.duration) / 1_000;
  if (options.burst + sustained > TASKS_MAX)
    throw wrong(
      `--burst, --rate and --duration make ${count(options.burst + sustained)} tasks, more than ${count(TASKS_MAX)}`,
    );
  if (options.burst + sustained < 1) throw wrong('--burst, --rate and --duration make no task');
  return options;
};

const dollars: Reader<number> = {
  read: (text) => (/^\d{1,6}(\.\d{1,2})?$/.test(text) && Number(text) > 0 ? Number(text) : undefined),
  takes: 'an amount of US dollars above 0, such as 10',
};

const read = <T>(name: string, text: string, { read: reads, takes }: Reader<T>): T => {
  const value = reads(text);
  if (value === undefined) throw wrong(`--${name} takes ${takes}, not ${JSON.stringify(text)}`);
  return value;
};

const parsed = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    ...{ region: text, burst: text, rate: text, duration: text, targets: text, budget: text, page: text, api: text },
    ...{ suite: flag, yes: flag, remove: flag, help: flag },
  } as const;
  try {
    return parseOptions(args, options);
  } catch (cause) {
    throw wrong(reasonOf(cause), cause);
  }
};

const wrong = (problem: string, cause?: unknown): WrongUsage => new WrongUsage(`${problem}\n\n${USAGE}`, { cause });
