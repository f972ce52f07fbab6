/** The steps of fan-outs that a schedule runs. */

import type { ListDeps } from '../../src/steps/deps.ts';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';

export const STEPS = { addItems, ackItems, seal, discard, patrolFanOuts, visit };
export type FanOutSteps = typeof STEPS;

/** What stands in for ours. */
export interface Patched {
  readonly steps?: Partial<FanOutSteps>;
  /** Changes what every process is given. */
  readonly deps?: (deps: ListDeps) => ListDeps;
}
