/** Decides which advice an operation's figures give, before and after the simulations. Pure. */
import { printDuration } from '../../../../src/domain/config/duration.ts';
import type { Millis } from '../../../../src/domain/ids.ts';
import { count, dollars, percent, span } from '../../../simulate/figures.ts';
import { kneeOf } from '../../../simulate/knee.ts';
import type { SettingName } from '../../../simulate/settings.ts';
import type { Tried } from '../../../simulate/vary.ts';
import type { Advice } from '../shapes.ts';
import type { Measured } from './measured.ts';
import type { ShownPolicy } from './policy.ts';

/** The setting that the simulations vary. */
export interface Question {
  readonly setting: Extract<SettingName, 'maxWait' | 'window' | 'quietPeriod'>;
  /** Its value at present, in ms. */
  readonly now: Millis;
  /** Longer values to simulate, in ms. */
  readonly values: readonly Millis[];
}

/** Fewer tasks or batches, or a shorter time, say too little about the load. */
const TASKS_MIN = 50;
const BATCHES_MIN = 10;
const SPAN_MIN: Millis = 15_000;
/** The measured time has to contain the wait this many times: otherwise few batches of each Target were sealed in it. */
const WAITS_MIN = 5;
/** From this fill on, batches are full enough. */
const FULL = 0.8;
/** Round values for a wait, in ms. */
const ROUND: readonly Millis[] = [
  100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];
/** The longest simulated wait, as a multiple of the present one; and without a wait, the longest in ms. */
const LONGER_MAX = 30;
const WITHOUT_WAIT_MAX: Millis = 10_000;
/** A smaller share of saved calls is not worth a longer wait. */
const SAVED_MIN = 0.2;
/** If simulated batches have a size that differs by more from the measured one, the load is of another kind. */
const DIFFERENCE_MAX = 0.25;

const rate = (perSecond: number): string =>
  perSecond > 1 ? `${count(perSecond)} tasks a second` : `${count(perSecond * 60)} tasks a minute`;

/** The measured figures, in one sentence. */
const sentenceOf = ({ tasks, span: over, batches, fill }: Measured, { maxSize }: ShownPolicy): string =>
  `In ${span(over)}, ${count(tasks)} tasks were registered (${rate((tasks * 1_000) / over)}) and ${count(batches)} batches sealed, with ${count(fill * maxSize)} tasks on average: ${percent(fill)} of batch.maxSize (${count(maxSize)}).`;

/** How to simulate other loads. */
const simulateIt = ({ operation }: ShownPolicy): string => `groupage simulate --operation ${operation} --trace FILE`;

/**
 * What to simulate, or the advice if no simulation is needed.
 *
 * @param measured the figures of the operation
 */
export const questionFor = (measured: Measured, policy: ShownPolicy): Question | Advice => {
  const { operation, wait, quietPeriod, waitSetting } = policy;
  const { tasks, batches, span: over, fill, sealedBy } = measured;
  const needed = Math.max(SPAN_MIN, WAITS_MIN * wait);
  if (tasks < TASKS_MIN || batches < BATCHES_MIN || over < needed)
    return {
      operation,
      kind: 'too-few-figures',
      text: `There are too few figures for advice: ${count(tasks)} tasks and ${count(batches)} batches${over > 0 ? ` in ${span(over)}` : ''}. It needs at least ${TASKS_MIN} tasks and ${BATCHES_MIN} batches, over at least ${span(needed)}.`,
    };
  const found = { operation, measured: sentenceOf(measured, policy) };
  const nothing = (text: string): Advice => ({ ...found, kind: 'nothing', text });
  if (policy.isMerging)
    return nothing(
      `This operation merges its tasks, whose inputs the figures do not show. Simulate recorded tasks: ${simulateIt(policy)}`,
    );
  if (fill >= FULL) return nothing('There is nothing to improve: its batches are full.');
  switch (sealedBy) {
    case 'bytes':
      return nothing('Most batches reach batch.maxBytes, so a longer wait would not fill them.');
    case 'weight':
      return nothing('Most batches reach batch.maxWeight, so a longer wait would not fill them.');
    case 'bypass':
      return nothing('Most batches have a task that skips the wait (bypass), so a longer wait would not fill them.');
    case 'flush':
      return nothing('Most batches were flushed by a user, so the figures do not show what the policy does.');
    case 'quiet':
      return {
        setting: 'quietPeriod',
        now: quietPeriod,
        values: longerThan(quietPeriod).filter((each) => each < wait),
      };
    case 'full':
    case 'waited':
    case undefined:
      return {
        setting: waitSetting,
        now: wait,
        values: longerThan(wait).filter((each) => waitSetting === 'maxWait' || each >= 1_000),
      };
  }
};

