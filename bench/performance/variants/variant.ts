/** A way to get tasks to the downstream. */
import type { Site } from '../site.ts';

export interface Variant {
  readonly name: string;
  /** A sentence for the documentation: what it is, and what of it is emulated. */
  readonly about: string;
  /** Whether its queue is a FIFO queue, with the Target as message group. */
  readonly fifo?: true;
  start(site: Site): Promise<Running>;
}

export interface Running {
  /** Where producers send register messages. */
  readonly queueUrl: string;
  /** Every queue that a message may be in. */
  readonly queues: readonly string[];
  /** Takes no more messages, and resolves when those in hand are done. */
  stop(): Promise<void>;
}
