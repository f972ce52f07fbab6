/** Reads the body of a 2xx answer in the format of a batch API (`downstream.response`). Pure. */
import { parsePointer, rawAt } from '../../util/json-pointer.ts';
import { isObject, parseJson, rawElements } from '../../util/json-text.ts';
import type { ResponseFormat, Test } from '../config/http-format.ts';
import type { TaskId } from '../ids.ts';
import type { TaskError } from '../tasks/task.ts';
import type { Answer, Call, ItemAnswer, Reason } from './downstream.ts';
import { foreignIn, type HttpAnswer, quoted, shortened, succeededWith, tooLarge, usageOf } from './http-answer.ts';

/**
 * What a 2xx answer means for the items of its call. An answer that lacks what the format names is no success: the call
 * may have had effects, so it is retried with a delay, and counts.
 */
export const readFormat = (answer: HttpAnswer, items: Call['items'], format: ResponseFormat): Answer => {
  const isEnough = isStatusEnough(format);
  if (isEnough && format.usage === null) return { kind: 'all-succeeded' };
  if (answer.isCut && !isEnough) return tooLarge(answer);
  const json = parseJson(answer.body);
  const value = json.ok ? json.value : undefined;
  const usage = format.usage === null ? {} : usageOf(valueAt(value, parsePointer(format.usage)));
  if (isEnough) return { kind: 'all-succeeded', ...usage };
  if (!json.ok) return misread(answer, 'with a body that is not JSON, which downstream.response expects');
  return { ...readBody({ ...answer, body: answer.body.trim() }, value, items, format), ...usage };
};

/** Whether each 2xx answer is a success. */
const isStatusEnough = ({ results, failures, succeeded, failed, throttled, retry }: ResponseFormat): boolean =>
  [results, failures, succeeded, failed, throttled, retry].every((each) => each === null);

type Unavailable = Extract<Answer, { kind: 'unavailable' }>;

