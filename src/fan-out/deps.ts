/** What the steps of fan-outs are given. Each takes only what it names. */
import type { Config } from '../config/resolved.ts';
import type { Machine, Queues, Report } from '../ports.ts';
import type { FanOuts } from './store.ts';

export interface FanOutDeps {
  readonly config: Config;
  readonly fanOuts: FanOuts;
  readonly queues: Pick<Queues, 'callbacks'>;
  readonly machine: Machine;
  readonly report: Report;
}
