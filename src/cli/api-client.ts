/** The command line's side of the HTTP API. */

import { dirname } from 'node:path';
import { reasonOf } from '../batching/problems.ts';
import { readLocalFile } from '../local/local-file.ts';

/** Something that the user can mend: shown as one message, exit status 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** The command was used wrongly: exit status 2. */
export class WrongUsage extends CommandFailure {}

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

/** @param url the API's, up to its version; the running local stack's without it. @throws CommandFailure */
export const apiClient = (url: string | undefined, folder = process.cwd()): ApiClient => {
  const base = (url ?? localUrl(folder)).replace(/\/$/, '');
  if (!URL.canParse(base)) throw new WrongUsage(`--api takes a URL such as http://127.0.0.1:4500/v1, not ${base}`);
  const call = async (path: string, init?: RequestInit) => {
    const { response, text } = await reach(`${base}${path}`, init);
    const value = parse(text, response);
    if (response.ok) return { text, value };
    const { detail = `the API answered ${response.status}`, errors = [] } = value as {
      detail?: string;
      errors?: ApiFailure['errors'];
    };
    throw new ApiFailure(response.status, detail, errors);
  };
  return {
    url: base,
    get: (path) => call(path),
    post: (path, body) => call(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
  };
};

/** The stack that runs in this folder, or in one above it. */
const localUrl = (folder: string): string => {
  const file = readLocalFile(folder);
  if (file) return file.api;
  const above = dirname(folder);
  if (above !== folder) return localUrl(above);
  throw new CommandFailure(
    'no local stack runs in this folder: start one with `npm start`, or name an API with --api URL',
  );
};

const reach = async (url: string, init: RequestInit | undefined): Promise<{ response: Response; text: string }> => {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
    return { response, text: await response.text() };
  } catch (cause) {
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
