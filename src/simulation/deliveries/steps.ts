/** The steps of deliveries that a schedule runs. */
import { sweepDeadLetters } from '../../batching/sweep.ts';
import { deliverAll } from '../../callbacks/deliver.ts';
import type { Sharing } from '../../callbacks/sharing.ts';
import type { Shares } from '../../callbacks/store.ts';

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
