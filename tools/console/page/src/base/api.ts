/** Makes calls of the HTTP API. The texts of the API's errors are kept. */
import { query } from './router.ts';

/** One problem of a request, with its path. */
interface Problem {
  readonly path: string;
  readonly reason: string;
}

export type Reply<Body> =
  | { readonly ok: true; readonly status: number; readonly body: Body; readonly text: string }
  | { readonly ok: false; readonly status: number; readonly detail: string; readonly errors: readonly Problem[] };

type Method = 'GET' | 'POST' | 'DELETE';

/** Never throws: a failure becomes a reply with a text for the user. Status 0 means that no answer arrived. */
const call = async <Body>(method: Method, path: string, body?: unknown): Promise<Reply<Body>> => {
  try {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(path, { method, headers, ...sent });
    const text = await response.text();
    return response.ok
      ? { ok: true, status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body, text }
      : refusalOf(response.status, text);
  } catch (cause) {
    const detail = `no answer from the console's server (${cause instanceof Error ? cause.message : String(cause)}). Check that it is still running`;
    return { ok: false, status: 0, detail, errors: [] };
  }
};

export const get = <Body>(path: string): Promise<Reply<Body>> => call('GET', path);
export const post = <Body>(path: string, body?: unknown): Promise<Reply<Body>> => call('POST', path, body);
export const remove = <Body>(path: string): Promise<Reply<Body>> => call('DELETE', path);

/** A path of a change with the reason that a user gave for the audit trail. */
export const because = (path: string, reason: string): string => `${path}${query({ reason })}`;

/**
 * Converts an error answer to a reply. @param text problem+json from the API, or a text in another format, because a
 * proxy in between may have answered.
 */
export const refusalOf = (status: number, text: string): Extract<Reply<never>, { ok: false }> => {
  try {
    const { detail, title, errors } = JSON.parse(text) as {
      readonly detail?: string;
      readonly title?: string;
      readonly errors?: readonly Problem[];
    };
    return {
      ok: false,
      status,
      detail: detail ?? title ?? `the answer was HTTP status ${status}`,
      errors: errors ?? [],
    };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return { ok: false, status, detail: text.slice(0, 300) || `the answer was HTTP status ${status}`, errors: [] };
  }
};

const id = encodeURIComponent;

/** The path of a search. @param isFull whether all results are wanted, and not only the best. */
export const searchPath = (text: string, isFull: boolean): string =>
  `/console/search${query({ q: text, full: isFull ? '1' : undefined })}`;

/** The path of the advice about an operation, which takes a second or two. */
export const advicePath = (operation: string): string => `/console/advice${query({ operation })}`;

/** The paths of the API that views read. The page keeps the answers for the open view up to date. */
export const PATHS = {
  operations: '/v1/operations',
  operation: (name: string) => `/v1/operations/${id(name)}`,
  configuration: (name: string) => `/v1/operations/${id(name)}/configuration`,
  queues: '/v1/queues',
  removed: '/v1/doctor/removed',
  letters: (queue: string) => `/v1/dead-letters/${id(queue)}/messages?limit=50`,
  targets: (of: {
    readonly operation?: string;
    readonly prefix?: string;
    readonly search?: string;
    readonly sort?: string;
    readonly cursor?: string;
    readonly limit?: number;
  }) =>
    `/v1/targets${query({ operation: of.operation, prefix: of.prefix, search: of.search, sort: of.sort, limit: of.limit?.toString(), cursor: of.cursor })}`,
  batches: (of: {
    readonly target?: string | undefined;
    readonly operation?: string | undefined;
    readonly which?: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit: number;
  }) =>
    `/v1/batches${query({ target: of.target, operation: of.operation, which: of.which, limit: String(of.limit), cursor: of.cursor })}`,
  membersOf: (batch: string, limit: number) => `/v1/tasks${query({ batch, limit: String(limit) })}`,
  batch: (batchId: string) => `/v1/batches/${id(batchId)}`,
  task: (taskId: string) => `/v1/tasks/${id(taskId)}`,
  tasks: (target: string, status: 'created' | 'batched' | 'in-progress' | 'failed', limit: number) =>
    `/v1/tasks${query({ target, status, limit: String(limit) })}`,
  failures: (cursor?: string) => `/v1/failures${query({ cursor })}`,
  fanOuts: (cursor?: string) => `/v1/fan-outs${query({ limit: '50', cursor })}`,
  fanOut: (fanOutId: string) => `/v1/fan-outs/${id(fanOutId)}`,
  items: (fanOutId: string, status: 'pending' | 'failed', cursor?: string) =>
    `/v1/fan-outs/${id(fanOutId)}/items${query({ status, limit: '100', cursor })}`,
  lists: (cursor?: string) => `/v1/lists${query({ limit: '50', cursor })}`,
  list: (listId: string) => `/v1/lists/${id(listId)}`,
  claims: (listId: string) => `/v1/lists/${id(listId)}/claims`,
  claim: (listId: string, claim: string) => `/v1/lists/${id(listId)}/claims/${id(claim)}`,
  jobs: (listId: string, from: number, status?: string) =>
    `/v1/lists/${id(listId)}/jobs${query({ status, from: String(from), limit: '50' })}`,
  limits: '/v1/limits',
  limit: (name: string, key: string | undefined, cursor: string | undefined) =>
    `/v1/limits/${id(name)}${query({ key, cursor })}`,
  audit: (cursor?: string) => `/v1/audit${query({ limit: '50', cursor })}`,
  fleets: '/v1/fleets',
  fleet: (name: string) => `/v1/fleets/${id(name)}`,
  partition: (name: string, partitionId: string) => `/v1/fleets/${id(name)}/partitions/${id(partitionId)}`,
} as const;
