/**
 * Searches for the cheapest policy that meets all aims. It simulates a grid of `maxWait`, `maxSize` and `quietPeriod` with the
 * first tasks of the trace, refines the grid around the best policy, and then simulates the whole trace. The search is
 * deterministic.
 *
 * It never raises `maxSize` above the configured value, which the downstream may need.
 */

import type { Operation } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { type Aim, isMet, missedBy } from './aims.ts';
import type { Setting } from './job.ts';
import { withThreads } from './many.ts';
import { type Policy, policyOf } from './settings.ts';
import { type Subject, stepsOf, type Tried, tryPolicies } from './vary.ts';

export interface Recommended {
  /** The recommended policy, simulated with the whole trace; undefined if no policy meets all aims. */
  readonly proposed: Tried | undefined;
  /** The policy nearest to the aims, if none meets all of them. */
  readonly nearest: Tried | undefined;
  /** Aims that can be met one by one, but not together. */
  readonly contradicting: readonly Aim[];
  /** Aims that no policy meets, even alone. */
  readonly unmet: readonly Aim[];
  readonly simulations: number;
}

/** Number of tasks in the first simulations. */
const SAMPLE = 20_000;
const WAITS = 8;
const FINER = 5;
const ROUNDS = 2;
/** Costs within this factor count as equal; the shorter wait decides then. */
const SAME_COST = 1.01;

/** The longest `maxWait` that is simulated. If batches fill early, tasks wait less than `maxWait`, so it may exceed an aim. */
const LONGEST: Millis = 600_000;
const BEYOND_AIM = 4;

/** @param options.tasks number of tasks in the whole trace @param options.onDone called after each simulation */
export const recommend = (
  subject: Subject,
  operation: Operation,
  setting: Setting,
  aims: readonly Aim[],
  { tasks, onDone }: { readonly tasks: number; readonly onDone: () => void },
): Promise<Recommended> =>
  withThreads(async (simulateAll) => {
    let simulations = 0;
    const counted = (): void => {
      simulations += 1;
      onDone();
    };
    const trying: Trying = async (policies, most) =>
      (await tryPolicies(simulateAll, subject, setting, policies, { onDone: counted, most })).tried;
    const found = await search(operation, aims, trying, tasks);
    return { ...found, simulations };
  });

/** Simulates policies with the first `most` tasks, or with all. */
type Trying = (policies: readonly Policy[], most?: number) => Promise<readonly Tried[]>;

const search = async (
  operation: Operation,
  aims: readonly Aim[],
  trying: Trying,
  tasks: number,
): Promise<Omit<Recommended, 'simulations'>> => {
  const isShort = tasks <= SAMPLE;
  const first = (tried: readonly Tried[]) => bestOf(tried, aims).find((each) => meetsAll(each, aims));
  const sampled = await searched(operation, aims, (policies) => trying(policies, SAMPLE));
  const best = bestOf(sampled, aims).slice(0, CONFIRMED);
  const whole = isShort ? sampled : await trying(best.map(({ policy }) => policy));
  // The start of a trace may not be representative: search again with the whole trace.
  const all = isShort || first(whole) ? whole : await searched(operation, aims, trying);
  const proposed = first(all);
  if (proposed) return { proposed, nearest: undefined, contradicting: [], unmet: [] };
  // Also simulate longer waits than the aims allow, to see whether the other aims can be met.
  const far = await trying(patient(operation, longestFor(aims)), SAMPLE);
  return { proposed, nearest: bestOf(all, aims)[0], ...whyNot([...all, ...far], aims) };
};

/** Number of policies that are simulated with the whole trace. */
const CONFIRMED = 4;

const searched = async (operation: Operation, aims: readonly Aim[], trying: Trying): Promise<readonly Tried[]> => {
  let tried = await trying([policyOf(operation, NAMES), ...gridOf(operation, longestFor(aims))]);
  for (let round = 0; round < ROUNDS; round += 1) tried = [...tried, ...(await trying(between(tried, aims)))];
  return tried;
};

const NAMES = ['maxWait', 'maxSize', 'quietPeriod'] as const;

const SHORTEST: Millis = 100;

