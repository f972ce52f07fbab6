/** The steps of deliveries that a schedule runs. */

import type { Shares } from '../../src/ports/callbacks.ts';
import { deliverAll } from '../../src/steps/deliver/deliver.ts';
import type { Sharing } from '../../src/steps/deliver/sharing.ts';
import { sweepDeadLetters } from '../../src/steps/repair/sweep.ts';

export const STEPS = { deliverAll, sweepDeadLetters };
export type DeliverySteps = typeof STEPS;

/** What stands in for ours. */
export interface Patched {
  readonly steps?: Partial<DeliverySteps>;
  /** Changes what every instance of the function knows of destinations. */
  readonly sharing?: (sharing: Sharing) => Sharing;
  /** Changes what is stored of them. */
  readonly shares?: (shares: Shares) => Shares;
}
