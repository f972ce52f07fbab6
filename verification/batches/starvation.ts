/** A promise about Targets that share the slots of an operation: a busy Target never starves a waiting Target. */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { waitEnd } from '../../src/domain/batches/policy.ts';
import { operationFor, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { demand } from '../../src/virtual/violation.ts';
import { type Evidence, waitsOf } from './evidence.ts';

/**
 * The number of batches of one Target with younger tasks that may begin while another Target waits for a slot. Of two
 * waiting Targets, each is woken first with equal probability. The probability that one of them is first this many
 * times in a row is about one in a million.
 */
const PASSES = 20;

/** @throws Violation */
export const checkStarvation = (evidence: Evidence): void => {
  // A paused Target waits for the end of its own pause.
  if (evidence.wasPaused) return;
  const batches = [...evidence.tables.batches.values()];
  for (const [operation, all] of Map.groupBy(batches, (batch) => batch.operation))
    if (
      !evidence.configs.changes((config) => operationNamed(config, operation)?.concurrency) &&
      operationFor(evidence.config, operation).concurrency.total !== null
    )
      checkOperation(evidence, operation, all);
};

const checkOperation = (evidence: Evidence, operation: OperationName, batches: readonly Batch[]): void => {
  // A Target without a cap of its own may have several batches in flight, and does not wait for them.
  if (operationFor(evidence.config, operation).concurrency.perTarget !== 1) return;
  const ofTarget = Map.groupBy(batches, ({ target }) => target);
  const mayPass = [...ofTarget.values()].filter((all) => all.length > PASSES);
  if (mayPass.length === 0) return;
  for (const [target, own] of ofTarget)
    for (const batch of own) {
      const since = waitsSince(evidence, batch, own);
      const oldest = oldestOf(evidence, batch);
      for (const others of mayPass) {
        // A batch with older tasks may come first.
        const passing = others.filter(
          (other) => other.createdAt > since && other.createdAt < batch.createdAt && oldestOf(evidence, other) > oldest,
        );
        demand(others === own || passing.length <= PASSES, 'no Target overtakes a waiting Target again and again', {
          target,
          since,
          until: batch.createdAt,
          by: others[0]?.target,
          times: passing.length,
        });
      }
    }
};

/**
 * The time since which the batch waited only for a slot of the operation: the batch was due, and the Target's earlier
 * batches were over.
 */
const waitsSince = ({ config, tables }: Evidence, batch: Batch, own: readonly Batch[]): Millis => {
  const policy = operationFor(config, batch.operation).batch;
  const before = own.filter(({ createdAt }) => createdAt < batch.createdAt);
  return Math.max(
    waitEnd(oldestOf({ tables }, batch), policy),
    ...before.map(({ finishedAt }) => finishedAt ?? Number.POSITIVE_INFINITY),
  );
};

/** When the batch's oldest task began to wait. */
const oldestOf = ({ tables }: Pick<Evidence, 'tables'>, batch: Batch): Millis =>
  Math.min(batch.createdAt, ...waitsOf(tables, batch).filter((at) => at !== undefined));
