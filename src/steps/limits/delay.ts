/** Reports calls that a limit delays. */
import type { Millis, OperationName } from '../../domain/ids.ts';
import type { Grant } from '../../domain/limits/bucket.ts';
import { limitOf } from '../../domain/limits/limits.ts';
import type { LeadDeps } from '../deps.ts';

/**
 * @param grants the moments of one call, at least one. The last of them delays it most.
 * @param since when its oldest task was registered.
 */
export const reportDelay = (
  { buckets, report }: Pick<LeadDeps, 'buckets' | 'report'>,
  grants: readonly Grant[],
  operation: OperationName,
  since: Millis,
): void => {
  const { bucket, at } = grants.reduce((a, b) => (b.at > a.at ? b : a));
  report({
    event: 'granted',
    bucket,
    limit: limitOf(bucket),
    operation,
    waited: at - since,
    ahead: at - buckets.now(),
  });
};
