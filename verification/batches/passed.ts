/** A promise about Targets that share the slots of an operation: none that goes on and on keeps another one waiting. */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { waitEnd } from '../../src/domain/batches/policy.ts';
import { operationFor, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { demand } from '../../src/virtual/violation.ts';
import { type Evidence, waitsOf } from './evidence.ts';

/**
 * How many batches of one Target, of tasks that are younger, may begin while another one waits for a slot. Any two that wait are woken with
 * equal chances, so one passes the other so often once in a million times.
 */
const PASSES = 20;

/** @throws Violation */
export const checkPassed = (evidence: Evidence): void => {
  // A paused Target waits for its own pause.
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
  // A Target without a cap of its own may have several batches under way, and waits for none of them.
  if (operationFor(evidence.config, operation).concurrency.perTarget !== 1) return;
  const ofTarget = Map.groupBy(batches, ({ target }) => target);
  const mayPass = [...ofTarget.values()].filter((all) => all.length > PASSES);
  if (mayPass.length === 0) return;
  for (const [target, own] of ofTarget)
    for (const batch of own) {
      const since = waitsSince(evidence, batch, own);
      const oldest = oldestOf(evidence, batch);
      for (const others of mayPass) {
        // A batch whose tasks have waited for longer rightly comes before.
        const passing = others.filter(
          (other) => other.createdAt > since && other.createdAt < batch.createdAt && oldestOf(evidence, other) > oldest,
        );
        demand(others === own || passing.length <= PASSES, 'no Target passes one that waits again and again', {
          target,
          since,
          until: batch.createdAt,
          by: others[0]?.target,
          times: passing.length,
        });
      }
    }
};

/** Since when nothing but the operation's slots kept a batch: it was due, and the Target's batch before it was over. */
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
