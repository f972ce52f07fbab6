/** Steps that work by another configuration than the one that was made. */

import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Bug } from './bug.ts';

/** Some step works by another configuration than the one that was made. */
const withOperation = <Some extends Pick<Deps, 'config'>>(
  deps: Some,
  change: (operation: Operation) => Partial<Operation>,
): Some => ({
  ...deps,
  config: withOperations(deps.config, change),
});

/** Leaders follow another policy than the one configured. */
const withPolicy = (change: (policy: BatchPolicy) => Partial<BatchPolicy>): Bug => {
  const changed = ({ batch }: Operation): Partial<Operation> => ({ batch: { ...batch, ...change(batch) } });
  return {
    electLeader: (deps, message) => electLeader(withOperation(deps, changed), message),
    group: (deps, message, invocation) => group(withOperation(deps, changed), message, invocation),
  };
};
export const batchesAreTooLarge = withPolicy(({ maxSize }) => ({ maxSize: 5 * maxSize, maxBytes: 10_000_000 }));
export const batchesHoldOneTask = withPolicy(() => ({ maxSize: 1 }));
export const batchesAreClosedEarly = withPolicy(({ maxBytes }) => ({ maxBytes: maxBytes / 4 }));
export const tasksWaitTooLong = withPolicy(({ maxWait }) => ({ maxWait: maxWait + 6 * 3_600_000 }));

/** The handler retries by another policy than the one configured. */
const withAttempts = (maxAttempts: number): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      withOperation(deps, ({ retry }) => ({ retry: { ...retry, maxAttempts } })),
      message,
      invocation,
    ),
});
export const attemptsHaveNoEnd = withAttempts(100);
export const nobodyTriesAgain = withAttempts(1);
