/** Operations that were removed from the configuration while tasks of them wait or are in batches. */
import pLimit from 'p-limit';
import { type Millis, type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import { readUnderWay, underWayView } from '../operations/under-way.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { iso } from '../shared/iso.ts';
import type { RemovedExamined, RemovedOperation } from './responses.ts';

/** How many names of Targets one request reads. */
const NAMES = 1_000;
/** Waiting tasks of a Target are counted up to this number. */
const COUNTED = 100;
/** How many Targets are read at once. */
const AT_ONCE = 20;

export const removedOperations = async (deps: ApiDeps, cursor: string | undefined): Promise<RemovedExamined> => {
  const { items, ...next } = await deps.locks.everyTarget(NAMES, cursor);
  const configured = new Set<string>(Object.keys(deps.config.operations));
  const operations: RemovedOperation[] = [];
  for (const [operation, targets] of Map.groupBy(items, operationOf)) {
    if (configured.has(operation)) continue;
    const found = await workOf(deps, operation, targets);
    if (found.targets > 0 || found.underWay) operations.push(found);
  }
  return { looked: items.length, operations, ...next };
};

const workOf = async (
  deps: ApiDeps,
  operation: OperationName,
  targets: readonly Target[],
): Promise<RemovedOperation> => {
  const { locks, waiting } = deps;
  const [underWay, waits] = await Promise.all([
    readUnderWay(deps, operation).then(underWayView),
    pLimit(AT_ONCE).map(
      targets,
      async (target): Promise<readonly { readonly at: Millis; readonly tasks: number }[]> => {
        const { first } = await locks.readEventually(target);
        return first ? [{ at: first.at, tasks: await waiting.count(target, COUNTED) }] : [];
      },
    ),
  ]);
  const found = waits.flat();
  return {
    operation,
    targets: found.length,
    waiting: found.reduce((sum, { tasks }) => sum + tasks, 0),
    ...(found.some(({ tasks }) => tasks === COUNTED) ? { waitingIsAtLeast: true } : {}),
    ...(found.length > 0 ? { oldestAt: iso(Math.min(...found.map(({ at }) => at))) } : {}),
    ...(underWay ? { underWay } : {}),
  };
};
