/** What the steps of fan-outs are given. Each takes only what it names. */
import type { Config } from '../../domain/config/resolved.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import type { Machine, Report } from '../../ports/machine.ts';
import type { Queues } from '../../ports/queues.ts';

export interface FanOutDeps {
  readonly config: Config;
  readonly fanOuts: FanOuts;
  readonly queues: Pick<Queues, 'callbacks'>;
  readonly machine: Machine;
  readonly report: Report;
}
