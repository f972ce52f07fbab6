/** Calls of the API by the console's server. */
import { READ_UNITS } from '../../../src/api/shared/read-units.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';

/**
 * Makes a call of the API. The request's path is the API's own (`/v1/…`); its host is ignored.
 *
 * @throws CommandFailure if the call could not be made; the message says why.
 */
export type CallApi = (request: Request) => Promise<Response>;

/**
 * The assumed cost of a call, in read units, until an answer of the API states a cost. A stack that was deployed with
 * an early release never states a cost. Most calls cost less than assumed, so the console calls such an API less often
 * than it could.
 */
const UNKNOWN_READ_UNITS = 25;

/** Returns a function that reads the cost of each answer, in read units. All answers must come from one API. */
export const readUnitsReader = (): ((answer: Response) => number) => {
  let isSaid = false;
  return ({ headers }) => {
    const units = Number(headers.get(READ_UNITS) ?? Number.NaN);
    if (Number.isNaN(units)) return isSaid ? 0 : UNKNOWN_READ_UNITS;
    isSaid = true;
    return Math.max(0, units);
  };
};

/** The reason why a call could not be made, as a text. */
export const troubleOf = (cause: unknown): string => {
  if (cause instanceof CommandFailure || !(cause instanceof Error)) return reasonOf(cause);
  if (cause.name === 'TimeoutError') return 'the API did not answer in time';
  // The error's cause names the failure of the connection.
  return `the API does not answer (${reasonOf(cause.cause ?? cause)})`;
};

/**
 * The headers that are passed on from an answer. Headers about the connection or the encoding of the body do not apply
 * to the answer that the console's server sends.
 */
const HANDED_ON = ['content-type', 'allow', 'retry-after', READ_UNITS];

/** Maximum time that a remote API may take to answer, in milliseconds. */
const PATIENCE = 30_000;

/**
 * Calls a remote API.
 *
 * @param base the address of the API, including the version. @param send makes the request. It takes a body as text and
 * headers as a plain object.
 */
export const remoteCall =
  (base: string, send: (url: string, init: RequestInit) => Promise<Response>): CallApi =>
  async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await textOf(request);
    const type = request.headers.get('content-type') ?? 'application/json';
    const init = {
      method: request.method,
      ...(body === '' ? {} : { body, headers: { 'content-type': type } }),
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(PATIENCE)]),
    };
    const answer = await orTrouble(() => send(`${base}${pathname.slice('/v1'.length)}${search}`, init));
    const kept = HANDED_ON.flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return new Response(answer.body, { status: answer.status, headers: kept });
  };

const orTrouble = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : new CommandFailure(troubleOf(cause), { cause });
  }
};

/**
 * Reads the body of a request. Refuses a body that is not UTF-8, because decoding would replace invalid bytes. @throws
 * CommandFailure
 */
const textOf = async (request: Request): Promise<string> => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await request.arrayBuffer());
  } catch (cause) {
    throw new CommandFailure('the body of the request is not UTF-8', { cause });
  }
};
