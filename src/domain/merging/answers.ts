/** What a merged job's answer means for each request. A request succeeds when all of its inputs have succeeded. */

import { isObject, rawElements } from '../../util/json-text.ts';
import { type Answer, type ItemAnswer, isOutcome } from '../downstream/downstream.ts';
import { readItem } from '../downstream/http-answer.ts';
import type { TaskId } from '../ids.ts';
import { type Outcome, RESULT_MAX_BYTES } from '../tasks/task.ts';
import { type InputKey, keyOf } from './inputs.ts';
import type { MergedInput, Plan } from './merge.ts';

const SUCCEEDED: Outcome = { status: 'succeeded' };

/** Requests that need no job, because earlier jobs did all of their inputs, or because their inputs cannot be read. */
export const settledBy = ({ merged, toDo }: Plan): ReadonlyMap<TaskId, Outcome> => {
  const open = new Set(toDo.map(({ key }) => key));
  const settled = new Map<TaskId, Outcome>();
  for (const [id, error] of merged.unreadable) settled.set(id, { status: 'failed', error });
  for (const [id, keys] of merged.needs) if (!keys.some((key) => open.has(key))) settled.set(id, SUCCEEDED);
  return settled;
};

/** The answer translated to requests, and the inputs that were done. */
export interface Answered {
  readonly answer: Answer;
  readonly done: readonly MergedInput[];
}

/** @param answer the downstream's answer to the job that got `plan.toDo` */
export const perRequest = (plan: Plan, answer: Answer): Answered => {
  const settled = settledBy(plan);
  if (answer.kind === 'results') {
    const items = new Map<TaskId, ItemAnswer>([...answer.items, ...settled]);
    const succeeded = [...plan.merged.needs].filter(([id]) => items.get(id)?.status === 'succeeded');
    const keys = new Set(succeeded.flatMap(([, needed]) => needed));
    return { answer: { ...answer, items }, done: plan.toDo.filter(({ key }) => keys.has(key)) };
  }
  if (answer.kind === 'all-succeeded') return perKey(plan, answer, settled);
  // The answer applies to the whole call, and so to all requests that are not settled yet.
  return { answer: { ...answer, settled }, done: [] };
};

/** @param said the answer. `inputs` is the list of results of the inputs, as JSON text; without it, all succeeded */
const perKey = (
  plan: Plan,
  { inputs: raw, withoutResults }: Extract<Answer, { kind: 'all-succeeded' }>,
  settled: ReadonlyMap<TaskId, Outcome>,
): Answered => {
  const read = raw === undefined ? { answers: undefined, foreign: 0 } : readInputs(raw, plan);
  if (!read)
    return {
      answer: {
        kind: 'unavailable',
        reason: 'answered with inputs that are not a list',
        mayRetryAtOnce: true,
        settled,
      },
      done: [],
    };
  const { answers, foreign } = read;
  const skipped = plan.skipped.map(({ key }) => [key, SUCCEEDED] as const);
  const all = new Map<InputKey, ItemAnswer>([
    ...(answers ?? plan.toDo.map(({ key }) => [key, SUCCEEDED] as const)),
    ...skipped,
  ]);
  const items = new Map<TaskId, ItemAnswer>(settled);
  for (const [id, keys] of plan.merged.needs) if (!settled.has(id)) items.set(id, together(keys, all));
  return {
    answer: { kind: 'results', items, foreign, ...(withoutResults ? { withoutResults } : {}) },
    done: plan.toDo.filter(({ key }) => all.get(key)?.status === 'succeeded'),
  };
};

/** The answer about each key, and how many keys were not in the call. */
const readInputs = (raw: string, { toDo }: Plan) => {
  const list: unknown = JSON.parse(raw);
  if (!Array.isArray(list)) return undefined;
  const texts = rawElements(raw);
  const asked = new Set(toDo.map(({ key }) => key));
  const answers = new Map<InputKey, ItemAnswer>();
  let foreign = 0;
  for (const [index, each] of list.entries()) {
    const key = isObject(each) ? keyOf(each.key) : undefined;
    if (!isObject(each) || key === undefined || !asked.has(key)) foreign += 1;
    // As for items, the first result stands. An answer that asks for a retry is no result.
    else if (!isOutcome(answers.get(key))) answers.set(key, readItem(each, texts[index] ?? '{}'));
  }
  return { answers, foreign };
};

/**
 * A request fails if one of its inputs failed, with the error of the first failed input. Otherwise the request is
 * retried if one of its inputs must be retried. It is throttled if its open inputs are.
 */
const together = (keys: readonly InputKey[], answers: ReadonlyMap<InputKey, ItemAnswer>): ItemAnswer => {
  const parts = keys.map((key) => ({ key, answer: answers.get(key) ?? LEFT_OUT }));
  for (const { key, answer } of parts)
    if (answer.status === 'failed')
      return {
        status: 'failed',
        error: { ...answer.error, message: `input ${shortened(key)}: ${answer.error.message}` },
      };
  for (const { key, answer } of parts)
    if (answer.status === 'retry' || answer.status === 'throttled') {
      const quote = [`input ${shortened(key)}`, ...(answer.quote === undefined ? [] : [answer.quote])].join(': ');
      const isThrottled = parts.every((each) => isOutcome(each.answer) || each.answer.status === 'throttled');
      return { status: isThrottled ? 'throttled' : 'retry', reason: answer.reason, quote };
    }
  return resultOf(parts);
};

const LEFT_OUT: ItemAnswer = { status: 'retry', reason: 'left an input out of the results' };

/** The results of a request's inputs, if there are any. */
const resultOf = (parts: readonly { readonly key: InputKey; readonly answer: ItemAnswer }[]): Outcome => {
  const results = parts.flatMap(({ key, answer }) =>
    answer.status === 'succeeded' && answer.result !== undefined ? [`{"key":${key},"result":${answer.result}}`] : [],
  );
  const omitted = parts.reduce(
    (sum, { answer }) => sum + (answer.status === 'succeeded' ? (answer.resultOmitted ?? 0) : 0),
    0,
  );
  if (results.length === 0 && omitted === 0) return SUCCEEDED;
  const result = `{"inputs":[${results.join(',')}]}`;
  const bytes = Buffer.byteLength(result) + omitted;
  return bytes <= RESULT_MAX_BYTES ? { status: 'succeeded', result } : { status: 'succeeded', resultOmitted: bytes };
};

/** A key may be of any length, so shorten it for messages. */
const shortened = (key: InputKey): string => (key.length <= 100 ? key : `${key.slice(0, 100).toWellFormed()}…`);
