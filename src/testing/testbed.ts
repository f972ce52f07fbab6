/**
 * A testbed runs your own operations through the real code, in virtual time, without database or queue engines.
 *
 * ```ts
 * const bed = createTestbed(config, { downstreams: { 'distribute-parcels': ({ items }) => ({ results: … }) } });
 * await bed.send({ operation: 'distribute-parcels', payload: { carrier: 'DHL', depot: 'MUC' } });
 * await bed.advance('1s');
 * expect(bed.batches).toMatchObject([{ size: 1, sealedBy: 'waited', status: 'succeeded' }]);
 * ```
 */

import type { FanOutClient } from '../client/fan-out-client.ts';
import type { ListClient } from '../client/list-client.ts';
import type { Client, Operations } from '../client/sent-tasks.ts';
import type { Duration } from '../domain/config/duration.ts';
import type { FlowEvent } from '../domain/events/events.ts';
import type { Problem } from '../util/problems.ts';
import type { LoggedCall } from './downstream.ts';
import type { Injected, Mishap } from './mishaps.ts';
import type { CloudEvent } from './options.ts';
import type { BatchView, TaskView } from './views.ts';
import type { InputResult, ItemResult } from './wire.ts';

/** A rejected message, in the form in which the rejected queue contains it. */
export interface RejectedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly reasons: readonly Problem[];
  readonly at: Date;
}

/** An event that a destination accepted. */
export interface DeliveredEvent {
  /** Name of the destination. */
  readonly to: string;
  readonly event: CloudEvent;
  readonly at: Date;
}

/** The state of a fan-out. */
export interface FanOutView {
  readonly id: string;
  readonly status: 'open' | 'sealed' | 'complete' | 'expired';
  readonly total: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly pending?: number;
  readonly userKey?: string;
  readonly because?: string;
  readonly createdAt: string;
  readonly endedAt?: string;
}

/** How much is used of what a limit allows. */
export interface LimitUse {
  readonly used: number;
  readonly allowed: number;
}

/** The calls of a limit that count together: all of them, or those with the same key. */
export interface LimitBucketView {
  /** The key, such as `account=17`. Absent if the limit has none. */
  readonly key?: string;
  /** The number of the part, if the limit is divided because it allows more than one row can store. */
  readonly part?: number;
  /** When the next call may start. Absent if a call in progress has to end first. */
  readonly nextAt?: string;
  /** Calls that started in the last span, and their weight. Absent if the limit does not count them. */
  readonly calls?: LimitUse;
  readonly weight?: LimitUse;
  /** Calls in progress, and their weight. Absent if the limit does not count them. */
  readonly inProgress?: LimitUse;
  readonly weightInProgress?: LimitUse;
  /** About how many calls have been promised a start in the next seconds. Absent if none. */
  readonly planned?: number;
  /** How many Targets and batches wait for a call, counted up to 100. */
  readonly waiting: number;
  /** The first of them, at most 10. */
  readonly next: readonly {
    readonly target: string;
    /** The batch that waits for another attempt. Absent if the Target waits to seal one. */
    readonly batchId?: string;
    /** When the oldest of its tasks was registered. */
    readonly since: string;
    readonly weight: number;
  }[];
}

/** The tasks to redrive: given by their ids, or all failed tasks of a Target. */
export type ToRedrive = { readonly ids: readonly string[] } | { readonly target: string };

/**
 * A testbed. Everything happens during `advance()` and `settle()`, in order, and only waits take virtual time. Methods
 * that call the HTTP API throw ApiRefused if the API refuses the call.
 */
export interface Testbed<Known extends Operations = Record<string, object>> extends Client<Known> {
  /** The current virtual time. */
  readonly now: Date;
  /**
   * Advances virtual time. Everything that is due within this span happens.
   *
   * @param span `"1s"`, or milliseconds; with 0, only what is due now happens
   */
  advance(span: Duration | number): Promise<void>;
  /**
   * Advances virtual time until every task has ended and every queue is empty.
   *
   * @param options `within`: the limit in virtual time, one day by default
   * @throws NotSettled at once if the remaining tasks wait for input (a job's report, the end of a pause); otherwise
   * when the limit is reached
   */
  settle(options?: { readonly within?: Duration | number }): Promise<void>;

  /** Tasks, in the order in which they were registered. */
  readonly tasks: readonly TaskView[];
  /** A task by its id; undefined if it is not registered. */
  task(id: string): TaskView | undefined;
  /** Batches, in the order in which they were formed. */
  readonly batches: readonly BatchView[];
  /** Calls that reached a downstream, in order. */
  readonly calls: readonly LoggedCall[];
  /** Events that destinations accepted, in order. */
  readonly callbacks: readonly DeliveredEvent[];
  /** Messages that were refused. */
  readonly rejected: readonly RejectedMessage[];
  /** The events that the functions report. In production these events go to logs and metrics. */
  readonly events: readonly FlowEvent[];

  /**
   * Sends a text to the register queue unchanged, whether it is a valid message or not.
   *
   * @returns the message id, which becomes the task's id if the message contains no id
   */
  sendMessage(body: string): string;
  /** Pauses an operation, or one of its Targets. */
  pause(of: string, reason?: string): Promise<void>;
  /** Resumes an operation, or one of its Targets. */
  resume(of: string): Promise<void>;
  /** Seals the waiting tasks of a Target now. */
  flush(target: string): Promise<void>;
  /** Cancels a task that is in no batch. */
  cancel(id: string): Promise<void>;
  /**
   * Runs failed tasks again.
   * @returns the number of tasks redriven
   */
  redrive(which: ToRedrive): Promise<number>;
  /**
   * Reports the outcomes of a batch's pending items, as the downstream's job would.
   * @param report by default, all items succeed
   */
  complete(
    batchId: string,
    report?: { readonly results: readonly ItemResult[] } | { readonly inputs: readonly InputResult[] },
  ): Promise<void>;

  /**
   * The buckets of a limit: their use, and the waiting Targets. A bucket is listed after its first call.
   * @param name a limit of the configuration, or `rate:OPERATION` for the `rateLimit` of an operation
   */
  limit(name: string): Promise<readonly LimitBucketView[]>;

  /** A client for fan-outs, and `get` for the state of a fan-out. */
  readonly fanOuts: FanOutClient & { get(id: string): Promise<FanOutView> };
  /** A client for deferred lists. */
  readonly lists: ListClient;
  /** The whole HTTP API, for code that takes a `fetch`. The URL may have any origin; its path begins with `/v1`. */
  readonly fetch: typeof fetch;

  /** Arranges a mishap. It happens once, at its next occasion, unless the mishap says otherwise. */
  inject(mishap: Mishap<keyof Known & string>): Injected;
  /** Ends all faults: the arranged mishaps, and the faults that happen by chance. */
  calm(): void;
}