export const isQuestion = (of: Question | Advice): of is Question => 'setting' in of;

const longerThan = (now: Millis): readonly Millis[] =>
  ROUND.filter((each) => each > now && each <= (now === 0 ? WITHOUT_WAIT_MAX : now * LONGER_MAX));

/** The simulated present: the policy as it is, with as many Targets as reproduce the measured size of batches. */
export interface Present {
  readonly tried: Tried;
  /** Number of equally busy Targets. */
  readonly targets: number;
}

const differenceFrom = (size: number, { tried }: Present): number => Math.abs(tried.size - size) / size;

/** The simulated load whose batches have most nearly the measured size. */
export const nearestTo = (size: number, all: readonly Present[]): Present | undefined =>
  all.toSorted((a, b) => differenceFrom(size, a) - differenceFrom(size, b))[0];

/** Whether simulated batches have about the measured size. Otherwise tasks do not arrive at random times. */
export const isLike = (size: number, present: Present): boolean => differenceFrom(size, present) <= DIFFERENCE_MAX;

/** The advice if no simulated load has batches of the measured size. */
export const otherLoad = (measured: Measured, policy: ShownPolicy): Advice => ({
  operation: policy.operation,
  kind: 'other-load',
  measured: sentenceOf(measured, policy),
  text: `There is no advice, because simulated tasks at random times do not form batches of this size. The tasks may come in bursts or at regular times. Simulate recorded tasks: ${simulateIt(policy)}`,
});

/** @param tried the simulated longer waits, with the load of `present` */
export const adviceFrom = (
  measured: Measured,
  policy: ShownPolicy,
  { setting, now }: Question,
  present: Present,
  tried: readonly Tried[],
): Advice => {
  const found = { operation: policy.operation, measured: sentenceOf(measured, policy) };
  const saved = (each: Tried): number => 1 - each.calls / present.tried.calls;
  const better = bestOf(
    present.tried,
    tried.filter((each) => saved(each) >= SAVED_MIN),
  );
  if (!better)
    return {
      ...found,
      kind: 'nothing',
      text: `There is nothing to improve: a longer batch.${setting} would save less than ${percent(SAVED_MIN)} of the calls.`,
      basis: basisOf(present, policy),
    };
  const to = better.policy[setting] ?? now;
  const cheaper = present.tried.perMillion - better.perMillion;
  const cost = cheaper > 0 ? ` and about ${dollars(cheaper)} less per million tasks on AWS` : '';
  return {
    ...found,
    kind: 'change',
    change: { setting: `batch.${setting}`, from: printDuration(now), to: printDuration(to) },
    text: `With batch.${setting} ${printDuration(to)} instead of ${printDuration(now)}, a batch would have about ${count(Math.round(better.size * 10) / 10)} tasks: ${percent(saved(better))} fewer calls${cost}. In return a task would wait ${span(better.wait.mean)} on average instead of ${span(present.tried.wait.mean)}, and at most about ${span(better.wait.p99)}.`,
    basis: basisOf(present, policy),
  };
};

/** The value beyond which a longer wait saves few calls; or, if calls fall evenly, the shortest with half of the saving. */
const bestOf = (present: Tried, better: readonly Tried[]): Tried | undefined => {
  const point = (of: Tried) => ({ wait: of.wait.p99, calls: of.calls, cost: of.perMillion, of });
  const knee = kneeOf([present, ...better].map(point))?.of;
  if (knee && knee !== present) return knee;
  const least = Math.min(...better.map(({ calls }) => calls));
  return better
    .toSorted((a, b) => a.wait.p99 - b.wait.p99)
    .find(({ calls }) => present.calls - calls >= (present.calls - least) / 2);
};

const basisOf = ({ targets, tried }: Present, policy: ShownPolicy): string =>
  `Simulated with the measured rate, spread evenly over ${targets === 1 ? 'one Target' : `about ${count(targets)} Targets`}, which gives ${count(Math.round(tried.size * 10) / 10)} tasks per batch with the present settings. For another load: ${simulateIt(policy)}`;
