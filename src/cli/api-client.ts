/** The command line's side of the HTTP API. */
import { reasonOf } from '../batching/problems.ts';
import { CommandFailure, WrongUsage } from '../failure.ts';

/** An error that the API answered. */
export class ApiFailure extends CommandFailure {
  readonly status: number;
  readonly errors: readonly { readonly path: string; readonly reason: string }[];
  constructor(status: number, detail: string, errors: ApiFailure['errors']) {
    super([detail, ...errors.map(({ path, reason }) => `  ${path} ${reason}`.trimEnd())].join('\n'));
    this.status = status;
    this.errors = errors;
  }
}

export interface ApiClient {
  readonly url: string;
  /** The answer's text, and its value. @throws ApiFailure, CommandFailure */
  get(path: string): Promise<{ readonly text: string; readonly value: unknown }>;
  post(path: string, body: string): Promise<{ readonly text: string; readonly value: unknown }>;
}

/** Sends a request; what it throws as a CommandFailure is for the user. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** @param url the API's, up to its version. @throws WrongUsage */
export const apiClient = (url: string, send: Send = fetch): ApiClient => {
  const base = url.replace(/\/$/, '');
  if (!URL.canParse(base)) throw new WrongUsage(`--api takes a URL such as http://127.0.0.1:4500/v1, not ${base}`);
  const call = async (path: string, init: RequestInit = {}) => {
    const { response, text } = await reach(send, `${base}${path}`, init);
    const value = parse(text, response);
    if (response.ok) return { text, value };
    const {
      detail,
      Message,
      message,
      errors = [],
    } = value as {
      readonly detail?: string;
      /** Lambda's own answers have one of these instead. */
      readonly Message?: string;
      readonly message?: string;
      readonly errors?: ApiFailure['errors'];
    };
    const said = Message ?? message;
    const answered = `the API answered ${response.status}${said ? `: ${said}` : ''}`;
    throw new ApiFailure(response.status, detail ?? answered, errors);
  };
  return {
    url: base,
    get: (path) => call(path),
    post: (path, body) => call(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
  };
};

const reach = async (send: Send, url: string, init: RequestInit): Promise<{ response: Response; text: string }> => {
  try {
    const response = await send(url, { ...init, signal: AbortSignal.timeout(30_000) });
    return { response, text: await response.text() };
  } catch (cause) {
    if (cause instanceof CommandFailure) throw cause;
    const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    throw new CommandFailure(`${new URL(url).origin} does not answer (${reasonOf(inner)}): is the stack running?`);
  }
};

const parse = (text: string, { status, url }: Response): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(`${url} answered ${status} with something that is not JSON: is it the API of Groupage?`);
  }
};
