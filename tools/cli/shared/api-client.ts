/** The client of the HTTP API that commands use. */
import * as z from 'zod/mini';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { withoutSecrets } from '../../terminal.ts';

/** An error response of the API. */
export class ApiFailure extends CommandFailure {
  readonly status: number;
  readonly errors: readonly { readonly path: string; readonly reason: string }[];
  constructor(status: number, detail: string, errors: ApiFailure['errors']) {
    super([detail, ...errors.map(({ path, reason }) => `  ${path} ${reason}`.trimEnd())].join('\n'));
    this.status = status;
    this.errors = errors;
  }
}

/** Whether the API refused the request (4xx): nothing was done, and a repeat would be refused too. */
export const isRefused = (cause: unknown): boolean => cause instanceof ApiFailure && cause.status < 500;

/**
 * A response's text, and its parsed value.
 *
 * @public: exported functions of commands return types that contain it.
 */
export interface Answer<T> {
  readonly text: string;
  readonly value: T;
}

export interface ApiClient {
  readonly url: string;
  /** @param shape schema of the response. @throws ApiFailure, CommandFailure */
  get<T>(path: string, shape: z.ZodMiniType<T>): Promise<Answer<T>>;
  post<T>(path: string, body: string, shape: z.ZodMiniType<T>): Promise<Answer<T>>;
  put<T>(path: string, body: string, shape: z.ZodMiniType<T>): Promise<Answer<T>>;
  delete<T>(path: string, shape: z.ZodMiniType<T>): Promise<Answer<T>>;
}

/** Sends a request. It throws a CommandFailure if the message is for the user. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** An error response: `detail` from the API, `message` or `Message` from Lambda itself. Other fields are ignored. */
const said = z.catch(z.optional(z.string()), undefined);
const REFUSAL = z.catch(
  z.looseObject({
    detail: said,
    message: said,
    Message: said,
    errors: z.catch(z.optional(z.array(z.object({ path: z.string(), reason: z.string() }))), undefined),
  }),
  {},
);

/** @param url URL of the API, including its version. @throws WrongUsage */
export const apiClient = (url: string, send: Send = fetch): ApiClient => {
  const base = url.replace(/\/$/, '');
  // The message does not repeat the URL: it may contain a password.
  if (!isAddress(base))
    throw new WrongUsage(
      '--api takes an http or https URL such as http://127.0.0.1:4500/v1, without user, password or query',
    );
  const call = async <T>(path: string, shape: z.ZodMiniType<T>, init: RequestInit = {}): Promise<Answer<T>> => {
    const address = `${base}${path}`;
    const { response, text } = await reach(send, address, init);
    const value = parse(text, address, response.status);
    if (!response.ok) {
      const { detail, message, Message = message, errors = [] } = REFUSAL.parse(value);
      const answered = `the API answered ${response.status}${Message ? `: ${Message}` : ''}`;
      throw new ApiFailure(response.status, detail ?? answered, errors);
    }
    const found = shape.safeParse(value);
    if (!found.success)
      throw notTheApi(address, response.status, `an unexpected response (${z.prettifyError(found.error)})`);
    return { text, value: found.data };
  };
  return {
    url: base,
    get: (path, shape) => call(path, shape),
    post: (path, body, shape) => call(path, shape, { method: 'POST', body, headers: JSON_TYPE }),
    put: (path, body, shape) => call(path, shape, { method: 'PUT', body, headers: JSON_TYPE }),
    delete: (path, shape) => call(path, shape, { method: 'DELETE' }),
  };
};

const JSON_TYPE = { 'content-type': 'application/json' };

const isAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
};

const reach = async (send: Send, url: string, init: RequestInit): Promise<{ response: Response; text: string }> => {
  try {
    const response = await send(url, { ...init, signal: AbortSignal.timeout(30_000) });
    return { response, text: await response.text() };
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    throw new CommandFailure(
      `${new URL(url).origin} does not respond (${reasonOf(inner)}). Check that the stack is running.`,
    );
  }
};

const parse = (text: string, url: string, status: number): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw notTheApi(url, status, 'a response that is not JSON');
  }
};

const notTheApi = (url: string, status: number, what: string): CommandFailure =>
  new CommandFailure(
    `${withoutSecrets(url)} answered ${status} with ${what}. Check that this is the URL of a Groupage API.`,
  );
