/** The steps of fan-outs that a schedule runs. */
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { type PatrolDeps, patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';
import { seal } from '../../src/steps/fan-outs/seal.ts';

export const STEPS = { addItems, ackItems, seal, discard, patrolFanOuts, visit };
export type FanOutSteps = typeof STEPS;

/** What stands in for ours. */
export interface Patched {
  readonly steps?: Partial<FanOutSteps>;
  /** Changes what every process is given. */
  readonly deps?: (deps: PatrolDeps) => PatrolDeps;
}
