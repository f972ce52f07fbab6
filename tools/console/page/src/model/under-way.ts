/** Texts about batches under way: retried, with a job that reports later, or held. Pure. */
import type { UnderWaySummary } from '../../../../../src/api/operations/responses.ts';
import { age, count, plural } from '../base/format.ts';

/** What the tasks of these batches wait for, most important first. The text completes "5,000 tasks …". */
export const underWayWords = ({ retried, pending, tasks, attempt, isAtLeast }: UnderWaySummary): string =>
  [
    ...(retried > 0
      ? [`${count(retried, isAtLeast)} being retried${attempt ? `, after up to ${plural(attempt, 'attempt')}` : ''}`]
      : []),
    ...(pending > 0 ? [`${count(pending, isAtLeast)} with a job that reports later`] : []),
    ...(tasks > retried + pending
      ? [`${count(tasks - retried - pending, isAtLeast)} held by a pause, a missing slot or a limit`]
      : []),
  ].join('; ');

/** The age of the oldest of these tasks. */
export const oldestOf = ({ oldestAt }: UnderWaySummary, now: number): string => age(now - Date.parse(oldestAt));

/** The most frequent reason why the last attempts failed. */
export const mainReason = ({ reasons }: UnderWaySummary): string | undefined => reasons[0]?.reason;

/** What a reason means for the tasks, and what a user can do. */
export const nextStep = (reason: string | undefined): string => {
  if (reason === undefined) return 'These tasks continue by themselves.';
  if (/\b429\b|throttl|too many/i.test(reason))
    return 'The downstream asks for fewer calls. Throttled attempts do not count, so no task fails; the pauses between them grow. If this lasts, lower rateLimit, the limits of the operation, or concurrency.';
  if (/\b40[134]\b|url and access/i.test(reason))
    return 'The downstream refuses the calls: check its URL and access in the configuration. No task fails meanwhile.';
  return 'Groupage calls again by itself, with growing pauses. When no attempt is left, the tasks fail with this reason and can be redriven.';
};
