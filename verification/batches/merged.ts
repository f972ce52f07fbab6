/** Schedules whose operation merges, and what must hold in them: judged by what was sent and answered. */

import { membersOf } from '../../src/domain/batches/batch.ts';
import { type Config, operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import type { BatchId, Millis, Target } from '../../src/domain/ids.ts';
import { type Age, ageOf, isNewer, isOlder } from '../../src/domain/tasks/age.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { seeded, seedOf } from '../../src/virtual/random.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { withOperations } from './configurations.ts';
import { type Evidence, sentPayloads } from './evidence.ts';
import { PER_PARTITION } from './partitions.ts';
import type { Scenario } from './scenario.ts';

/** The same schedule, of requests for a few inputs in two versions. */
export const merging = (scenario: Scenario): Scenario => ({
  ...scenario,
  config: withOperations(scenario.config, ({ batch, concurrency }) => ({
    shards: 1,
    // Whether a message fits must not be a matter of the name that its queue gives it.
    batch: { ...batch, maxBytes: Math.max(400, batch.maxBytes) },
    merge: { keys: 'inputs[].id' },
    concurrency: { ...concurrency, perTarget: 1 },
  })),
  sends: scenario.sends.map(({ body, ...each }) => ({ ...each, body: withInputs(body, scenario.seed) })),
});

/** The same for the same task, whoever sends it. Some have none, and are refused. */
const withInputs = (body: string, seed: number): string => {
  const json = parseJson(body);
  if (!json.ok || !isObject(json.value) || !isObject(json.value.payload)) return body;
  const { id, payload } = json.value;
  const random = seeded(seedOf(seed, `inputs of ${JSON.stringify([id, payload])}`));
  if (random.chance(0.03)) return body;
  const inputs = Array.from({ length: random.int(0, 4) }, () => ({
    id: random.int(1, 6),
    version: random.chance(0.8) ? 1 : 2,
  }));
  return JSON.stringify({ ...json.value, payload: { ...payload, inputs } });
};

/** Whether an operation's calls are jobs for many: not every task is asked about then. */
export const merges = (config: Config, operation: Parameters<typeof operationFor>[1]): boolean =>
  operationFor(config, operation).merge !== null;

/** What a job did, as its caller heard it. */
interface Done {
  readonly target: Target;
  readonly key: string;
  readonly text: string;
  readonly at: Millis;
  /** Of the request that brought the text. @default - unknown, since the job reported later */
  readonly age?: Age | undefined;
}

/** Writes for which a function has time after its call, half of it, where all are of one key. */
const MOST_INPUTS = (PER_PARTITION.write * 5) / 2;

/** A moment in which what was done is remembered. */
const SOON: Millis = 1_000;

/** @throws Violation */
export const checkMerged = (evidence: Evidence): void => {
  const { config, tables, log, isCalm } = evidence;
  const payloads = sentPayloads(evidence);
  const byTask = new Map([...payloads].map(([id, payload]) => [id as string, textsByKey(payload)]));
  const inputsOf: InputsOf = (id) => byTask.get(id) ?? NO_INPUTS;
  const calls = log.calls.filter(({ call }) => merges(config, call.operation));
  for (const { call } of calls) {
    const keys = (call.inputs ?? []).map(keyOfText);
    demand(keys.length > 0 && new Set(keys).size === keys.length, 'a job gets each input once', call);
    const isBounded = call.items.length === 1 || keys.length <= MOST_INPUTS;
    demand(isBounded, 'a job has no more inputs than are remembered in time', { inputs: keys.length });
    const texts = new Set(call.items.flatMap(({ id }) => [...inputsOf(id).values()]));
    demand(call.inputs?.every((text) => texts.has(text)) === true, 'a job gets what its requests need', call);
  }
  for (const { call } of calls) for (const text of call.inputs ?? []) checkNewest(tables, call, text, inputsOf);
  const ageIn: AgeIn = (call, key) => newestOf(agesOf(tables, call, key, inputsOf));
  const answered = calls.flatMap((logged) =>
    doneBy(logged, inputsOf).map((each) => ({ ...each, age: ageIn(logged.call, each.key) })),
  );
  const reported = log.reports.flatMap((report) => doneByReport(report, calls, inputsOf));
  const done = [...answered, ...reported];
  /** Every text of a key in a batch: the latest of them is done for all. */
  const textsIn = (batch: BatchId, key: string): ReadonlySet<string | undefined> => {
    const stored = tables.batches.get(batch);
    return new Set(stored ? membersOf(stored).map((id) => inputsOf(id).get(key)) : []);
  };
  const bringers = [...tables.tasks.values()].filter(({ operation }) => merges(config, operation));
  /** Whether a request that is newer than this one brings the text: it is done for both. */
  const isOfNewer = ({ target, key, text }: Done, than: Age): boolean =>
    bringers.some(
      (each) => each.target === target && inputsOf(each.id).get(key) === text && isNewer(ageOf(each), than),
    );
  for (const task of bringers) {
    const { id, state, target } = task;
    if (state.status !== 'succeeded' || state.batchId === undefined) continue;
    for (const key of inputsOf(id).keys()) {
      const texts = textsIn(state.batchId, key);
      const ofKey = done.filter((each) => each.target === target && each.key === key);
      const isDone = ofKey.some((each) => texts.has(each.text) || isOfNewer(each, ageOf(task)));
      demand(isDone, 'a request succeeds when its inputs were done', { id, key, state });
    }
  }
  if (!isCalm) return;
  checkNothingTwice(calls, done, answered);
  checkNothingOlder(calls, done, ageIn);
};

type InputsOf = (id: string) => ReadonlyMap<string, string>;
const NO_INPUTS: ReadonlyMap<string, string> = new Map();

/** Of the requests of a job that need an input, the age of the newest. */
type AgeIn = (call: LoggedCall['call'], key: string) => Age | undefined;

/** The ages of the requests of a job that need an input. */
const agesOf = (
  { tasks }: Evidence['tables'],
  { items }: LoggedCall['call'],
  key: string,
  inputsOf: InputsOf,
): readonly Age[] =>
  items.flatMap(({ id }) => {
    const task = tasks.get(id);
    return task && inputsOf(id).has(key) ? [ageOf(task)] : [];
  });

const newestOf = (ages: readonly Age[]): Age | undefined =>
  ages.reduce<Age | undefined>((best, age) => (best && !isNewer(age, best) ? best : age), undefined);

/** Of the requests that a job is for, the newest one brings an input's text. */
const checkNewest = (tables: Evidence['tables'], call: LoggedCall['call'], text: string, inputsOf: InputsOf): void => {
  const key = keyOfText(text);
  const wanting = agesOf(tables, call, key, inputsOf);
  const newest = newestOf(wanting);
  const brings = newest && inputsOf(newest.id).get(key);
  demand(brings === undefined || brings === text, 'a job gets the newest text of an input', { key, text, wanting });
};

/**
 * Where nothing goes wrong a job does not get what one before it did, unless another text came in between.
 *
 * @param answered what was done as its caller heard at once: when anybody heard what was reported later nobody can tell.
 */
const checkNothingTwice = (calls: readonly LoggedCall[], done: readonly Done[], answered: readonly Done[]): void => {
  for (const { call, at } of calls)
    for (const text of call.inputs ?? []) {
      const key = keyOfText(text);
      const isEarlier = (each: Done): boolean => each.target === call.target && each.key === key && each.at < at;
      const isSame = done.filter(isEarlier).every((each) => each.text === text);
      const isHeard = answered.filter(isEarlier).some((each) => at > each.at + SOON);
      demand(!isSame || !isHeard, 'what was done is not done again', {
        call,
        text,
        at,
      });
    }
};

/** Where nothing goes wrong, and the text that was done last is that of a newer request, a job does not get the older request's text. */
const checkNothingOlder = (calls: readonly LoggedCall[], done: readonly Done[], ageIn: AgeIn): void => {
  const inOrder = done.toSorted((a, b) => a.at - b.at);
  for (const { call, at } of calls)
    for (const text of call.inputs ?? []) {
      const key = keyOfText(text);
      const last = inOrder.findLast((each) => each.target === call.target && each.key === key && at > each.at);
      const isHeard = last !== undefined && at > last.at + SOON;
      const isOld = isHeard && isOlder(ageIn(call, key), last.age);
      demand(!isOld, 'an older text of an input is not done after a newer one', { call, text, last });
    }
};

const doneBy = ({ call, answered }: LoggedCall, inputsOf: InputsOf): readonly Done[] => {
  if (!answered) return [];
  const { answer, at } = answered;
  const all = (call.inputs ?? []).map((text): Done => ({ target: call.target, key: keyOfText(text), text, at }));
  if (answer.kind === 'all-succeeded') {
    if (answer.inputs === undefined) return all;
    const said = JSON.parse(answer.inputs) as { key: number; status: string }[];
    const succeeded = new Set(said.filter(({ status }) => status === 'succeeded').map(({ key }) => String(key)));
    return all.filter(({ key }) => succeeded.has(key));
  }
  if (answer.kind !== 'results') return [];
  const keys = new Set(
    [...answer.items].flatMap(([id, { status }]) => (status === 'succeeded' ? [...inputsOf(id).keys()] : [])),
  );
  return all.filter(({ key }) => keys.has(key));
};

/**
 * A job that reports later does so about what it got, in any of its calls.
 *
 * A report that names no request counts for all jobs that the batch has when Groupage reads it. It is read when no attempt is under way,
 * so some of these jobs may have begun after it was sent. Such a report does not say which job sent it: the contract demands that
 * each job of a batch that may have several names its requests.
 */
const doneByReport = (
  { batchId, items, at }: CallLog['reports'][number],
  calls: readonly LoggedCall[],
  inputsOf: InputsOf,
): readonly Done[] => {
  const namesNone = items === 'all-succeeded';
  const answer: Answer = namesNone ? { kind: 'all-succeeded' } : { kind: 'results', items, foreign: 0 };
  // A report is about the job that has the requests which it names. A refused call is no job.
  const isOfJob = ({ call, answered }: LoggedCall): boolean =>
    (answered?.answer.kind ?? 'pending') === 'pending' &&
    (namesNone || call.items.some(({ id }) => items.get(id)?.status === 'succeeded'));
  return calls
    .filter((logged) => logged.call.batchId === batchId && (namesNone || logged.at <= at) && isOfJob(logged))
    .flatMap((logged) => doneBy({ ...logged, answered: { at: Math.max(at, logged.at), answer } }, inputsOf));
};

const keyOfText = (text: string): string => String((JSON.parse(text) as { id: number }).id);

/** Of two with one key the last. */
const textsByKey = (payload: string): ReadonlyMap<string, string> => {
  const { inputs = [] } = JSON.parse(payload) as { inputs?: object[] };
  return new Map(inputs.map((each) => JSON.stringify(each)).map((text) => [keyOfText(text), text]));
};
