/** Batches under way: retried, with a job that reports later, or held by a pause or limit. */
import { type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import type { UnderWay } from '../../ports/batches.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { iso } from '../shared/iso.ts';
import type { UnderWaySummary } from './responses.ts';

/** Maximum number of batches of an operation that one request reads, and of reasons in an answer. */
export const [BATCHES_READ, REASONS] = [500, 3];

export interface Read {
  /** The one with the oldest task first. */
  readonly entries: readonly UnderWay[];
  /** Whether the operation may have more. */
  readonly hasMore: boolean;
}

/** The batches of an operation that are under way, the one with the oldest task first. */
export const readUnderWay = async ({ batches }: Pick<ApiDeps, 'batches'>, operation: OperationName): Promise<Read> => {
  // One more than is shown: DynamoDB also returns a cursor if the last entry is the last one of all.
  const { items } = await batches.underWay(operation, BATCHES_READ + 1);
  return { entries: items.slice(0, BATCHES_READ), hasMore: items.length > BATCHES_READ };
};

/**
 * The batches of a Target that are under way, the one with the oldest task first. The index is sorted by the age of tasks
 * and not by Target, so this reads all entries of its operation, for about 25 read units per {@link BATCHES_READ}.
 */
export const readUnderWayOf = async (
  { batches }: Pick<ApiDeps, 'batches'>,
  target: Target,
): Promise<readonly UnderWay[]> => {
  const entries: UnderWay[] = [];
  let cursor: string | undefined;
  do {
    const page = await batches.underWay(operationOf(target), BATCHES_READ, cursor);
    entries.push(...page.items.filter((each) => each.target === target));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return entries;
};

/** Undefined if no batch is under way. */
export const underWayView = ({ entries, hasMore }: Read): UnderWaySummary | undefined => {
  const [first] = entries;
  if (!first) return undefined;
  const reasons = new Map<string, number>();
  const sum = { tasks: 0, retried: 0, pending: 0 };
  for (const { tasks = 0, lastAttempt } of entries) {
    const { pending = 0, reason } = lastAttempt ?? {};
    sum.tasks += tasks;
    sum.pending += pending;
    if (reason === undefined || tasks === pending) continue;
    sum.retried += tasks - pending;
    reasons.set(reason, (reasons.get(reason) ?? 0) + tasks - pending);
  }
  const attempt = Math.max(...entries.map(({ lastAttempt }) => lastAttempt?.attempt ?? 0));
  return {
    batches: entries.length,
    ...sum,
    ...(hasMore ? { isAtLeast: true } : {}),
    oldestAt: iso(first.oldestAt),
    ...(attempt > 0 ? { attempt } : {}),
    reasons: [...reasons]
      .map(([reason, tasks]) => ({ reason, tasks }))
      .toSorted((a, b) => b.tasks - a.tasks)
      .slice(0, REASONS),
  };
};
