/**
 * Reads an HTTP answer to a batch call. The status decides between results, a retry, a refusal and a wrong
 * configuration; the body has the result of each item. Pure, so that tests can cover every answer.
 */

import { isObject, parseJson, rawElements, rawMembers } from '../../util/json-text.ts';
import { type Millis, TASK_ID_PATTERN, type TaskId } from '../ids.ts';
import { type Outcome, RESULT_MAX_BYTES, type TaskError } from '../tasks/task.ts';
import { type Answer, type Call, type CallItem, type ItemAnswer, isOutcome, type Reason } from './downstream.ts';
import { failureIn, HINT } from './foreign-shape.ts';

/**
 * The largest answer, as large as the largest call (`maxBytes`). The answers of five batches at once must fit into the
 * function's memory.
 */
export const ANSWER_MAX_BYTES = 6_000_000;

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly retryAfter: Millis | undefined;
  readonly body: string;
  /**
   * Whether the body has more than {@link ANSWER_MAX_BYTES} (decompressed), so that the rest was not read. @default
   * false
   */
  readonly isCut?: boolean;
  /** The header that `downstream.usageHeader` names. Null if the answer lacks it. */
  readonly usage?: string | null;
}

/**
 * Reads a decompressed body up to the limit. Leaving the loop early cancels the response, which closes its connection.
 */
