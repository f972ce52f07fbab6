/** Reads the answers of the test's downstreams in the same way as production reads each kind of downstream. */

import {
  type DownstreamTarget,
  type HttpTarget,
  type LambdaTarget,
  type ServiceTarget,
  serviceName,
} from '../domain/config/endpoints.ts';
import { answerOfFailure } from '../domain/downstream/aws-failure.ts';
import type { Answer, Call } from '../domain/downstream/downstream.ts';
import { type HttpAnswer, readBody, whyNoAnswer } from '../domain/downstream/http-answer.ts';
import { readCall } from '../domain/downstream/http-request.ts';
import {
  RESPONSE_MAX_BYTES,
  RESPONSE_TOO_LARGE,
  readFunctionError,
  readPayload,
} from '../domain/downstream/lambda-answer.ts';
import { parseRetryAfter } from '../domain/downstream/retry.ts';
import type { Millis } from '../domain/ids.ts';
import { TestbedMisused } from './failures.ts';
import type { DownstreamAnswer, HttpReply } from './wire.ts';

export interface Reader {
  /**
   * Reads an answer of the downstream.
   * @throws TestbedMisused for an answer that a real downstream could not send
   */
  answered(said: DownstreamAnswer): Promise<Answer>;
  /** The answer after an error that the downstream threw. */
  threw(cause: unknown): Answer;
  /** The answer if the call did not reach the downstream, or if the downstream's answer was lost. */
  unreachable(cause: Error): Answer;
  /** The answer if the downstream did not answer in time. */
  late(): Answer;
}

/**
 * @param call the call whose answer is read, with the items that it contains
 * @param now returns the virtual time
 */
export const readerOf = (target: DownstreamTarget, call: Call, now: () => Millis): Reader => {
  switch (target.kind) {
    case 'http':
      return httpReader(target, call, now);
    case 'lambda':
      return lambdaReader(target, call);
    case 'step-functions':
      return serviceReader(target, { kind: 'pending' });
    case 'queue':
      return serviceReader(target, { kind: 'all-succeeded' });
  }
};

const httpReader = (target: HttpTarget, { items }: Call, now: () => Millis): Reader => {
  const { timeout, usageHeader } = target;
  const failed = (cause: unknown): Answer => ({
    kind: 'unavailable',
    reason: whyNoAnswer(cause, timeout),
    mayRetryAtOnce: true,
  });
  return {
    answered: async (said) =>
      // Without an answer, all items succeed in any format.
      target.response && (said === undefined || said === null)
        ? { kind: 'all-succeeded' }
        : readCall(
            target,
            { items, unfit: new Map() },
            await httpAnswerOf(target.response ? inFormat(said) : said, usageHeader, now()),
          ),
    threw: failed,
    unreachable: failed,
    late: () => failed(new DOMException('too late', 'TimeoutError')),
  };
};

const httpAnswerOf = async (said: DownstreamAnswer, usageHeader: string | null, now: Millis): Promise<HttpAnswer> => {
  const { status, headers: given, body } = sendable(await replyOf(said));
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const text = body === undefined || hasNoBody(status) ? '' : typeof body === 'string' ? body : jsonOf(body);
  return {
    status,
    contentType: headers['content-type'] ?? (typeof body === 'string' ? 'text/plain' : 'application/json'),
    retryAfter: parseRetryAfter(headers['retry-after'] ?? null, now),
    ...(usageHeader === null ? {} : { usage: headers[usageHeader.toLowerCase()] ?? null }),
    ...(await readBody([
      said instanceof Response ? new Uint8Array(await said.clone().arrayBuffer()) : Buffer.from(text),
    ])),
  };
};

/** A server sends no body with these statuses. */
const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304;

/**
 * Checks an HTTP reply.
 * @throws TestbedMisused for a reply that a client could not receive
 */
const sendable = <Reply extends HttpReply>(reply: Reply): Reply => {
  const { status, body } = reply;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new TestbedMisused(`a downstream answered with the status ${status}: use a status from 200 to 599`);
  if (hasNoBody(status) && body !== undefined && body !== null && body !== '')
    throw new TestbedMisused(
      `a downstream answered ${status} with a body, which a client would not receive: use another status`,
    );
  return reply;
};

const replyOf = async (said: DownstreamAnswer): Promise<HttpReply & Required<Pick<HttpReply, 'headers'>>> => {
  if (said === undefined || said === null) return { status: 200, headers: {} };
  if (said instanceof Response) return { status: said.status, headers: Object.fromEntries(said.headers) };
  if (isHttpReply(said)) return { headers: {}, ...said };
  return { status: typeof said === 'object' && 'pending' in said ? 202 : 200, headers: {}, body: said };
};

/** In the format of an API, only an object without other members is an HTTP reply. */
const inFormat = (said: DownstreamAnswer): DownstreamAnswer => {
  const isBody = isHttpReply(said) && Object.keys(said).some((name) => !['status', 'headers', 'body'].includes(name));
  return isBody && !(said instanceof Response) ? { status: 200, body: said } : said;
};

/** Whether an answer is an HTTP reply. Checks the types, because a test that is not compiled may answer anything. */
const isHttpReply = (said: unknown): said is HttpReply =>
  typeof said === 'object' && said !== null && 'status' in said && typeof said.status === 'number';

/** Reads the answer of a Lambda function: its return value, without a status. */
const lambdaReader = (target: LambdaTarget, call: Call): Reader => ({
  ...serviceReader(target, { kind: 'all-succeeded' }),
  answered: async (said) => {
    const body = said === undefined ? 'null' : jsonOf(withoutStatus(said));
    return Buffer.byteLength(body) > RESPONSE_MAX_BYTES
      ? functionFailed(RESPONSE_TOO_LARGE, `${TOO_LARGE} (${RESPONSE_MAX_BYTES} bytes).`)
      : readPayload(body, call, target.requireResults);
  },
  threw: (cause) => {
    const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
    return functionFailed(name, message);
  },
});

/** The text of the error that Lambda itself reports. */
const TOO_LARGE = 'Response payload size exceeded maximum allowed payload size';

const functionFailed = (errorType: string, errorMessage: string): Answer =>
  readFunctionError('Unhandled', JSON.stringify({ errorType, errorMessage }));

/**
 * Checks that an answer has no HTTP status.
 * @throws TestbedMisused
 */
export const withoutStatus = <Said>(said: Said): Said => {
  if (said instanceof Response || isHttpReply(said))
    throw new TestbedMisused('only an HTTP downstream answers with a status: for this kind, return {results} or throw');
  return said;
};

/**
 * Reads the answer of an AWS service that only confirms that it accepted the call.
 * @param taken the answer that this confirmation means
 */
const serviceReader = (target: ServiceTarget, taken: Answer): Reader => {
  const { timeout } = target;
  const what = `the ${serviceName(target)}`;
  const failed = (cause: unknown, signal = new AbortController().signal): Answer =>
    answerOfFailure({ cause, what, timeout, signal });
  return {
    answered: async (said) => {
      withoutStatus(said);
      return taken;
    },
    threw: failed,
    unreachable: failed,
    late: () => failed(undefined, AbortSignal.abort()),
  };
};

/**
 * Prints a value as JSON.
 * @throws TestbedMisused for a value that JSON cannot express
 */
export const jsonOf = (value: unknown): string => {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw new TestbedMisused(`a downstream answered with a value that JSON cannot express: ${String(cause)}`, {
      cause,
    });
  }
  throw new TestbedMisused(`a downstream answered with a value that JSON cannot express: ${String(value)}`);
};
