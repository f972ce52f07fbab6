/** "Is all well?": what is failing, late, paused or shut off, the worst first; in sentences with a way to see more. Pure. */

import type { Operation } from '../../../../../src/api/operations/responses.ts';
import type { Queues } from '../../../../../src/api/queues/responses.ts';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import { type MetricName, REPAIRED } from '../../../../../src/domain/events/metrics.ts';
import type { MetricsView } from '../../../server/shapes.ts';
import { age, clock, count, duration, plural, relative } from '../base/format.ts';
import type { Route } from '../base/router.ts';
import { isFull } from './operation-rows.ts';
import { lastSeen, totalOf } from './series.ts';
import type { Tone } from './words.ts';

export interface Trouble {
  readonly tone: Extract<Tone, 'bad' | 'warn'>;
  /** A word for what it is. */
  readonly word: string;
  /** A sentence. */
  readonly text: string;
  /** What to do, or what happens by itself. */
  readonly next: string;
  readonly route: Route;
}

export interface HealthInput {
  readonly operations: readonly Operation[];
  readonly queues: Queues | undefined;
  readonly targets: readonly Target[];
  readonly metrics: MetricsView | undefined;
  readonly now: number;
}

export interface Health {
  readonly troubles: readonly Trouble[];
  /** A sentence: in one go, whether all is well. */
  readonly headline: string;
  /** Since when, where all is well. */
  readonly since: string;
}

/** An API of an earlier version does not say from when on a task is late (ms). */
const LATE = 5 * 60_000;

const WRONG: readonly MetricName[] = [
  'TasksFailed',
  'TasksRejected',
  'DownstreamErrors',
  'CircuitOpened',
  'CallbacksFailed',
  'DeadLettersUnreadable',
  ...REPAIRED,
];

export const healthOf = (input: HealthInput): Health => {
  const troubles = [
    ...input.operations.flatMap((operation) => ofOperation(operation, input)),
    ...ofQueues(input),
    ...ofMetrics(input),
    ...ofTargets(input),
  ].toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
  return { troubles, headline: headlineOf(troubles), since: sinceWhen(input) };
};

const headlineOf = (troubles: readonly Trouble[]): string => {
  if (troubles.length === 0) return 'All is well';
  const bad = troubles.filter(({ tone }) => tone === 'bad').length;
  return bad > 0
    ? `${plural(bad, 'thing')} ${bad === 1 ? 'needs' : 'need'} attention`
    : 'Working, with something to know';
};

const sinceWhen = ({ metrics, now }: HealthInput): string => {
  if (!metrics) return 'There are no metrics: what failed a while ago is not seen here.';
  if (metrics.series.length === 0) return 'Nothing has happened yet that could fail.';
  const last = lastSeen(metrics, WRONG);
  return last === undefined
    ? `Nothing went wrong since ${clock(metrics.from, now)}, as far as the metrics go back.`
    : `Nothing went wrong since ${clock(last + metrics.step, now)}.`;
};

const ofOperation = (
  { operation, paused, circuit, failures, waitingTargets, waitingTargetsIsAtLeast, slots }: Operation,
  { now }: HealthInput,
): Trouble[] => {
  const route: Route = { view: 'operation', name: operation };
  const since = paused ? relative(Date.parse(paused.since), now) : '';
  if (circuit === 'open')
    return [
      {
        tone: 'bad',
        word: 'circuit open',
        text: `${operation} is not called: ${failures} attempts in a row came to nothing${since ? `, the last ${since}` : ''}.`,
        next: paused?.until ? tryingAgain(Date.parse(paused.until), now) : 'It is tried again by itself.',
        route,
      },
    ];
  if (paused)
    return [
      {
        tone: 'warn',
        word: 'paused',
        text: `${operation} was paused ${since}${paused.reason ? `: ${paused.reason}` : ', without a reason'}.`,
        next: 'Nothing of it is sealed until somebody resumes it.',
        route,
      },
    ];
  if (circuit === 'half-open')
    return [
      {
        tone: 'warn',
        word: 'circuit half open',
        text: `${operation} is tried again: its next call decides.`,
        next: 'If it fails too, the circuit opens again.',
        route,
      },
    ];
  if (!isFull({ waitingTargets, slots })) return [];
  const full = slots ? `: ${slots.taken} of ${slots.total} slots are taken` : '';
  return [
    {
      tone: 'warn',
      word: 'no room',
      text: `${count(waitingTargets, waitingTargetsIsAtLeast)} Targets of ${operation} wait for room${full}.`,
      next: 'They go on as batches end. If none does, look at those that hold the slots.',
      route,
    },
  ];
};

const tryingAgain = (until: number, now: number): string =>
  until > now ? `The next batch tries again in ${age(until - now)}, by itself.` : 'The next batch tries again.';

