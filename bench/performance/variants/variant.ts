/** A way to deliver tasks to the downstream. */
import type { Site } from '../site.ts';

export interface Variant {
  readonly name: string;
  /** A sentence for the documentation: what the variant is, and which of its parts are emulated. */
  readonly about: string;
  /** Whether the queue of the variant is a FIFO queue, with the Target as message group. */
  readonly fifo?: true;
  start(site: Site): Promise<Running>;
}

export interface Running {
  /** The URL of the queue to which producers send register messages. */
  readonly queueUrl: string;
  /** Every queue that may hold a message. */
  readonly queues: readonly string[];
  /** Stops receiving messages. Resolves when the messages already received are done. */
  stop(): Promise<void>;
}
