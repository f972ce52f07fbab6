/**
 * Schedules whose operation merges requests, and the promises about them. The judges use what was sent and answered,
 * without using the code that merges.
 */

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

/** The schedule with merged requests, which need a few inputs in two versions each. */
export const merging = (scenario: Scenario): Scenario => ({
  ...scenario,
  config: withOperations(scenario.config, ({ batch, concurrency }) => ({
    shards: 1,
    // Large enough for every message, however long the id is that the queue assigns to the message.
    batch: { ...batch, maxBytes: Math.max(400, batch.maxBytes) },
    merge: { keys: 'inputs[].id' },
    concurrency: { ...concurrency, perTarget: 1 },
  })),
  sends: scenario.sends.map(({ body, ...each }) => ({ ...each, body: withInputs(body, scenario.seed) })),
});

/** The inputs of a task, which are the same in all its messages. Some messages have none and are refused. */
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

/** Whether an operation merges requests. If so, a call need not contain every task of the batch. */
export const merges = (config: Config, operation: Parameters<typeof operationFor>[1]): boolean =>
  operationFor(config, operation).merge !== null;

/** An input that a job processed. */
interface Done {
  readonly target: Target;
  readonly key: string;
  readonly text: string;
  readonly at: Millis;
  /** The age of the request whose text the job got. @default - unknown, because the job reported later */
  readonly age?: Age | undefined;
}

/**
 * The number of inputs that a function has time to write to one partition key after its call. Half of that time may be
 * used.
 */
const MOST_INPUTS = (PER_PARTITION.write * 5) / 2;

/** The time within which the store of processed inputs contains a processed input. */
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
    demand(isBounded, 'a job has no more inputs than its function can remember in time', { inputs: keys.length });
    const texts = new Set(call.items.flatMap(({ id }) => [...inputsOf(id).values()]));
    demand(
      call.inputs?.every((text) => texts.has(text)) === true,
      'a job gets only inputs that its requests need',
      call,
    );
  }
  for (const { call } of calls) for (const text of call.inputs ?? []) checkNewest(tables, call, text, inputsOf);
  const ageIn: AgeIn = (call, key) => newestOf(agesOf(tables, call, key, inputsOf));
  const answered = calls.flatMap((logged) =>
    doneBy(logged, inputsOf).map((each) => ({ ...each, age: ageIn(logged.call, each.key) })),
  );
  const reported = log.reports.flatMap((report) => doneByReport(report, calls, inputsOf));
  const done = [...answered, ...reported];
  /** All texts of a key in a batch. The latest text is processed for all requests. */
  const textsIn = (batch: BatchId, key: string): ReadonlySet<string | undefined> => {
    const stored = tables.batches.get(batch);
    return new Set(stored ? membersOf(stored).map((id) => inputsOf(id).get(key)) : []);
  };
  const requests = [...tables.tasks.values()].filter(({ operation }) => merges(config, operation));
  /** Whether the text came from a newer request than this one. The text is then processed for both requests. */
  const isOfNewer = ({ target, key, text }: Done, than: Age): boolean =>
    requests.some(
      (each) => each.target === target && inputsOf(each.id).get(key) === text && isNewer(ageOf(each), than),
    );
  for (const task of requests) {
    const { id, state, target } = task;
    if (state.status !== 'succeeded' || state.batchId === undefined) continue;
    for (const key of inputsOf(id).keys()) {
      const texts = textsIn(state.batchId, key);
      const ofKey = done.filter((each) => each.target === target && each.key === key);
      const isDone = ofKey.some((each) => texts.has(each.text) || isOfNewer(each, ageOf(task)));
      demand(isDone, 'a request succeeds only if all its inputs were processed', { id, key, state });
    }
  }
  if (!isCalm) return;
  checkNothingTwice(calls, done, answered);
  checkNothingOlder(calls, done, ageIn);
};

type InputsOf = (id: string) => ReadonlyMap<string, string>;
const NO_INPUTS: ReadonlyMap<string, string> = new Map();

