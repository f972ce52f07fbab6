/** Are batches full? */
import type { GraphWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { SealReason } from '../../src/domain/batches/policy.ts';
import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import { byOperation, graph } from './lines.ts';
import type { Watched } from './watched.ts';

/** Which batches can be sealed for each of the reasons. */
const CAN_BE: Readonly<Record<SealReason, (policy: BatchPolicy) => boolean>> = {
  full: () => true,
  bytes: () => true,
  weight: ({ maxWeight }) => maxWeight > 0,
  waited: () => true,
  quiet: ({ quietPeriod }) => quietPeriod > 0,
  bypass: ({ bypass }) => bypass !== null,
  flush: () => true,
};

export const SEAL_REASONS = Object.keys(CAN_BE) as readonly SealReason[];

/** Why batches of this policy can be sealed. */
export const reasonsOf = (policy: BatchPolicy): SealReason[] => SEAL_REASONS.filter((reason) => CAN_BE[reason](policy));

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
