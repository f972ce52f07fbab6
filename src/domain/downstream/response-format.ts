/** Reads the body of a 2xx answer in the format of a batch API (`downstream.response`). Pure. */
import { parsePointer, rawAt } from '../../util/json-pointer.ts';
import { parseJson, rawElements } from '../../util/json-text.ts';
import type { ResponseFormat, Test } from '../config/http-format.ts';
import { TASK_ID_PATTERN, type TaskId } from '../ids.ts';
import type { TaskError } from '../tasks/task.ts';
import type { Answer, Call, ItemAnswer, Reason } from './downstream.ts';
import { type HttpAnswer, IDS_SHOWN, quoted, shortened, succeededWith, tooLarge, usageOf } from './http-answer.ts';

/**
 * What a 2xx answer means for the items of its call. An answer that lacks what the format names is no success: the call
 * may have had effects, so it is retried with a delay, and counts.
 */
export const readFormat = (answer: HttpAnswer, items: Call['items'], format: ResponseFormat): Answer => {
  if (isStatusEnough(format)) return { kind: 'all-succeeded' };
  if (answer.isCut) return tooLarge(answer);
  const json = parseJson(answer.body);
  if (!json.ok) return misread(answer, 'with a body that is not JSON, which downstream.response expects');
  return { ...readBody(answer, items, format), ...usageIn(answer.body, format) };
};

const isStatusEnough = ({ results, failures, usage, succeeded, failed, throttled, retry }: ResponseFormat): boolean =>
  [results, failures, usage, succeeded, failed, throttled, retry].every((each) => each === null);

const usageIn = (body: string, { usage }: ResponseFormat): Pick<Answer, 'usage'> =>
  usage === null ? {} : usageOf(scalarAt(body, usage));

type Unavailable = Extract<Answer, { kind: 'unavailable' }>;

