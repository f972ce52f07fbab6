/** What must hold of caps: no more batches are under way, and no more calls, than the configuration allows. */
import { isFinished } from '../batching/batch.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../batching/ids.ts';
import type { Lock } from '../batching/lock.ts';
import { type Config, operationFor } from '../config/resolved.ts';
import type { Evidence } from './evidence.ts';
import type { LoggedCall } from './simulated-downstream.ts';
import type { Tables, Watcher } from './tables.ts';
import { demand } from './violation.ts';

/** Counts batches from the moment in which they are opened until they are finished. */
export const watchCaps = (config: Config): Required<Pick<Watcher, 'lock' | 'batch'>> => {
  const underWay = new Map<BatchId, Target>();
  const count = (is: (target: Target) => boolean): number => [...underWay.values()].filter(is).length;
  return {
    lock: (target: Target, before: Lock, { openBatch }: Lock) => {
      if (openBatch === undefined || openBatch === before.openBatch) return;
      underWay.set(openBatch, target);
      const { perTarget, total } = operationFor(config, operationOf(target)).concurrency;
      const ofTarget = count((each) => each === target);
      const ofOperation = count((each) => operationOf(each) === operationOf(target));
      demand(perTarget === null || ofTarget <= perTarget, 'a Target has at most perTarget batches', {
        target,
        ofTarget,
      });
      demand(total === null || ofOperation <= total, 'an operation has at most total batches', { target, ofOperation });
    },
    batch: (_, after) => {
      if (isFinished(after.status)) underWay.delete(after.id);
    },
  };
};

/** @throws Violation */
export const checkCaps = (evidence: Evidence): void => {
  const { config, tables, log, mayOverlap } = evidence;
  for (const [operation, state] of tables.operations)
    demand(state.inFlight.length === 0, 'no slot is taken in the end', { operation, state });
  for (const [target, lock] of tables.locks)
    demand((lock.inFlight ?? []).length === 0 && lock.blocked === undefined, 'no batch is in flight in the end', {
      target,
      lock,
    });
  for (const [operation, { size }] of tables.waitingTargets)
    demand(size === 0, 'no Target waits for room in the end', { operation, size });
  if (mayOverlap) return;
  for (const [operation, { concurrency }] of Object.entries(config.operations)) {
    const calls = log.calls.filter(({ call }) => call.operation === operation);
    checkAtOnce(tables, calls, concurrency.total, 'an operation is called at most total times at once');
    for (const ofTarget of Map.groupBy(calls, ({ call }) => call.target).values())
      checkAtOnce(tables, ofTarget, concurrency.perTarget, 'a Target is called about at most perTarget times at once');
  }
};

/**
 * A call whose caller died has no end that anybody knows: it counts as over. So does one about a batch that is finished: its
 * job may report before the call is answered.
 */
const checkAtOnce = (tables: Tables, calls: readonly LoggedCall[], most: number | null, promise: string): void => {
  if (most === null) return;
  const finishedAt = ({ call }: LoggedCall): Millis =>
    tables.batches.get(call.batchId)?.finishedAt ?? Number.POSITIVE_INFINITY;
  const known = calls.flatMap((each) =>
    each.answered ? [{ from: each.at, to: Math.min(each.answered.at, finishedAt(each)) }] : [],
  );
  for (const { from } of known) {
    const atOnce = known.filter((other) => other.from <= from && from < other.to).length;
    demand(atOnce <= most, promise, { from, atOnce });
  }
};