export const readBody = async (
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Pick<HttpAnswer, 'body'> & { readonly isCut: boolean }> => {
  const read: Uint8Array[] = [];
  let left = ANSWER_MAX_BYTES;
  for await (const chunk of chunks) {
    read.push(chunk.subarray(0, left));
    left -= chunk.byteLength;
    if (left < 0) break;
  }
  return { body: new TextDecoder().decode(Buffer.concat(read)), isCut: left < 0 };
};

/**
 * What an HTTP answer means for the items of the call.
 *
 * @param requireResults whether an answer without results is an error: `downstream.requireResults`
 */
export const readAnswer = (answer: HttpAnswer, items: Call['items'], requireResults: boolean | null): Answer =>
  readStatus(answer, () => readResults(answer, items, requireResults));

const inHeader = (text: string | null | undefined): number | undefined =>
  typeof text === 'string' && /^\d{1,12}(?:\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined;

const USAGE_MAX = 1e12;

/**
 * The weight that a call used, as a header or the `usage` of a body reports it. Anything but a number from 0 is ignored:
 * the call then counts as it was granted.
 */
export const usageOf = (usage: unknown): Pick<Answer, 'usage'> =>
  typeof usage === 'number' && usage >= 0 && usage <= USAGE_MAX ? { usage } : {};

/**
 * What an HTTP answer means, by its status.
 *
 * @param readSuccess what a 2xx answer means
 */
export const readStatus = (answer: HttpAnswer, readSuccess: () => Answer): Answer => ({
  ...byStatus(answer, readSuccess),
  // A configured header counts before the body.
  ...usageOf(inHeader(answer.usage)),
});

const byStatus = (answer: HttpAnswer, readSuccess: () => Answer): Answer => {
  const { status, retryAfter } = answer;
  const reason = `answered ${status}`;
  const quote = quoted(answer.body);
  if (status >= 200 && status < 300) return readSuccess();
  if (isTransient(status))
    return {
      kind: 'unavailable',
      reason,
      ...quote,
      // Do not call a throttled or overloaded service again at once.
      mayRetryAtOnce: status !== 429 && retryAfter === undefined,
      ...(status === 429 ? { throttled: true as const } : {}),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
  if (isMisconfiguration(status))
    return {
      kind: 'unavailable',
      reason: `${reason} (check the operation's downstream url and access)`,
      ...quote,
      mayRetryAtOnce: false,
      misconfigured: true,
    };
  return { kind: 'refused', reason, ...quote, ...suspectOf(status) };
};

const isTransient = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);

/** Whether parts of a refused call may be accepted. */
const suspectOf = (status: number): Pick<Extract<Answer, { kind: 'refused' }>, 'suspect'> => {
  if (status === 400 || status === 422) return { suspect: 'an-item' };
  return status === 413 ? { suspect: 'its-size' } : {};
};

/**
 * Whether the configuration is wrong rather than the tasks. The tasks then wait until it is fixed, or until their
 * attempts are used up.
 */
const isMisconfiguration = (status: number): boolean =>
  (status >= 300 && status < 400) || status === 401 || status === 403 || status === 404 || status === 405;

/** The downstream may have done the work, but its answer is too large to be read. */
export const tooLarge = ({ status }: HttpAnswer): Answer => ({
  kind: 'refused',
  suspect: 'its-answer',
  reason: `answered ${status} with more than ${ANSWER_MAX_BYTES} bytes`,
});

const readResults = (answer: HttpAnswer, items: Call['items'], requireResults: boolean | null): Answer => {
  if (answer.isCut) return tooLarge(answer);
  const unreadable = (what: string, quote = answer.body, mayRetryAtOnce = true): Answer => ({
    kind: 'unavailable',
    reason: `answered ${answer.status} ${what}`,
    ...quoted(quote),
    mayRetryAtOnce,
    misread: true,
  });
  // The call may have had its effects, so it is not repeated at once.
  const unread = (what: string): Answer => unreadable(`${what}: ${HINT}`, answer.body, false);
  const withoutResults = (): Answer =>
    requireResults
      ? unread('without results, which downstream.requireResults demands')
      : { kind: 'all-succeeded', withoutResults: true };
  if (answer.body.trim() === '') return withoutResults();
  const json = parseJson(answer.body);
  if (!json.ok)
    return unreadable(
      'with a body that is not JSON (expected {"results":[…]} or no body)',
      `${mediaType(answer.contentType)} ${answer.body}`,
    );
  const body = json.value;
  if (!isObject(body)) return unreadable('with JSON that is not an object (expected {"results":[…]})');
  const usage = usageOf(body.usage);
  if (answer.status === 202 && body.pending === true) return { kind: 'pending', ...usage };
  if (!Object.hasOwn(body, 'results')) {
    const inputs = rawMembers(answer.body).get('inputs');
    if (inputs !== undefined) return { kind: 'all-succeeded', inputs, ...usage };
    const failure = failureIn(body);
    return failure === undefined
      ? { ...withoutResults(), ...usage }
      : unread(`with ${failure}, which Groupage does not read`);
  }
  if (!Array.isArray(body.results)) return unreadable('with results that are not a list');
  const raw = rawElements(rawMembers(answer.body).get('results') ?? '[]');
  return { kind: 'results', ...collect(body.results, raw, items), ...usage };
};

type Results = Omit<Extract<Answer, { kind: 'results' }>, 'kind'>;

/** Reads the list of results that a job reports later. Undefined if it is not a list. @param text JSON. */
export const readResultList = (text: string, items: readonly Pick<CallItem, 'id'>[]): Results | undefined => {
  const json = parseJson(text);
  return json.ok && Array.isArray(json.value) ? collect(json.value, rawElements(text), items) : undefined;
};

/** The largest number of unknown ids that a reason or an event names. */
export const IDS_SHOWN = 3;

const collect = (
  results: readonly unknown[],
  raw: readonly string[],
  items: readonly Pick<CallItem, 'id'>[],
): Results => {
  const asked = new Set<string>(items.map(({ id }) => id));
  const answers = new Map<TaskId, ItemAnswer>();
  const foreign: unknown[] = [];
  for (const [index, result] of results.entries()) {
    const id = isObject(result) ? result.id : undefined;
    if (!isObject(result) || typeof id !== 'string' || !asked.has(id)) foreign.push(id);
    // If an item has two results, the first one stands, as for a task. An answer that asks for a retry is no result.
    else if (!isOutcome(answers.get(id as TaskId))) answers.set(id as TaskId, readItem(result, raw[index] ?? '{}'));
  }
  return { items: answers, ...foreignIn(foreign) };
};

/** The ids in an answer that the call did not contain: their number, and the first of those that may be logged. */
export const foreignIn = (ids: readonly unknown[]): Pick<Results, 'foreign' | 'foreignIds'> => {
  const named = ids.filter((id) => typeof id === 'string').filter((id) => TASK_ID_PATTERN.test(id));
  return { foreign: ids.length, ...(named.length > 0 ? { foreignIds: named.slice(0, IDS_SHOWN) } : {}) };
};

const UNKNOWN_STATUS = 'gave an unknown status (legal are "succeeded", "failed", "retry" and "throttled")';

/** Reads the answer about one item, or one input. @param raw the answer as it was written */
export const readItem = (result: Record<string, unknown>, raw: string): ItemAnswer => {
  switch (result.status) {
    case 'succeeded':
      return succeededWith(rawMembers(raw).get('result'));
    case 'failed':
      return { status: 'failed', error: readError(result.error, raw) };
    case 'retry':
      return { status: 'retry', reason: 'asked to retry', quote: readError(result.error, raw).message };
    case 'throttled':
      return { status: 'throttled', reason: 'throttled this task', quote: readError(result.error, raw).message };
    default:
      return { status: 'retry', reason: UNKNOWN_STATUS, ...quoted(rawMembers(raw).get('status') ?? 'none') };
  }
};

/** The outcome of an item that succeeded. @param result JSON text, which is not stored if it is too large */
export const succeededWith = (result: string | undefined): Outcome => {
  if (result === undefined) return { status: 'succeeded' };
  const bytes = Buffer.byteLength(result);
  return bytes <= RESULT_MAX_BYTES ? { status: 'succeeded', result } : { status: 'succeeded', resultOmitted: bytes };
};

/**
 * Reads an item's error: a text, or an object with `code`, `message` and `retriable`. Anything else is quoted as it was
 * written.
 *
 * @param raw the item as it was written. Printing the parsed value again could fail if it is nested too deeply.
 */
const readError = (error: unknown, raw: string): TaskError => {
  const asWritten = (): string => rawMembers(raw).get('error') ?? 'no reason given';
  const { code, message, retriable } = isObject(error) ? error : { message: error };
  return {
    code: shortened(typeof code === 'string' && code !== '' ? code : 'failed', 64),
    message: shortened(typeof message === 'string' ? message : asWritten(), 1_024),
    retriable: retriable === true,
  };
};

/** A shortened text. `toWellFormed`: DynamoDB cannot store half a surrogate pair. */
export const shortened = (text: string, length: number): string =>
  (text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`).toWellFormed();

/** The start of a body on one line, for users. */
export const quoted = (body: string): Pick<Reason, 'quote'> => {
  const line = body
    .slice(0, 400)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line === '' ? {} : { quote: shortened(line, 200) };
};

/** The media type of the answer, if the header contains one. */
const mediaType = (contentType: string | null): string =>
  /^[\w.+-]{1,50}\/[\w.+-]{1,50}/.exec(contentType ?? '')?.[0] ?? '';

/** Why an HTTP request had no answer, for users. @param timeout of the request. */
export const whyNoAnswer = (cause: unknown, timeout: Millis): string => {
  if (!(cause instanceof Error)) return `no answer: ${String(cause)}`;
  if (cause.name === 'TimeoutError') return `no answer within ${timeout} ms`;
  // fetch hides the reason (ECONNREFUSED, …) one level down.
  const inner = cause.cause instanceof Error ? cause.cause : undefined;
  return `no answer: ${inner ? inner.message || inner.name : cause.message}`;
};
