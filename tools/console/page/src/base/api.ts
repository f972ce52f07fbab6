/** Calls of the HTTP API, and what is wrong with one in the API's own words. */
import { query } from './router.ts';

/** One thing that is wrong with a request, and where. */
interface Problem {
  readonly path: string;
  readonly reason: string;
}

export type Reply<Body> =
  | { readonly ok: true; readonly status: number; readonly body: Body; readonly text: string }
  | { readonly ok: false; readonly status: number; readonly detail: string; readonly errors: readonly Problem[] };

type Method = 'GET' | 'POST' | 'DELETE';

/** Never throws: what a person asked for is answered in words, whatever happens. Status 0: nobody answered. */
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
    const detail = `no answer came (${cause instanceof Error ? cause.message : String(cause)}): does the console's server still run?`;
    return { ok: false, status: 0, detail, errors: [] };
  }
};

export const get = <Body>(path: string): Promise<Reply<Body>> => call('GET', path);
export const post = <Body>(path: string, body?: unknown): Promise<Reply<Body>> => call('POST', path, body);
export const remove = <Body>(path: string): Promise<Reply<Body>> => call('DELETE', path);

/** @param text problem+json as the API answers; whoever stands between may answer with something else. */
export const refusalOf = (status: number, text: string): Extract<Reply<never>, { ok: false }> => {
  try {
    const { detail, title, errors } = JSON.parse(text) as {
      readonly detail?: string;
      readonly title?: string;
      readonly errors?: readonly Problem[];
    };
    return { ok: false, status, detail: detail ?? title ?? `it was answered with ${status}`, errors: errors ?? [] };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return { ok: false, status, detail: text.slice(0, 300) || `it was answered with ${status}`, errors: [] };
  }
};

const id = encodeURIComponent;

/** The addresses of what is read; each is asked live by its view. */
export const PATHS = {
  operations: '/v1/operations',
  operation: (name: string) => `/v1/operations/${id(name)}`,
  queues: '/v1/queues',
  targets: (of: { readonly operation?: string; readonly prefix?: string; readonly cursor?: string; limit?: number }) =>
    `/v1/targets${query({ operation: of.operation, prefix: of.prefix, limit: of.limit?.toString(), cursor: of.cursor })}`,
  batches: (target: string, limit: number, cursor?: string) =>
    `/v1/batches${query({ target, limit: String(limit), cursor })}`,
  batch: (batchId: string) => `/v1/batches/${id(batchId)}`,
  task: (taskId: string) => `/v1/tasks/${id(taskId)}`,
  tasks: (target: string, status: 'created' | 'failed', limit: number) =>
    `/v1/tasks${query({ target, status, limit: String(limit) })}`,
  failures: (cursor?: string) => `/v1/failures${query({ cursor })}`,
  fanOuts: (cursor?: string) => `/v1/fan-outs${query({ limit: '50', cursor })}`,
  fanOut: (fanOutId: string) => `/v1/fan-outs/${id(fanOutId)}`,
  lists: (cursor?: string) => `/v1/lists${query({ limit: '50', cursor })}`,
  list: (listId: string) => `/v1/lists/${id(listId)}`,
  jobs: (listId: string, from: number) => `/v1/lists/${id(listId)}/jobs?from=${from}&limit=50`,
  fleets: '/v1/fleets',
  fleet: (name: string) => `/v1/fleets/${id(name)}`,
  partition: (name: string, partitionId: string) => `/v1/fleets/${id(name)}/partitions/${id(partitionId)}`,
} as const;
