/** Findings as the HTTP API shows them. */
import type { Finding } from '../../domain/batches/findings.ts';
import { healthOf, phaseOf, type Share } from '../../domain/callbacks/share.ts';
import { type Millis, operationOf } from '../../domain/ids.ts';
import type { Skipped, Treated } from '../../steps/repair/repair.ts';
import { reasonOf } from '../../util/problems.ts';
import type { Skipped as SkippedShown } from '../shared/answer-schemas.ts';
import { iso } from '../shared/iso.ts';
import type { DestinationState, Finding as FindingShown } from './responses.ts';

/** @param share the stored state of all destinations */
export const destinationView = (share: Share, destination: string, now: Millis): DestinationState => {
  const { failures, openUntil } = healthOf(share, destination);
  return {
    destination,
    phase: phaseOf(share, destination, now),
    failures,
    ...(openUntil === undefined ? {} : { openUntil: iso(openUntil) }),
  };
};

/** A finding that was only checked, not repaired. */
export const findingView = ({ finding, target, since, ...more }: Finding): FindingShown => ({
  finding,
  operation: operationOf(target),
  target,
  since: iso(since),
  ...('batchId' in more ? { batchId: more.batchId } : {}),
  ...('hasWork' in more ? { tasksWait: more.hasWork } : {}),
});

/** A finding after a repair. If the problem was gone before the repair, the view has neither a remedy nor a reason. */
export const treatedView = (treated: Treated): FindingShown => ({
  ...findingView(treated.finding),
  ...('cause' in treated
    ? { repaired: false, reason: reasonOf(treated.cause) }
    : { repaired: treated.remedy !== undefined, remedy: treated.remedy }),
});

export const skippedView = ({ id, cause }: Skipped): SkippedShown => ({ id, reason: reasonOf(cause) });