const unavailable = ({ status, body, retryAfter }: HttpAnswer, what: string): Unavailable => ({
  kind: 'unavailable',
  reason: `answered ${status} ${what}`,
  ...quoted(body),
  mayRetryAtOnce: false,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

const misread = (answer: HttpAnswer, what: string): Unavailable => ({ ...unavailable(answer, what), misread: true });

/** An entry of a list, or the whole body: its value, and its text as it was written. */
interface Element {
  readonly value: unknown;
  readonly text: () => string;
}

const readBody = (answer: HttpAnswer, value: unknown, items: Call['items'], format: ResponseFormat): Answer => {
  const { results, failures, id, failureId } = format;
  const body: Element = { value, text: () => answer.body };
  if (results === null)
    return failures === null
      ? readWhole(answer, body, format)
      : withoutResults(answer, body, listAt(body, failures), items, format);
  const failed = failures === null ? undefined : listAt(body, failures);
  // Of two lists, one may be missing: it is empty.
  const succeeded = listAt(body, results) ?? (failed && []);
  if (!succeeded) return lacksList(answer, results);
  if (id === null) return inOrder(answer, succeeded, items, format);
  // With two lists, an element of the first one needs no test.
  const otherwise = failures === null ? undefined : 'succeeded';
  return byId(items, [
    ...succeeded.map((element) => ({ ids: idsAt(element, id), said: judge(element, format, otherwise) })),
    ...(failed ?? []).map((element) => ({
      ids: idsAt(element, failureId ?? id),
      said: judge(element, format, 'failed'),
    })),
  ]);
};

/** The answer if only failures are named. Without their list, the body must pass a test. */
const withoutResults = (
  answer: HttpAnswer,
  body: Element,
  failed: readonly Element[] | undefined,
  items: Call['items'],
  format: ResponseFormat,
): Answer => {
  if (failed) return readFailures(answer, failed, items, format);
  const { succeeded, failures } = format;
  const isSuccess = succeeded !== null && isPassed(succeeded, body);
  return isSuccess ? { kind: 'all-succeeded' } : lacksList(answer, failures);
};

/** The elements of a list. Undefined if there is no list; a null is an empty one. */
const listAt = (body: Element, at: string): readonly Element[] | undefined => {
  const pointer = parsePointer(at);
  const list = valueAt(body.value, pointer);
  if (list === null) return [];
  if (!Array.isArray(list)) return undefined;
  let texts: readonly string[] | undefined;
  const textOf = (index: number): string => {
    texts ??= rawElements(rawAt(body.text(), pointer) ?? '[]');
    return texts[index] ?? 'null';
  };
  return list.map((value, index) => ({ value, text: () => textOf(index) }));
};

/** The value at a pointer. Undefined if there is none. */
const valueAt = (value: unknown, pointer: readonly string[]): unknown =>
  pointer.reduce<unknown>((within, name) => {
    if (typeof within !== 'object' || within === null || !Object.hasOwn(within, name)) return undefined;
    return Array.isArray(within) && !/^(?:0|[1-9]\d*)$/.test(name)
      ? undefined
      : (within as Record<string, unknown>)[name];
  }, value);

const lacksList = (answer: HttpAnswer, at: string | null): Answer =>
  misread(answer, `without a list at ${at || 'the top'}, which downstream.response names`);

/** The results in the order of the items. With another number of them, no result can be assigned to its item. */
const inOrder = (
  answer: HttpAnswer,
  elements: readonly Element[],
  items: Call['items'],
  format: ResponseFormat,
): Answer => {
  if (elements.length !== items.length)
    return misread(answer, `with ${elements.length} results for ${items.length} tasks`);
  if (isInOtherOrder(elements, items))
    return misread(
      answer,
      'with results in another order than the tasks: set downstream.response.id to where their ids are',
    );
  const answers = new Map(items.map(({ id }, n) => [id, judge(elements[n] as Element, format)]));
  return { kind: 'results', items: answers, foreign: 0 };
};

/** Whether an element contains the id of another item, but not of its own. */
const isInOtherOrder = (elements: readonly Element[], items: Call['items']): boolean => {
  const asked = new Set<unknown>(items.map(({ id }) => id));
  return elements.some(({ value }, n) => {
    const named = scalarsIn(value).filter((each) => asked.has(each));
    return named.length > 0 && !named.includes(items[n]?.id);
  });
};

/** The values in an element, up to three levels deep. */
const scalarsIn = (value: unknown, depth = 3): readonly unknown[] => {
  if (typeof value !== 'object' || value === null) return [value];
  return depth === 0 ? [] : Object.values(value).flatMap((each) => scalarsIn(each, depth - 1));
};

/** What an element says about the items that it names. */
interface Named {
  readonly ids: readonly (string | undefined)[];
  readonly said: ItemAnswer;
}

/**
 * The results by id. An item that is left out is retried, as in Groupage's own format. Of several answers about an item,
 * the first one that is no success stands.
 */
const byId = (items: Call['items'], all: readonly Named[]): Answer => {
  const asked = new Set<string>(items.map(({ id }) => id));
  const answers = new Map<TaskId, ItemAnswer>();
  const foreign: unknown[] = [];
  for (const { ids, said } of all)
    for (const id of ids) {
      if (id === undefined || !asked.has(id)) foreign.push(id);
      else if ((answers.get(id as TaskId)?.status ?? 'succeeded') === 'succeeded') answers.set(id as TaskId, said);
    }
  return { kind: 'results', items: answers, ...foreignIn(foreign) };
};

/** All items but the listed ones succeeded. If an element names no item of the call, it is unknown which one failed. */
const readFailures = (
  answer: HttpAnswer,
  elements: readonly Element[],
  items: Call['items'],
  format: ResponseFormat,
): Answer => {
  const answers = new Map<TaskId, ItemAnswer>(items.map(({ id }) => [id, { status: 'succeeded' }]));
  for (const element of elements)
    for (const id of failedIn(element, items, format)) {
      if (id === undefined || !answers.has(id)) return misread(answer, 'with a failure that names no task of the call');
      answers.set(id, judge(element, format, 'failed'));
    }
  return { kind: 'results', items: answers, foreign: 0 };
};

const failedIn = (
  element: Element,
  items: Call['items'],
  { id, failureId, index }: ResponseFormat,
): readonly (TaskId | undefined)[] => {
  if (id !== null) return idsAt(element, failureId ?? id) as readonly (TaskId | undefined)[];
  const number = valueAt(element.value, parsePointer(index ?? ''));
  return [typeof number === 'number' ? items[number]?.id : undefined];
};

/** The outcome of all items, from tests of the whole body. */
const readWhole = (answer: HttpAnswer, body: Element, format: ResponseFormat): Answer => {
  const said = judge(body, format);
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
      return said.reason === ASKED
        ? unavailable(answer, `and ${ASKED}`)
        : misread(answer, `with a body that ${said.reason}`);
  }
};

const ASKED = 'asked to retry';
const UNKNOWN = 'passes no test of downstream.response';

/**
 * The outcome that the tests give to an element, or to the whole body.
 *
 * @param otherwise the outcome if no test passes
 */
const judge = (element: Element, format: ResponseFormat, otherwise?: 'failed' | 'succeeded'): ItemAnswer => {
  const { succeeded, failed, throttled, retry } = format;
  const passes = (test: Test | null): boolean => test !== null && isPassed(test, element);
  const why = (): Reason => ({ reason: '', quote: errorOf(element, format).message });
  if (passes(throttled)) return { ...why(), status: 'throttled', reason: 'throttled this task' };
  if (passes(retry)) return { ...why(), status: 'retry', reason: ASKED };
  if (passes(failed) || otherwise === 'failed') return { status: 'failed', error: errorOf(element, format) };
  if (passes(succeeded)) return succeededWith(resultIn(element, format));
  if (succeeded === null)
    // A text or a null says nothing about a failure.
    return otherwise === 'succeeded' || isObject(element.value)
      ? succeededWith(resultIn(element, format))
      : { ...why(), status: 'retry', reason: UNKNOWN };
  // A value that is no success is a failure. A missing one is neither.
  if (failed === null && valueAt(element.value, parsePointer(succeeded.at)) !== undefined)
    return { status: 'failed', error: errorOf(element, format) };
  const reason =
    failed === null ? `has nothing at ${succeeded.at}, which downstream.response.succeeded tests` : UNKNOWN;
  return { ...why(), status: 'retry', reason };
};

const isPassed = (test: Test, { value: whole }: Element): boolean => {
  const value = valueAt(whole, parsePointer(test.at));
  if (value === undefined) return false;
  if ('present' in test) return value !== null;
  if ('is' in test) return [test.is].flat().includes(value as never);
  return typeof value === 'number' && value >= test.from && value <= test.to;
};

const resultIn = ({ text }: Element, { result }: ResponseFormat): string | undefined =>
  result === null ? undefined : rawAt(text(), parsePointer(result));

/** The error of an element. Without `error`, the element as it was written. */
const errorOf = ({ value, text }: Element, { error, code }: ResponseFormat): TaskError => {
  const pointer = parsePointer(error ?? '');
  const said = valueAt(value, pointer);
  const name = code === null ? undefined : valueAt(value, parsePointer(code));
  const isName = (typeof name === 'string' && name !== '') || typeof name === 'number';
  const message = typeof said === 'string' ? said : (rawAt(text(), pointer) ?? text());
  return {
    code: shortened(isName ? String(name) : 'failed', 64),
    message: shortened(message, 1_024),
    retriable: false,
  };
};

/** The ids at a pointer: one, or a list. Undefined stands for a value that is no id. */
const idsAt = ({ value }: Element, pointer: string): readonly (string | undefined)[] => {
  const found = valueAt(value, parsePointer(pointer));
  const ids = (Array.isArray(found) ? found : [found]).map(idOf);
  return ids.length > 0 ? ids : [undefined];
};

/** An API may return an id that is a number as a number. */
const idOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
};
