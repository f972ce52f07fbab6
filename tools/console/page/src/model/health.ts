/**
 * The health summary: what fails, is late, is paused or has an open circuit. The worst comes first. Each problem has a
 * sentence and a link to details. Pure.
 */

import type { RemovedOperation } from '../../../../../src/api/doctor/responses.ts';
import type { Operation } from '../../../../../src/api/operations/responses.ts';
import type { Queues } from '../../../../../src/api/queues/responses.ts';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import { type MetricName, REPAIRED } from '../../../../../src/domain/events/metrics.ts';
import { workLeft } from '../../../../work-left.ts';
import type { MetricsView } from '../../../server/shapes.ts';
import { age, capital, clock, count, duration, plural, relative } from '../base/format.ts';
import type { Route } from '../base/router.ts';
import { isFull } from './operation-rows.ts';
import { lastSeen, totalOf } from './series.ts';
import { mainReason, nextStep, oldestOf, underWayWords } from './under-way.ts';
import type { Tone } from './words.ts';

export interface Trouble {
  readonly tone: Extract<Tone, 'bad' | 'warn'>;
  /** A short label for the problem. */
  readonly word: string;
  /** A sentence that says what happened. */
  readonly text: string;
  /** What happens automatically, or what the user should do. */
  readonly next: string;
  readonly route: Route;
}

export interface HealthInput {
  readonly operations: readonly Operation[];
  readonly queues: Queues | undefined;
  readonly targets: readonly Target[];
  /** Paused Targets, also others than `targets`. @default - those of `targets` */
  readonly paused?: readonly Target[];
  /** Operations that are no longer configured and have work left. */
  readonly removed?: readonly RemovedOperation[];
  readonly metrics: MetricsView | undefined;
  readonly now: number;
}

export interface Health {
  readonly troubles: readonly Trouble[];
  /** A sentence that says whether there are problems. */
  readonly headline: string;
  /** A text that says since when there have been no problems. */
  readonly since: string;
}

/**
 * Age from which a task is late, in milliseconds. Used only if the API comes from an early release and does not send
 * this age.
 */
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
    ...ofRemoved(input),
    ...ofQueues(input),
    ...ofMetrics(input),
    ...ofTargets(input),
  ].toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
  return { troubles, headline: headlineOf(troubles), since: sinceWhen(input) };
};

const headlineOf = (troubles: readonly Trouble[]): string => {
  if (troubles.length === 0) return 'All is well';
  const bad = troubles.filter(({ tone }) => tone === 'bad').length;
  return bad > 0 ? `${plural(bad, 'problem')} ${bad === 1 ? 'needs' : 'need'} attention` : 'Working, with warnings';
};

const sinceWhen = ({ metrics, now }: HealthInput): string => {
  if (!metrics) return 'There are no metrics, so earlier failures are not shown here.';
  if (metrics.series.length === 0) return 'There was no activity recently.';
  const last = lastSeen(metrics, WRONG);
  return last === undefined
    ? `No problem since ${clock(metrics.from, now)}, when the metrics begin.`
    : `No problem since ${clock(last + metrics.step, now)}.`;
};

const ofOperation = (
  {
    operation,
    paused,
    circuit,
    failures,
    lastFailure,
    waitingTargets,
    waitingTargetsIsAtLeast,
    slots,
    underWay,
  }: Operation,
  { now }: HealthInput,
): Trouble[] => {
  const route: Route = { view: 'operation', name: operation };
  const since = paused ? relative(Date.parse(paused.since), now) : '';
  if (circuit === 'open')
    return [
      {
        tone: 'bad',
        word: 'circuit open',
        text: `${operation} makes no calls, because its circuit is open: ${failures} attempts in a row failed${since ? `, the last ${since}` : ''}${lastFailure ? `: ${lastFailure}` : ''}. Tasks wait; nothing is lost.`,
        next: paused?.until
          ? tryingAgain(Date.parse(paused.until), now)
          : 'A later batch tries the downstream again by itself.',
        route,
      },
    ];
  if (paused)
    return [
      {
        tone: 'warn',
        word: 'paused',
        text: `${operation} was paused ${since}${paused.reason ? `: ${paused.reason}` : ', without a reason'}. Tasks wait; nothing is lost.`,
        next: 'To go on, open the operation and resume it.',
        route,
      },
    ];
  if (circuit === 'half-open')
    return [
      {
        tone: 'warn',
        word: 'circuit half open',
        text: `The next attempt of ${operation} decides whether its circuit closes.${lastFailure ? ` The last one failed: ${lastFailure}` : ''}`,
        next: 'Nothing to do. If the attempt fails, the circuit opens again.',
        route,
      },
    ];
  const retried = beingRetried(operation, underWay, now, route);
  if (!isFull({ waitingTargets, slots })) return retried;
  const full = slots ? `: ${slots.taken} of ${slots.total} slots are taken` : '';
  return [
    ...retried,
    {
      tone: 'warn',
      word: 'no free slot',
      text: `${capital(count(waitingTargets, waitingTargetsIsAtLeast))} Targets of ${operation} wait for a free slot${full}.`,
      next: 'They continue as batches end. If no batch ends, check the batches that hold the slots.',
      route,
    },
  ];
};

