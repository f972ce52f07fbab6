/** Lists of batches over several Targets: the newest ones, or those that are under way. */
import type { Batch } from '../../domain/batches/batch.ts';
import type { BatchId, OperationName, Target } from '../../domain/ids.ts';
import type { UnderWay } from '../../ports/batches.ts';
import { readUnderWayOf } from '../operations/under-way.ts';
import { isAfter, positionIn, printPosition } from '../shared/batch-cursor.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { storedBatches, unfinishedBatches } from '../shared/known-batch.ts';
import { targetPage } from '../targets/pages.ts';

/** How many Targets one request reads, and how many batches of each at least. */
const [TARGETS_AT_ONCE, EACH_MIN] = [20, 3];

export interface BatchesFound {
  readonly batches: readonly Batch[];
  /** Number of Targets whose batches were read. Absent if the request was for one Target, or for all. */
  readonly looked?: number;
  readonly cursor?: string;
}

/** The newest batches of the next Targets of an operation, newest first. */
export const recentOf = async (
  deps: ApiDeps,
  operation: string | undefined,
  limit: number,
  cursor: string | undefined,
): Promise<BatchesFound> => {
  const { items: targets, ...next } = await targetPage(deps, { operation, limit: TARGETS_AT_ONCE, cursor });
  const each = Math.max(EACH_MIN, Math.ceil(limit / Math.max(1, targets.length)));
  const pages = await Promise.all(targets.map((target) => deps.batches.ofTarget(target, each)));
  const batches = await storedBatches(
    deps,
    pages.flatMap(({ items }) => items),
  );
  const newest = batches.toSorted((a, b) => (b.sealedAt ?? 0) - (a.sealedAt ?? 0)).slice(0, limit);
  return { batches: newest, looked: targets.length, ...next };
};

/** The newest batches of a Target. */
export const newestIn = async (
  deps: ApiDeps,
  target: Target,
  limit: number,
  cursor: string | undefined,
): Promise<BatchesFound> => {
  const { items, ...next } = await deps.batches.ofTarget(target, limit, cursor);
  return { batches: await storedBatches(deps, items), ...next };
};

/** The batches of an operation that are under way, the one with the oldest task first. */
export const underWayOf = async (
  deps: ApiDeps,
  operation: OperationName,
  limit: number,
  cursor: string | undefined,
): Promise<BatchesFound> => {
  const { items, ...next } = await deps.batches.underWay(operation, limit, cursor);
  return { batches: await unfinishedBatches(deps, idsOf(items)), ...next };
};

/** The batches of a Target that are under way, the one with the oldest task first. */
export const underWayIn = async (
  deps: ApiDeps,
  target: Target,
  limit: number,
  cursor: string | undefined,
): Promise<BatchesFound> => {
  const entries = await readUnderWayOf(deps, target);
  const from = cursor === undefined ? undefined : positionIn(cursor);
  const rest = from ? entries.filter((each) => isAfter(each, from)) : entries;
  const shown = rest.slice(0, limit);
  const [last] = shown.slice(-1);
  return {
    batches: await unfinishedBatches(deps, idsOf(shown)),
    ...(last && rest.length > limit ? { cursor: printPosition(last) } : {}),
  };
};

const idsOf = (entries: readonly UnderWay[]): readonly BatchId[] => entries.map(({ id }) => id);
