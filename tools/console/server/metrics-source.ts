/** Where the console has its metrics from. */
import type { About, MetricsView } from './shapes.ts';

export interface MetricsSource {
  /** How often it is looked at, and what that costs. */
  about(): Promise<About['metrics']>;
  /** The metrics of the last while. @throws CommandFailure when there are none to be had: why, in words. */
  look(): Promise<MetricsView>;
}
