/** The owner of each partition over time, from the workers' events. */
import type { FleetEvent } from '../../src/domain/fleets/events.ts';

export interface Owned {
  readonly partition: string;
  readonly worker: string;
  /** Start of the ownership, in ms. */
  readonly from: number;
  to: number;
}

export class Owners {
  readonly spans: Owned[] = [];
  /** The current owners, by worker process and partition. */
  readonly #open = new Map<string, Owned>();

  /**
   * Records an event of a worker.
   * @param life identifies the worker's process, because a restarted worker has the same name
   */
  hear(worker: string, life: number, event: FleetEvent, at: number): void {
    if (!('partition' in event)) return;
    const key = `${worker} ${life} ${event.partition}`;
    if (event.event === 'acquired') {
      const span = { partition: event.partition, worker, from: at, to: Number.POSITIVE_INFINITY };
      this.#open.set(key, span);
      this.spans.push(span);
    } else if (event.event === 'handed-over' || event.event === 'dropped') this.#close(key, at);
  }

  /** Ends the ownerships of a process that exited without reporting events. */
  gone(worker: string, life: number, at: number): void {
    for (const key of [...this.#open.keys()]) if (key.startsWith(`${worker} ${life} `)) this.#close(key, at);
  }

  /**
   * The number of partition moves in a time span, and the longest time for which a moved partition had no owner, in ms.
   */
  between(from: number, to: number): { readonly moved: number; readonly unowned: number } {
    const changes = [...Map.groupBy(this.spans, ({ partition }) => partition).values()].flatMap((spans) => {
      const sorted = spans.toSorted((a, b) => a.from - b.from);
      return sorted.slice(1).map((next, index) => ({ before: sorted[index] as Owned, next }));
    });
    const within = changes.filter(({ next }) => next.from >= from && next.from < to);
    return { moved: within.length, unowned: Math.max(0, ...within.map(({ before, next }) => next.from - before.to)) };
  }

  #close(key: string, at: number): void {
    const span = this.#open.get(key);
    if (span) span.to = at;
    this.#open.delete(key);
  }
}
