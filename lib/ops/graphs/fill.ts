/** Are batches full? */
import type { GraphWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { BatchPolicy, SealReason } from '../../../src/batching/policy.ts';
import { byOperation, graph } from './lines.ts';
import type { Watched } from './watched.ts';

/** Why batches of this policy can be sealed. */
export const reasonsOf = ({ maxWeight, quietPeriod, bypass }: BatchPolicy): SealReason[] => {
  const isPossible: Readonly<Record<SealReason, boolean>> = {
    full: true,
    bytes: true,
    weight: maxWeight > 0,
    waited: true,
    quiet: quietPeriod > 0,
    bypass: bypass !== null,
    flush: true,
  };
  return Object.entries(isPossible).flatMap(([reason, possible]) => (possible ? [reason as SealReason] : []));
};

export const isItFull = (watched: Watched): GraphWidget[] => [
  graph('Fill, mean (% of maxSize)', byOperation(watched, ['FillRatio'])),
  ...watched.operations.map(({ operation, batch }) =>
    graph(
      `Batches of ${operation}, by why they were sealed`,
      reasonsOf(batch).map((reason) => watched.measured('BatchesSealed', { operation, reason }, { label: reason })),
      { stacked: true },
    ),
  ),
];
