/** Gives advice about an operation: reads its configuration and figures, and runs the simulator for longer waits. */
import * as z from 'zod';
import type { Millis } from '../../../../src/domain/ids.ts';
import { CommandFailure } from '../../../failure.ts';
import { QUICK } from '../../../simulate/downstream.ts';
import type { Setting } from '../../../simulate/job.ts';
import { type SimulateAll, withThreads } from '../../../simulate/many.ts';
import { AWS, LOCAL } from '../../../simulate/platform.ts';
import type { Policy } from '../../../simulate/settings.ts';
import { stepsOf, type Tried, tryPolicies } from '../../../simulate/vary.ts';
import type { CallApi } from '../call.ts';
import type { MetricsSource } from '../metrics-feed.ts';
import type { Advice } from '../shapes.ts';
import { adviceFrom, isLike, isQuestion, nearestTo, otherLoad, type Present, questionFor } from './decide.ts';
import { type Measured, measuredIn } from './measured.ts';
import { policyFrom, type ShownPolicy } from './policy.ts';

/** Tasks of most simulations. Twenty simulations take one or two seconds of CPU time. */
const TASKS = 400;
/** More tasks are simulated if batches are large. */
const TASKS_MAX = 2_000;
/** A simulation has about this many batches of each Target. */
const WAITS = 6;
/** The longest simulated time. The sweep runs each minute of it. */
const LONGEST: Millis = 6 * 3_600_000;
/** How many numbers of Targets are simulated to find the load: first over the whole range, then near the best. */
const [COARSE, FINE] = [7, 4] as const;
/** Largest number of Targets that is read from the API. */
const TARGETS_READ = 100;

const CONFIGURATION = z.object({
  settings: z.array(z.object({ path: z.string(), value: z.unknown(), source: z.string() })),
});
const TARGETS = z.object({ targets: z.array(z.unknown()), cursor: z.string().optional() });
const PROBLEM = z.object({ detail: z.string() });

/** The API refused a call of the advice: the operation does not exist, or the release is older. */
export class NoConfiguration extends CommandFailure {}

/** @throws NoConfiguration @throws CommandFailure if the API or the metrics cannot be read */
export const advise = async (call: CallApi, metrics: MetricsSource, operation: string): Promise<Advice> => {
  const name = encodeURIComponent(operation);
  const { settings } = await read(call, `/v1/operations/${name}/configuration`, CONFIGURATION);
  const policy = policyFrom(operation, settings);
  const measured = measuredIn(await metrics.look(), operation);
  const question = questionFor(measured, policy);
  if (!isQuestion(question)) return question;
  const page = await read(call, `/v1/targets?operation=${name}&limit=${TARGETS_READ}`, TARGETS);
  const known = policy.hasOneTarget ? 1 : page.cursor === undefined ? page.targets.length : measured.tasks;
  const { from } = await metrics.about();
  return withThreads(async (simulateAll) => {
    const trying = simulated(simulateAll, measured, policy, from === 'this-process');
    const most = Math.max(1, Math.min(known, measured.tasks));
    const near = await fitted((targets) => trying(targets, question.now, [{}]), measured.fill * policy.maxSize, most);
    if (!near) return otherLoad(measured, policy);
    const longest = Math.max(question.now, ...question.values);
    const values = question.values.map((value) => ({ [question.setting]: value }));
    // The present policy is simulated again, because only simulations of the same tasks can be compared.
    const [tried, ...others] = await trying(near.targets, longest, [{}, ...values]);
    return adviceFrom(measured, policy, question, { ...near, tried: tried ?? near.tried }, others);
  });
};

const read = async <T>(call: CallApi, path: string, shape: z.ZodType<T>): Promise<T> => {
  const response = await call(new Request(`http://api.invalid${path}`));
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 404) throw new NoConfiguration(PROBLEM.safeParse(body).data?.detail ?? `there is no ${path}`);
  const found = shape.safeParse(body);
  if (!response.ok || !found.success)
    throw new CommandFailure(
      PROBLEM.safeParse(body).data?.detail ?? `the API answered ${path} with ${response.status}`,
    );
  return found.data;
};

/** Simulates policies with so many equally busy Targets. An empty policy is the present one. */
type Trying = (targets: number, longest: Millis, policies: readonly Policy[]) => Promise<readonly Tried[]>;

const simulated =
  (simulateAll: SimulateAll, measured: Measured, policy: ShownPolicy, isLocal: boolean): Trying =>
  async (targets, longest, policies) => {
    const perTarget = measured.tasks / measured.span / targets;
    // Targets fill their batches independently, so a part of them shows the same, and needs fewer tasks.
    const perBatch = Math.min(policy.maxSize, 1 + perTarget * longest);
    const part = Math.max(1, Math.min(targets, Math.floor(TASKS / (WAITS * perBatch))));
    const most = Math.min(TASKS_MAX, Math.max(TASKS, Math.ceil(WAITS * perBatch)));
    const rate = perTarget * part * 1_000;
    const setting: Setting = {
      source: {
        kind: 'load',
        operation: policy.operation,
        load: {
          ...{ rate, bursts: null, targets: part, skew: 0, payload: 300 },
          duration: Math.min(LONGEST, Math.max(WAITS * longest, (2 * most * 1_000) / rate)),
        },
      },
      downstream: measured.callTakes === undefined ? QUICK : { ...QUICK, takes: Math.round(measured.callTakes) },
      surroundings: isLocal ? LOCAL : AWS,
      seed: 1,
    };
    const subject = { input: policy.input, operation: policy.operation };
    return (await tryPolicies(simulateAll, subject, setting, policies, { most })).tried;
  };

/** Finds the number of Targets with which batches have the measured size. Undefined if there is none. */
const fitted = async (
  trying: (targets: number) => Promise<readonly Tried[]>,
  size: number,
  most: number,
): Promise<Present | undefined> => {
  // One after the other, so that one thread is busy and no more.
  const at = async (all: readonly number[]): Promise<readonly Present[]> => {
    const found: Present[] = [];
    for (const targets of all) for (const tried of await trying(targets)) found.push({ targets, tried });
    return found;
  };
  const counts = most === 1 ? [1] : stepsOf(1, most, COARSE);
  const coarse = await at(counts);
  const best = counts.indexOf(nearestTo(size, coarse)?.targets ?? 1);
  const [from = 1, to = most] = [counts[Math.max(0, best - 1)], counts[Math.min(counts.length - 1, best + 1)]];
  const finer = from === to ? [] : stepsOf(from, to, FINE).filter((each) => !counts.includes(each));
  const nearest = nearestTo(size, [...coarse, ...(await at(finer))]);
  return nearest && isLike(size, nearest) ? nearest : undefined;
};
