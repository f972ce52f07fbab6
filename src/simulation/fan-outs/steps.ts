/** The steps of fan-outs that a schedule runs. */
import { ackItems } from '../../fan-out/ack-items.ts';
import { addItems } from '../../fan-out/add-items.ts';
import { discard } from '../../fan-out/end.ts';
import { type PatrolDeps, patrolFanOuts, visit } from '../../fan-out/patrol.ts';
import { seal } from '../../fan-out/seal.ts';

export const STEPS = { addItems, ackItems, seal, discard, patrolFanOuts, visit };
export type FanOutSteps = typeof STEPS;

/** What stands in for ours. */
export interface Patched {
  readonly steps?: Partial<FanOutSteps>;
  /** Changes what every process is given. */
  readonly deps?: (deps: PatrolDeps) => PatrolDeps;
}