const beingRetried = (operation: string, underWay: Operation['underWay'], now: number, route: Route): Trouble[] =>
  underWay && underWay.retried > 0
    ? [
        {
          tone: 'warn',
          word: 'retrying',
          text: `${operation}: ${count(underWay.tasks, underWay.isAtLeast)} tasks in ${plural(underWay.batches, 'batch', 'batches')} have no result: ${underWayWords(underWay)}. The oldest was registered ${oldestOf(underWay, now)} ago.${mainReason(underWay) ? ` Reason: ${mainReason(underWay)}.` : ''}`,
          next: nextStep(mainReason(underWay)),
          route,
        },
      ]
    : [];

const tryingAgain = (until: number, now: number): string =>
  until > now
    ? `A batch tries the downstream again in ${age(until - now)}, by itself.`
    : 'The next batch tries the downstream again.';

const ofRemoved = ({ removed = [] }: HealthInput): Trouble[] =>
  removed.map((each) => ({
    tone: 'warn',
    word: 'not configured',
    text: `${each.operation} is no longer configured, but has work left: ${workLeft(each)}. These tasks wait; nothing is lost.`,
    next: 'Configure the operation again: its tasks continue.',
    route: { view: 'operations' },
  }));

const ofQueues = ({ queues }: HealthInput): Trouble[] => {
  const route: Route = { view: 'failures' };
  const dead = (queues?.queues ?? []).filter(({ deadLetters }) => deadLetters > 0);
  const letters = dead.map(
    ({ queue, deadLetters }): Trouble => ({
      tone: 'bad',
      word: 'dead letters',
      text: `${plural(deadLetters, 'message')} of the ${queue} queue failed ${queue === 'callback' ? 'too often' : 'five times'}.`,
      next: 'SQS keeps them for 14 days. Fix the cause; the sweep then sends them again, or send them now.',
      route,
    }),
  );
  const { rejected = 0 } = queues ?? {};
  const refused: Trouble = {
    tone: 'warn',
    word: 'rejected',
    text: `${plural(rejected, 'message')} ${rejected === 1 ? 'was' : 'were'} rejected. ${rejected === 1 ? 'It is' : 'They are'} in the rejected queue with the reasons.`,
    next: 'Read the reasons, fix the cause, then send them again or discard them.',
    route: { view: 'rejected' },
  };
  const { givenUp = 0 } = queues ?? {};
  const untaken: Trouble = {
    tone: 'bad',
    word: 'given up',
    text: `${plural(givenUp, 'event')} ${givenUp === 1 ? 'was' : 'were'} given up: delivery of ${givenUp === 1 ? 'it' : 'them'} failed for three days.`,
    next: 'They stay in their queue. Fix the destination, then send them again or discard them.',
    route: { view: 'given-up' },
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
      next: 'See them by cause. Fix the cause, then redrive them.',
      route: { view: 'failures' },
    }),
    ...ofOne(untold, {
      tone: 'warn',
      word: 'callbacks',
      text: `${plural(untold, 'attempt')} to deliver a callback failed in the last ${shown}.`,
      next: 'The tasks keep their results. Fix the destination; delivery is repeated for three days.',
      route: { view: 'failures' },
    }),
    ...ofOne(repaired, {
      tone: 'warn',
      word: 'repaired',
      text: `${plural(repaired, 'stuck Target or batch', 'stuck Targets or batches')} ${repaired === 1 ? 'was' : 'were'} repaired in the last ${shown}.`,
      next: 'Nothing to do. If repairs go on, run `groupage doctor`.',
      route: { view: 'targets' },
    }),
  ];
};

const ofTargets = ({ targets, paused = [], operations, now }: HealthInput): Trouble[] => {
  const held = new Set(operations.filter(({ paused }) => paused !== undefined).map(({ operation }) => operation));
  const limits = new Map(
    operations.flatMap(({ operation, lateAfterSeconds: seconds }) =>
      seconds === undefined ? [] : [[operation, seconds * 1_000] as const],
    ),
  );
  const here = targets.filter((target) => target.paused);
  const all = [...here, ...paused.filter(({ target }) => !here.some((each) => each.target === target))];
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
            text: `${plural(late.length, 'Target')} ${late.length === 1 ? 'has' : 'have'} tasks that wait longer than they should. The oldest has waited for ${age(now - Date.parse(oldest.oldestAt ?? ''))}.`,
            next: 'Flush the Target, and run `groupage doctor` to find what is stuck.',
            route: { view: 'target' as const, target: oldest.target },
          },
        ]
      : []),
    ...pausedTroubles(all, now),
  ];
};

/** Paused Targets: up to three by name, or their number for each operation. */
const pausedTroubles = (targets: readonly Target[], now: number): Trouble[] => {
  if (targets.length <= NAMED)
    return targets.map((target) => ({
      tone: 'warn',
      word: 'paused',
      text: `${target.target} was paused ${relative(Date.parse(target.paused?.since ?? ''), now)}${target.paused?.reason ? `: ${target.paused.reason}` : ''}. Its tasks wait; nothing is lost.`,
      next: 'To go on, open the Target and resume it.',
      route: { view: 'target', target: target.target },
    }));
  const operations = [...new Set(targets.map(({ operation }) => operation))];
  return operations.map((operation) => {
    const own = targets.filter((each) => each.operation === operation);
    return {
      tone: 'warn',
      word: 'paused',
      text: `${plural(own.length, 'Target')} of ${operation} ${own.length === 1 ? 'is' : 'are'} paused. Their tasks wait; nothing is lost.`,
      next: 'To go on, resume each of them.',
      route: { view: 'targets', operation, sort: 'paused' },
    };
  });
};

/** Number of paused Targets that are shown by name. */
const NAMED = 3;
