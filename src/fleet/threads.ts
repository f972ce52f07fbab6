/**
 * The two threads of a node, seen from the working thread. The heartbeat thread writes heartbeats, reads the fleet and
 * decides; this thread does the work on partitions.
 */

import { extname } from 'node:path';
import { setTimeout as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { FleetEvent, WhenFinished } from '../domain/fleets/events.ts';
import type { FleetName, NodeId, NodeKey } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import { MINUTE } from '../domain/timings.ts';
import type { Fleets } from '../ports/fleets.ts';
import { NodeNameTaken } from './belonging.ts';
import { lineOf, NodeMetrics } from './embedded-metrics.ts';
import type { Partition } from './partition.ts';
import { monotonic, Shared, type ThreadData, type ToHeartbeats, type ToWorkers } from './shared.ts';
import { Workers } from './workers.ts';

/** Interval at which this thread shows that it is not blocked, and checks its deadline. */
const TICK: Millis = 250;

/** The heartbeat thread ended or could not start. Without it, no work on partitions is possible. */
export class HeartbeatsStopped extends Error {
  override readonly name = 'HeartbeatsStopped';
}

/** File extension of this module: the repository runs TypeScript sources, and the published package is compiled. */
const EXTENSION = extname(import.meta.url);

interface ThreadDeps {
  readonly fleets: Fleets;
  readonly onPartition: (partition: Partition) => Promise<void>;
  readonly onEvent: (event: FleetEvent) => void;
  readonly whenFinished: WhenFinished;
}

export class Threads {
  readonly #shared = new Shared();
  readonly #thread: Worker;
  readonly #workers: Workers;
  readonly #onEvent: (event: FleetEvent) => void;
  readonly #ticking: NodeJS.Timeout;
  readonly #measuring: NodeJS.Timeout | undefined;
  readonly #metrics = new NodeMetrics();
  readonly #id: NodeId;
  readonly #fleet: FleetName;
  readonly #over = Promise.withResolvers<void>();
  /**
   * The life of the node in which the last partition was assigned, and the number of that life. Partitions of earlier
   * lives must not be worked on.
   */
  #life: { readonly of: NodeKey; readonly number: number } | undefined;
  #later = Promise.withResolvers<void>();

  constructor(data: Omit<ThreadData, 'shared'>, { fleets, onPartition, onEvent, whenFinished }: ThreadDeps) {
    const { fleet } = data.setting;
    this.#id = data.id;
    this.#fleet = fleet;
    this.#onEvent = onEvent;
    this.#shared.showLife();
    this.#workers = new Workers({
      clock: { now: monotonic, sleep: async (span) => setTimeout(span, undefined, { ref: false }) },
      onPartition,
      deadline: ({ owner }) => (this.#life?.of === owner ? this.#shared.deadlineOf(this.#life.number) : 0),
      nextDeadline: () => this.#later.promise,
      checkpoint: (held, text, count) => fleets.checkpoint(fleet, held, text, count),
      drained: (held, isReleased = false) => this.#ask({ do: 'drained', held, isReleased }),
      whenFinished,
      report: (event, { owner }) => this.#emit({ ...event, fleet, node: owner }),
    });
    this.#ticking = setInterval(() => {
      this.#shared.showLife();
      this.#workers.suspendLate();
    }, TICK);
    this.#thread = new Worker(new URL(`./heartbeat-thread${EXTENSION}`, import.meta.url), {
      workerData: { ...data, shared: this.#shared.buffer } satisfies ThreadData,
    });
    if (data.measures) this.#measuring = setInterval(() => this.#measure(), MINUTE).unref();
    const stopped = (why: string, cause?: unknown): void => this.#over.reject(new HeartbeatsStopped(why, { cause }));
    this.#thread
      .on('message', (message: ToWorkers) => this.#receive(message))
      .on('error', (cause) => stopped('the heartbeat thread failed', cause))
      .on('exit', (code) => stopped(`the heartbeat thread ended with exit code ${code}`));
  }

  /**
   * Resolves when the node has left. Rejects with {@link HeartbeatsStopped}, {@link NodeNameTaken}, or with the error
   * that `onEvent` threw.
   */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Gives all partitions away. After `drainTimeout` ms, partitions whose work still runs are given away too. */
  leave(drainTimeout: Millis): void {
    this.#ask({ do: 'leave' });
    setTimer(() => this.#workers.giveUp(), drainTimeout).unref();
  }

  /** Ends both threads. Aborts the signals of running work. */
  async stop(): Promise<void> {
    // Ignore messages in flight: they would begin work that nothing ends.
    this.#thread.removeAllListeners('message');
    this.#workers.dropAll();
    clearInterval(this.#ticking);
    clearInterval(this.#measuring);
    await this.#thread.terminate();
  }

  #ask(message: ToHeartbeats): void {
    this.#thread.postMessage(message);
  }

  /**
   * Calls the listener of events. An error of the listener ends the run, but must not interrupt the caller half-way.
   */
  #emit(event: FleetEvent): void {
    this.#metrics.count(event);
    try {
      this.#onEvent(event);
    } catch (cause) {
      this.#over.reject(cause);
    }
  }

  #measure(): void {
    const line = lineOf(this.#metrics.take(this.#workers.workload), this.#fleet, this.#id, Date.now());
    if (line !== undefined) process.stdout.write(`${line}\n`);
  }

  #receive(message: ToWorkers): void {
    switch (message.do) {
      case 'begin':
        this.#life = { of: message.held.owner, number: message.life };
        this.#workers.begin(message.held, message.checkpoint);
        break;
      case 'drain':
        this.#workers.drain(message.held);
        break;
      case 'drop':
        this.#workers.drop(message.held, message.reason);
        break;
      case 'go-on':
        this.#later.resolve();
        this.#later = Promise.withResolvers<void>();
        break;
      case 'tell':
        this.#emit(message.event);
        break;
      case 'seen':
        this.#metrics.seen(message.unworked);
        break;
      case 'refused':
        this.#over.reject(new NodeNameTaken(this.#fleet, this.#id, message.by));
        break;
      case 'over':
        this.#over.resolve();
        break;
    }
  }
}
