/** What a trace is made of: a task that comes at a moment. */
import type { Millis } from '../../src/domain/ids.ts';

export interface Arrival {
  /** When it is sent, in milliseconds from the beginning of the trace. None is before the one in front of it. */
  readonly at: Millis;
  readonly operation: string;
  /** JSON text: what the producer sends. */
  readonly payload: string;
}

export type Arrivals = Iterable<Arrival> | AsyncIterable<Arrival>;