const longestFor = (aims: readonly Aim[]): Millis =>
  Math.min(LONGEST, ...aims.filter(({ isWait }) => isWait).map(({ bound }) => Math.max(1_000, bound * BEYOND_AIM)));

/** Policies with longer waits than the aims allow. */
const patient = ({ batch }: Operation, from: Millis): readonly Policy[] =>
  from >= LONGEST
    ? []
    : stepsOf(from, LONGEST, FINER).map((maxWait) => ({ maxWait, maxSize: batch.maxSize, quietPeriod: 0 }));

/**
 * The policies of the grid. The quiet period is a share of `maxWait`. Operations that merge use windows, which have no
 * quiet period.
 */
const gridOf = ({ batch, merge }: Operation, longest: Millis): readonly Policy[] =>
  [0, ...stepsOf(Math.min(SHORTEST, longest / 2), longest, WAITS)].flatMap((maxWait) =>
    [...new Set([batch.maxSize, Math.ceil(batch.maxSize / 4)])].flatMap((maxSize) => {
      const quiet = Math.round(maxWait / 8);
      const policy = { maxWait, maxSize, quietPeriod: 0 };
      return quiet === 0 || merge !== null ? [policy] : [policy, { ...policy, quietPeriod: quiet }];
    }),
  );

/** Policies with waits between that of the best policy and its simulated neighbours, in geometric steps. */
const between = (tried: readonly Tried[], aims: readonly Aim[]): readonly Policy[] => {
  const [best] = bestOf(tried, aims);
  if (!best) return [];
  const { maxWait = 0, quietPeriod = 0 } = best.policy;
  const waits = [...new Set(tried.map(({ policy }) => policy.maxWait ?? 0))].sort((a, b) => a - b);
  const at = waits.indexOf(maxWait);
  const [below, above] = [waits[at - 1] ?? maxWait, waits[at + 1] ?? maxWait];
  const steps = [...stepsBetween(below, maxWait), ...stepsBetween(maxWait, above)];
  return steps.map((wait) => ({
    ...best.policy,
    maxWait: wait,
    quietPeriod: quietPeriod === 0 ? 0 : Math.round((wait * quietPeriod) / maxWait),
  }));
};

const stepsBetween = (from: Millis, to: Millis): readonly Millis[] =>
  from >= to ? [] : stepsOf(from, to, FINER).filter((each) => each > from && each < to);

const meetsAll = (tried: Tried, aims: readonly Aim[]): boolean => aims.every((aim) => isMet(aim, tried));

const missed = (tried: Tried, aims: readonly Aim[]): number => aims.reduce((sum, aim) => sum + missedBy(aim, tried), 0);

/** Sorts policies: first those that meet the aims, by cost, and by wait if costs are equal. */
const bestOf = (tried: readonly Tried[], aims: readonly Aim[]): readonly Tried[] => {
  const meeting = tried.filter((each) => meetsAll(each, aims));
  const others = tried.filter((each) => !meeting.includes(each)).sort((a, b) => missed(a, aims) - missed(b, aims));
  const cheapest = Math.min(...meeting.map(({ perDay }) => perDay));
  const cheap = meeting.filter(({ perDay }) => perDay <= cheapest * SAME_COST);
  const dear = meeting.filter((each) => !cheap.includes(each));
  return [
    ...cheap.sort((a, b) => a.wait.p99 - b.wait.p99 || a.perDay - b.perDay),
    ...dear.sort((a, b) => a.perDay - b.perDay),
    ...others,
  ];
};

/**
 * Finds the aims that no policy meets even if they are the only aim, and among the other aims a minimal set that no
 * policy meets together.
 */
const whyNot = (tried: readonly Tried[], aims: readonly Aim[]): Pick<Recommended, 'unmet' | 'contradicting'> => {
  const isPossible = (some: readonly Aim[]): boolean => tried.some((each) => meetsAll(each, some));
  const unmet = aims.filter((aim) => !isPossible([aim]));
  const others = aims.filter((aim) => !unmet.includes(aim));
  if (isPossible(others)) return { unmet, contradicting: [] };
  // An aim is not part of the contradiction if the rest is impossible without it too.
  const contradicting = others.reduce((some, aim) => {
    const without = some.filter((each) => each !== aim);
    return isPossible(without) ? some : without;
  }, others);
  return { unmet, contradicting };
};