const unavailable = ({ status, body, retryAfter }: HttpAnswer, what: string): Unavailable => ({
  kind: 'unavailable',
  reason: `answered ${status} ${what}`,
  ...quoted(body),
  mayRetryAtOnce: false,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

const misread = (answer: HttpAnswer, what: string): Unavailable => ({ ...unavailable(answer, what), misread: true });

const readBody = (answer: HttpAnswer, items: Call['items'], format: ResponseFormat): Answer => {
  const { results, failures } = format;
  const at = results ?? failures;
  if (at === null) return readWhole(answer, format);
  const list = rawAt(answer.body.trim(), parsePointer(at));
  if (failures !== null && list === 'null') return readFailures(answer, [], items, format);
  if (!list?.startsWith('['))
    return misread(answer, `without a list at ${at === '' ? 'the top' : at}, which downstream.response names`);
  const elements = rawElements(list);
  if (failures !== null) return readFailures(answer, elements, items, format);
  return format.id === null
    ? inOrder(answer, elements, items, format)
    : byId(elements, items, format, parsePointer(format.id));
};

/** The results in the order of the items. With another number of them, no result can be assigned to its item. */
const inOrder = (
  answer: HttpAnswer,
  elements: readonly string[],
  items: Call['items'],
  format: ResponseFormat,
): Answer =>
  elements.length === items.length
    ? { kind: 'results', items: new Map(items.map(({ id }, n) => [id, judge(elements[n] ?? '', format)])), foreign: 0 }
    : misread(answer, `with ${elements.length} results for ${items.length} tasks`);

/** The results by id. An item that is left out is retried, as in Groupage's own format. */
const byId = (
  elements: readonly string[],
  items: Call['items'],
  format: ResponseFormat,
  pointer: readonly string[],
): Answer => {
  const asked = new Set<string>(items.map(({ id }) => id));
  const answers = new Map<TaskId, ItemAnswer>();
  const foreign: (string | undefined)[] = [];
  for (const element of elements) {
    const id = idAt(element, pointer);
    if (id === undefined || !asked.has(id)) foreign.push(id);
    // The first result of an item stands.
    else if (!answers.has(id as TaskId)) answers.set(id as TaskId, judge(element, format));
  }
  const named = foreign.filter((id) => id !== undefined && TASK_ID_PATTERN.test(id)).slice(0, IDS_SHOWN) as string[];
  return {
    kind: 'results',
    items: answers,
    foreign: foreign.length,
    ...(named.length > 0 ? { foreignIds: named } : {}),
  };
};

/** All items but the listed ones succeeded. If an element names no item of the call, it is unknown which one failed. */
const readFailures = (
  answer: HttpAnswer,
  elements: readonly string[],
  items: Call['items'],
  format: ResponseFormat,
): Answer => {
  const answers = new Map<TaskId, ItemAnswer>(items.map(({ id }) => [id, { status: 'succeeded' }]));
  for (const element of elements) {
    const id = failedIn(element, items, format);
    if (id === undefined || !answers.has(id)) return misread(answer, 'with a failure that names no task of the call');
    answers.set(id, judge(element, format, 'failed'));
  }
  return { kind: 'results', items: answers, foreign: 0 };
};

const failedIn = (element: string, items: Call['items'], { id, index }: ResponseFormat): TaskId | undefined => {
  if (id !== null) return idAt(element, parsePointer(id)) as TaskId | undefined;
  const number = scalarAt(element, index ?? '');
  return typeof number === 'number' ? items[number]?.id : undefined;
};

/** The outcome of all items, from tests of the whole body. */
const readWhole = (answer: HttpAnswer, format: ResponseFormat): Answer => {
  const said = judge(answer.body, format);
  switch (said.status) {
    case 'succeeded':
      return { kind: 'all-succeeded' };
    case 'failed':
      return {
        kind: 'refused',
        reason: `answered ${answer.status} with a failure`,
        quote: said.error.message,
        suspect: 'an-item',
      };
    case 'throttled':
      return { ...unavailable(answer, 'and throttled the call'), throttled: true };
    case 'retry':
      return said.reason === UNKNOWN
        ? misread(answer, `with a body that ${UNKNOWN}`)
        : unavailable(answer, 'and asked to retry');
  }
};

const UNKNOWN = 'passes no test of downstream.response';

/**
 * The outcome that the tests give to an element, or to the whole body.
 *
 * @param otherwise the outcome if no test passes
 */
const judge = (raw: string, format: ResponseFormat, otherwise?: 'failed'): ItemAnswer => {
  const { succeeded, failed, throttled, retry } = format;
  const passes = (test: Test | null): boolean => test !== null && isPassed(test, raw);
  const why = (): Reason => ({ reason: '', quote: errorOf(raw, format).message });
  if (passes(throttled)) return { ...why(), status: 'throttled', reason: 'throttled this task' };
  if (passes(retry)) return { ...why(), status: 'retry', reason: 'asked to retry' };
  if (passes(failed) || otherwise === 'failed') return { status: 'failed', error: errorOf(raw, format) };
  if (passes(succeeded) || succeeded === null) return succeededWith(resultIn(raw, format));
  // A value that is no success is a failure. A missing one is neither.
  if (failed === null && rawAt(raw, parsePointer(succeeded.at)) !== undefined)
    return { status: 'failed', error: errorOf(raw, format) };
  return { ...why(), status: 'retry', reason: UNKNOWN };
};

const isPassed = (test: Test, raw: string): boolean => {
  const text = rawAt(raw, parsePointer(test.at));
  if (text === undefined) return false;
  if ('present' in test) return text !== 'null';
  const value = JSON.parse(text) as unknown;
  if ('is' in test) return [test.is].flat().includes(value as never);
  return typeof value === 'number' && value >= test.from && value <= test.to;
};

const resultIn = (raw: string, { result }: ResponseFormat): string | undefined =>
  result === null ? undefined : rawAt(raw, parsePointer(result));

/** The error of an element. Without `error`, the element as it was written. */
const errorOf = (raw: string, { error, code }: ResponseFormat): TaskError => {
  const said = error === null ? raw : (rawAt(raw, parsePointer(error)) ?? raw);
  const text = said.startsWith('"') ? (JSON.parse(said) as string) : said;
  const name = code === null ? undefined : scalarAt(raw, code);
  return {
    code: shortened(name === undefined || name === null || name === '' ? 'failed' : String(name), 64),
    message: shortened(text, 1_024),
    retriable: false,
  };
};

/** The text, number or boolean at a pointer. Undefined for anything else. */
const scalarAt = (raw: string, pointer: string): string | number | boolean | null | undefined => {
  const text = rawAt(raw, parsePointer(pointer));
  return text === undefined || /^[[{]/.test(text) ? undefined : JSON.parse(text);
};

/** An API may return an id that is a number as a number. */
const idAt = (raw: string, pointer: readonly string[]): string | undefined => {
  const text = rawAt(raw, pointer);
  if (text === undefined) return undefined;
  if (text.startsWith('"')) return JSON.parse(text) as string;
  return /^\d+$/.test(text) ? text : undefined;
};
