/** What is under way in batches: after a failed attempt, with a job that reports later, or held by a pause or limit. */
import * as z from 'zod/mini';
import type { OperationName } from '../../domain/ids.ts';
import type { UnderWay } from '../../ports/batches.ts';
import { list, moment, onlyTrue, text, whole } from './answer-schemas.ts';
import type { ApiDeps } from './deps.ts';
import { iso } from './iso.ts';

/** Maximum number of batches of an operation that one request reads. */
const BATCHES_READ = 500;
/** Maximum number of reasons in an answer. */
const REASONS = 3;

export const UNDER_WAY = z
  .object({
    batches: whole('Number of batches.'),
    tasks: whole('Number of their tasks without a result.'),
    isAtLeast: z.optional(onlyTrue(`There may be more: at most ${BATCHES_READ} batches of an operation are read.`)),
    oldestAt: moment('When the oldest of these tasks was registered.'),
    retried: whole('Tasks whose last attempt failed and that are called again.'),
    pending: whole('Tasks whose job reports later.'),
    attempt: z.optional(whole('The largest number of attempts that one of the batches has had so far.')),
    reasons: list(
      z.object({ reason: text('The reason.'), tasks: whole('Number of tasks.') }),
      `Why the last attempts left tasks without a result; at most ${REASONS} reasons, the one with the most tasks first.`,
    ),
  })
  .check(
    z.meta({
      id: 'UnderWay',
      description:
        'Unfinished batches that have had an attempt, or have waited for one for over 15 minutes. Batches in their first attempt are not included.',
    }),
  );
export type UnderWaySummary = z.infer<typeof UNDER_WAY>;

export interface Read {
  readonly entries: readonly UnderWay[];
  /** Whether the operation may have more. */
  readonly hasMore: boolean;
}

/** The batches of an operation that are under way, the one with the oldest task first. */
export const readUnderWay = async ({ batches }: Pick<ApiDeps, 'batches'>, operation: OperationName): Promise<Read> => {
  const { items, cursor } = await batches.underWay(operation, BATCHES_READ);
  return { entries: items, hasMore: cursor !== undefined };
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
    oldestAt: iso(Math.min(...entries.map(({ oldestAt }) => oldestAt))),
    ...(attempt > 0 ? { attempt } : {}),
    reasons: [...reasons]
      .map(([reason, tasks]) => ({ reason, tasks }))
      .toSorted((a, b) => b.tasks - a.tasks)
      .slice(0, REASONS),
  };
};
