/** What the test's downstreams receive, and what they may answer: the content of requests and responses. */
import type { Duration } from '../domain/config/duration.ts';

/** An item of a call: one task to process. */
export interface ReceivedItem<Payload extends object> {
  readonly id: string;
  /** A copy of the payload that was sent. For merged requests, use the call's `inputs` instead. */
  readonly payload: Payload;
}

/** One call: the open items of a batch. */
export interface ReceivedCall<Payload extends object = Record<string, unknown>> {
  readonly batchId: string;
  readonly operation: string;
  readonly target: string;
  /** Number of the attempt: 1 at first. Each attempt after a pause adds one. */
  readonly attempt: number;
  readonly items: readonly ReceivedItem<Payload>[];
  /** For merged requests: the inputs of all items, each once. */
  readonly inputs?: readonly unknown[];
  /** Idempotency key: the same for repeated calls with the same items. */
  readonly idempotencyKey: string;
  readonly traceparent: string;
  /** The request as the batch API receives it, if the operation configures its format (`downstream.request`). */
  readonly request?: ReceivedRequest;
}

/** A request in the format of a batch API. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
}

/** What a downstream can do during a call, apart from answering. */
export interface AtWork {
  /**
   * Waits in virtual time (`"2s"`, or milliseconds). If the call takes longer than the operation's `timeout`, its
   * answer is ignored.
   */
  takes(span: Duration | number): Promise<void>;
}

/** The outcome of one item. */
export type ItemResult =
  | { readonly id: string; readonly status: 'succeeded'; readonly result?: unknown }
  | { readonly id: string; readonly status: 'failed' | 'retry' | 'throttled'; readonly error?: ItemError };

/** Why an item failed, or is to be retried. */
export type ItemError = string | { readonly code?: string; readonly message?: string; readonly retriable?: boolean };

/** The outcome of one input of a merged call. */
export interface InputResult {
  readonly key: unknown;
  readonly status: 'succeeded' | 'failed' | 'retry' | 'throttled';
  readonly error?: ItemError;
}

/** An HTTP answer. */
export interface HttpReply {
  readonly status: number;
  /** Only `retry-after`, `content-type` and the operation's `usageHeader` have an effect. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
}

/**
 * What a downstream answers:
 * - nothing: all items have succeeded.
 * - `{results}`: the outcome of each item; an item that is left out is retried.
 * - `{inputs}`: the outcome of each input of a merged call.
 * - `{pending: true}`: the downstream reports later, by `testbed.complete()`.
 * - `{status}` or a `Response`: this HTTP answer. Only for HTTP downstreams.
 * - with `downstream.response`: a body in that format.
 *
 * `usage` is the weight that the call really used, under a limit that has `weight`.
 */
export type DownstreamAnswer =
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a downstream that says nothing
  | void
  | null
  | { readonly results: readonly ItemResult[]; readonly usage?: number }
  | { readonly inputs: readonly InputResult[]; readonly usage?: number }
  | { readonly pending: true; readonly usage?: number }
  | HttpReply
  | Response;

/**
 * A batch API of the test. An error that the function throws becomes a network error, or the failure of a Lambda
 * function or an execution.
 */
export type DownstreamFunction<Payload extends object = Record<string, unknown>> = (
  call: ReceivedCall<Payload> & AtWork,
) => DownstreamAnswer | Promise<DownstreamAnswer>;
