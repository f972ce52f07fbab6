/** Reports calls that a limit delays. */
import type { Millis, OperationName } from '../../domain/ids.ts';
import { type Grant, startOf } from '../../domain/limits/bucket.ts';
import { limitOf } from '../../domain/limits/limits.ts';
import type { LeadDeps } from '../deps.ts';

/** A shorter delay is not reported, in ms: moments are rarely free to the millisecond. */
const NOTICEABLE: Millis = 100;

/** The moments that a call got. */
interface Promised {
  readonly grants: readonly Grant[];
  /** Those that it had before, and that were reported then. */
  readonly held: readonly Grant[];
  /** When the call could have started without limits. */
  readonly soonest: Millis;
}

/** @param since when the oldest task of the call was registered. */
export const reportDelay = (
  { buckets, report }: Pick<LeadDeps, 'buckets' | 'report'>,
  { grants, held, soonest }: Promised,
  operation: OperationName,
  since: Millis,
): void => {
  const at = startOf(grants);
  const last = grants.find((each) => each.at === at);
  if (last === undefined || held.includes(last) || at <= soonest + NOTICEABLE) return;
  const ahead = at - buckets.now();
  report({ event: 'granted', bucket: last.bucket, limit: limitOf(last.bucket), operation, waited: at - since, ahead });
};
