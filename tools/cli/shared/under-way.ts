/** Texts about tasks in batches under way: retried, with a job that reports later, or held. */
import type { UnderWaySummary } from '../../../src/api/operations/responses.ts';
import { lowerBound, lowerBoundOf } from '../../lower-bounds.ts';
import { ago, plural } from '../../terminal.ts';

/** The number of these tasks, for a cell of a table. */
export const inBatches = (underWay: UnderWaySummary | undefined): string =>
  underWay ? lowerBound(underWay.tasks, underWay.isAtLeast) : '';

/** What these tasks wait for, how old the oldest is, and why the last attempts failed. */
export const underWayTexts = (underWay: UnderWaySummary | undefined): readonly string[] => {
  if (!underWay) return [];
  const { retried, pending, tasks, attempt, reasons, oldestAt, isAtLeast } = underWay;
  const some = (value: number): string => lowerBoundOf(value, isAtLeast, 'task');
  const held = tasks - retried - pending;
  const attempts = attempt ? ` after up to ${plural(attempt, 'attempt')}` : '';
  const [main] = reasons;
  return [
    ...(retried > 0 ? [`${some(retried)} retried${attempts}${main ? ` (${main.reason})` : ''}`] : []),
    ...(pending > 0 ? [`${some(pending)} with a job that reports later`] : []),
    ...(held > 0 ? [`${some(held)} in held batches`] : []),
    `oldest registered ${ago(oldestAt)} ago`,
  ];
};
