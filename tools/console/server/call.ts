/** How the console's server reaches the API. */
import { READ_UNITS } from '../../../src/api/shared/read-units.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';

/**
 * Makes a call of the API. The request's path is the API's own (`/v1/…`), its host says nothing.
 *
 * @throws CommandFailure when it could not be made: why, in words.
 */
export type CallApi = (request: Request) => Promise<Response>;

/**
 * What a call is taken to have cost by an API that never says it: one that was deployed with an earlier version. Most
 * calls cost less, so that it is asked more seldom than it could be.
 */
const UNKNOWN_READ_UNITS = 25;

/** Of the answers of one API what each cost. */
export const readUnitsReader = (): ((answer: Response) => number) => {
  let isSaid = false;
  return ({ headers }) => {
    const units = Number(headers.get(READ_UNITS) ?? Number.NaN);
    if (Number.isNaN(units)) return isSaid ? 0 : UNKNOWN_READ_UNITS;
    isSaid = true;
    return Math.max(0, units);
  };
};

/** Why a call could not be made, in words. */
export const troubleOf = (cause: unknown): string => {
  if (cause instanceof CommandFailure || !(cause instanceof Error)) return reasonOf(cause);
  if (cause.name === 'TimeoutError') return 'the API does not answer in time';
  // What went wrong with the connection is the error's cause.
  return `the API does not answer (${reasonOf(cause.cause ?? cause)})`;
};

/** Of an answer that is handed on. What is about the connection, or the body's encoding, is not true here. */
const HANDED_ON = ['content-type', 'allow', 'retry-after', READ_UNITS];

/** How long an API elsewhere may take (ms). */
const PATIENCE = 30_000;

/**
 * Calls an API elsewhere.
 *
 * @param base up to its version.
 * @param send takes a body as text and headers as a plain object.
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

/** Half a character would arrive as another one. @throws CommandFailure */
const textOf = async (request: Request): Promise<string> => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await request.arrayBuffer());
  } catch (cause) {
    throw new CommandFailure('the body is not UTF-8', { cause });
  }
};
