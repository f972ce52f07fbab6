/** What a downstream of the test's own gets, and what it may answer: what goes over the wire. */
import type { Duration } from '../domain/config/duration.ts';

/** An item of a call: a task that wants to be done. */
export interface ReceivedItem<Payload extends object> {
  readonly id: string;
  /** A copy of what was sent. Where requests are merged, the call's `inputs` stand in for it. */
  readonly payload: Payload;
}

/** One call: the open items of a batch. */
export interface ReceivedCall<Payload extends object = Record<string, unknown>> {
  readonly batchId: string;
  readonly operation: string;
  readonly target: string;
  /** 1 at first; each attempt after a pause adds one. */
  readonly attempt: number;
  readonly items: readonly ReceivedItem<Payload>[];
  /** Where requests are merged: the inputs of all items, each once. */
  readonly inputs?: readonly unknown[];
  /** The same for a repeated call about the same items. */
  readonly idempotencyKey: string;
  readonly traceparent: string;
}

/** What a downstream can do during a call, beside answering. */
export interface AtWork {
  /**
   * Takes so long, in virtual time (`"2s"`, or milliseconds). Beyond the operation's `timeout` nobody waits for the
   * answer any more.
   */
  takes(span: Duration | number): Promise<void>;
}

/** What is said of one item. */
export type ItemResult =
  | { readonly id: string; readonly status: 'succeeded'; readonly result?: unknown }
  | { readonly id: string; readonly status: 'failed' | 'retry'; readonly error?: ItemError };

/** Why an item failed, or is to be tried again. */
export type ItemError = string | { readonly code?: string; readonly message?: string; readonly retriable?: boolean };

/** What a merged call says of one of its inputs. */
export interface InputResult {
  readonly key: unknown;
  readonly status: 'succeeded' | 'failed' | 'retry';
  readonly error?: ItemError;
}

/** An HTTP answer. */
export interface HttpReply {
  readonly status: number;
  /** `retry-after` and `content-type` count. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text goes out as it is, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * What a downstream answers:
 * - nothing: all items have succeeded.
 * - `{results}`: what became of each; an item that is left out is tried again.
 * - `{inputs}`: of a merged call, what became of each input.
 * - `{pending: true}`: it reports later, by `testbed.complete()`.
 * - `{status}` or a `Response`: that HTTP answer. Of HTTP downstreams alone.
 */
export type DownstreamAnswer =
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a downstream that says nothing
  | void
  | null
  | { readonly results: readonly ItemResult[] }
  | { readonly inputs: readonly InputResult[] }
  | { readonly pending: true }
  | HttpReply
  | Response;

/** A batch API of the test's own. What it throws is a network error, or what a function or an execution fails with. */
export type DownstreamFunction<Payload extends object = Record<string, unknown>> = (
  call: ReceivedCall<Payload> & AtWork,
) => DownstreamAnswer | Promise<DownstreamAnswer>;