const ofQueues = ({ queues }: HealthInput): Trouble[] => {
  const route: Route = { view: 'failures' };
  const dead = (queues?.queues ?? []).filter(({ deadLetters }) => deadLetters > 0);
  const letters = dead.map(
    ({ queue, deadLetters }): Trouble => ({
      tone: 'bad',
      word: 'dead letters',
      text: `${plural(deadLetters, 'message')} of the ${queue} queue failed ${queue === 'callback' ? 'too often' : 'five times'}.`,
      next: 'The sweep sends them again each minute; mend what they failed for, or send them now.',
      route,
    }),
  );
  const { rejected = 0 } = queues ?? {};
  const refused: Trouble = {
    tone: 'warn',
    word: 'refused',
    text: `${plural(rejected, 'message')} ${rejected === 1 ? 'was' : 'were'} refused, and ${rejected === 1 ? 'lies' : 'lie'} in the rejected queue with the reasons.`,
    next: 'They stay until somebody mends them, or sends them again.',
    route,
  };
  const { givenUp = 0 } = queues ?? {};
  const untaken: Trouble = {
    tone: 'bad',
    word: 'given up',
    text: `${plural(givenUp, 'event')} ${givenUp === 1 ? 'was' : 'were'} given up: no destination took ${givenUp === 1 ? 'it' : 'them'} for three days.`,
    next: 'They stay until a person has them sent again, or deletes them.',
    route,
  };
  return [...letters, ...(givenUp > 0 ? [untaken] : []), ...(rejected > 0 ? [refused] : [])];
};

const ofMetrics = ({ metrics, now }: HealthInput): Trouble[] => {
  if (!metrics) return [];
  const shown = duration(Math.max(metrics.step, now - Math.max(metrics.from, metrics.totals.since)));
  const failed = totalOf(metrics, 'TasksFailed');
  const repaired = REPAIRED.reduce((sum, metric) => sum + totalOf(metrics, metric), 0);
  const untold = totalOf(metrics, 'CallbacksFailed');
  const ofOne = (amount: number, trouble: Trouble): Trouble[] => (amount > 0 ? [trouble] : []);
  return [
    ...ofOne(failed, {
      tone: 'bad',
      word: 'failed',
      text: `${plural(failed, 'task')} failed in the last ${shown}.`,
      next: 'See them by cause; once that is mended they can have another run.',
      route: { view: 'failures' },
    }),
    ...ofOne(untold, {
      tone: 'warn',
      word: 'callbacks',
      text: `${plural(untold, 'try', 'tries')} to deliver a callback came to nothing in the last ${shown}.`,
      next: 'The tasks have their results all the same. Mend the destination; the sweep delivers then.',
      route: { view: 'failures' },
    }),
    ...ofOne(repaired, {
      tone: 'warn',
      word: 'repaired',
      text: `${plural(repaired, 'thing')} that stood still ${repaired === 1 ? 'was' : 'were'} repaired in the last ${shown}.`,
      next: 'Nothing to do. If it goes on, `groupage doctor` says what it is.',
      route: { view: 'targets' },
    }),
  ];
};

const ofTargets = ({ targets, operations, now }: HealthInput): Trouble[] => {
  const held = new Set(operations.filter(({ paused }) => paused !== undefined).map(({ operation }) => operation));
  const limits = new Map(
    operations.flatMap(({ operation, lateAfterSeconds: seconds }) =>
      seconds === undefined ? [] : [[operation, seconds * 1_000] as const],
    ),
  );
  const paused = targets.filter((target) => target.paused);
  const late = targets.filter(
    (target) =>
      target.oldestAt !== undefined &&
      !target.paused &&
      !target.blocked &&
      !held.has(target.operation) &&
      now - Date.parse(target.oldestAt) > (limits.get(target.operation) ?? LATE),
  );
  const [oldest] = late.toSorted((a, b) => (a.oldestAt ?? '').localeCompare(b.oldestAt ?? ''));
  return [
    ...(oldest
      ? [
          {
            tone: 'warn' as const,
            word: 'late',
            text: `${plural(late.length, 'Target')} ${late.length === 1 ? 'has' : 'have'} tasks that wait for longer than they should, the oldest for ${age(now - Date.parse(oldest.oldestAt ?? ''))}.`,
            next: 'Flush it, and ask `groupage doctor` what stands still.',
            route: { view: 'target' as const, target: oldest.target },
          },
        ]
      : []),
    ...paused.slice(0, 3).map((target) => ({
      tone: 'warn' as const,
      word: 'paused',
      text: `${target.target} was paused ${relative(Date.parse(target.paused?.since ?? ''), now)}${target.paused?.reason ? `: ${target.paused.reason}` : ''}.`,
      next: 'Nothing of it is sealed until somebody resumes it.',
      route: { view: 'target' as const, target: target.target },
    })),
  ];
};
