/**
 * A testbed: one's own operations, run by the real code in virtual time, without engines.
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

/** A message that was refused, as it lies in the rejected queue. */
export interface RejectedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly reasons: readonly Problem[];
  readonly at: Date;
}

/** An event that came to a destination. */
export interface DeliveredEvent {
  /** The name of the destination. */
  readonly to: string;
  readonly event: CloudEvent;
  readonly at: Date;
}

/** A fan-out as it stands. */
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

/** Which tasks are to have another run. */
export type ToRedrive = { readonly ids: readonly string[] } | { readonly target: string };

/**
 * Everything that happens does so in `advance()` and `settle()`, in order, and takes no time but that which it waits
 * for. What is asked of the API throws ApiRefused as the real one refuses it.
 */
export interface Testbed<Known extends Operations = Record<string, object>> extends Client<Known> {
  /** What time it is. */
  readonly now: Date;
  /**
   * Lets time go by: everything happens that is due meanwhile.
   *
   * @param span `"1s"`, or milliseconds; 0: what is due now
   */
  advance(span: Duration | number): Promise<void>;
  /**
   * Lets time go by until every task has ended and every queue is empty.
   *
   * @param options how long, in virtual time: a day, if it is not said
   * @throws NotSettled at once where the rest waits for somebody (a job's report, the end of a pause), or
   * after `within`
   */
  settle(options?: { readonly within?: Duration | number }): Promise<void>;

  /** Tasks in the order in which they were registered. */
  readonly tasks: readonly TaskView[];
  task(id: string): TaskView | undefined;
  /** Batches in the order in which they were formed. */
  readonly batches: readonly BatchView[];
  /** Calls that arrived downstream, in order. */
  readonly calls: readonly LoggedCall[];
  /** Events that came to destinations, in order. */
  readonly callbacks: readonly DeliveredEvent[];
  /** Messages that were refused. */
  readonly rejected: readonly RejectedMessage[];
  /** What the functions report: what production writes into its logs, and counts. */
  readonly events: readonly FlowEvent[];

  /**
   * Sends a message as it is to the register queue, right or wrong.
   *
   * @returns its name, which is the task's id where it has none.
   */
  sendMessage(body: string): string;
  /** Pauses an operation, or one of its Targets. */
  pause(of: string, reason?: string): Promise<void>;
  resume(of: string): Promise<void>;
  /** Seals what waits in a Target now. */
  flush(target: string): Promise<void>;
  /** Cancels a task that no batch has. */
  cancel(id: string): Promise<void>;
  /** Another run for tasks that have failed. @returns how many. */
  redrive(which: ToRedrive): Promise<number>;
  /** A job that reports later says how its items ended. @default all have succeeded */
  complete(
    batchId: string,
    report?: { readonly results: readonly ItemResult[] } | { readonly inputs: readonly InputResult[] },
  ): Promise<void>;

  /** Fan-outs, and how they stand. */
  readonly fanOuts: FanOutClient & { get(id: string): Promise<FanOutView> };
  readonly lists: ListClient;
  /** The whole HTTP API, for code that is given a `fetch`: any origin, paths under `/v1`. */
  readonly fetch: typeof fetch;

  /** Lets something go wrong: at its next occasion, unless it says otherwise. */
  inject(mishap: Mishap<keyof Known & string>): Injected;
  /** From now on nothing goes wrong any more, neither what was arranged nor by chance. */
  calm(): void;
}