/** The age of the newest request of a job that needs the input. */
type AgeIn = (call: LoggedCall['call'], key: string) => Age | undefined;

/** The ages of the job's requests that need the input. */
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

/** The text of an input in a job is that of the newest request in the job. */
const checkNewest = (tables: Evidence['tables'], call: LoggedCall['call'], text: string, inputsOf: InputsOf): void => {
  const key = keyOfText(text);
  const wanting = agesOf(tables, call, key, inputsOf);
  const newest = newestOf(wanting);
  const brings = newest && inputsOf(newest.id).get(key);
  demand(brings === undefined || brings === text, 'a job gets the newest text of each input', { key, text, wanting });
};

/**
 * Without faults, a job does not get an input that an earlier job processed, unless a job processed another text in
 * between.
 *
 * @param answered inputs that were processed in an answered call. For inputs that a job reports later, the time at
 * which the batch handler reads the report is unknown.
 */
const checkNothingTwice = (calls: readonly LoggedCall[], done: readonly Done[], answered: readonly Done[]): void => {
  for (const { call, at } of calls)
    for (const text of call.inputs ?? []) {
      const key = keyOfText(text);
      const isEarlier = (each: Done): boolean => each.target === call.target && each.key === key && each.at < at;
      const isSame = done.filter(isEarlier).every((each) => each.text === text);
      const isKnown = answered.filter(isEarlier).some((each) => at > each.at + SOON);
      demand(!isSame || !isKnown, 'a processed input is not processed again', {
        call,
        text,
        at,
      });
    }
};

/**
 * Without faults, a job does not get an older request's text of an input after a newer request's text was processed.
 */
const checkNothingOlder = (calls: readonly LoggedCall[], done: readonly Done[], ageIn: AgeIn): void => {
  const inOrder = done.toSorted((a, b) => a.at - b.at);
  for (const { call, at } of calls)
    for (const text of call.inputs ?? []) {
      const key = keyOfText(text);
      const last = inOrder.findLast((each) => each.target === call.target && each.key === key && at > each.at);
      const isKnown = last !== undefined && at > last.at + SOON;
      const isOld = isKnown && isOlder(ageIn(call, key), last.age);
      demand(!isOld, 'an older text of an input is not processed after a newer one', { call, text, last });
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
 * A job that reports later reports the inputs that it got in any of its calls.
 *
 * A report without results counts for all jobs that the batch has when the batch handler reads the report. The handler
 * reads reports when no attempt is in progress, so some of these jobs may have begun after the report was sent. A
 * report without results does not say which job sent it. Therefore the contract demands that a job names its requests
 * if its batch may have several jobs.
 */
const doneByReport = (
  { batchId, items, at }: CallLog['reports'][number],
  calls: readonly LoggedCall[],
  inputsOf: InputsOf,
): readonly Done[] => {
  const namesNone = items === 'all-succeeded';
  const answer: Answer = namesNone ? { kind: 'all-succeeded' } : { kind: 'results', items, foreign: 0 };
  // A report belongs to the job whose requests are in the report's results. A refused call begins no job.
  const isOfJob = ({ call, answered }: LoggedCall): boolean =>
    (answered?.answer.kind ?? 'pending') === 'pending' &&
    (namesNone || call.items.some(({ id }) => items.get(id)?.status === 'succeeded'));
  return calls
    .filter((logged) => logged.call.batchId === batchId && (namesNone || logged.at <= at) && isOfJob(logged))
    .flatMap((logged) => doneBy({ ...logged, answered: { at: Math.max(at, logged.at), answer } }, inputsOf));
};

const keyOfText = (text: string): string => String((JSON.parse(text) as { id: number }).id);

/** If several inputs have the same key, the last one counts. */
const textsByKey = (payload: string): ReadonlyMap<string, string> => {
  const { inputs = [] } = JSON.parse(payload) as { inputs?: object[] };
  return new Map(inputs.map((each) => JSON.stringify(each)).map((text) => [keyOfText(text), text]));
};
