/** What came of everything so far, in a sentence. Pure. */
import type { Totals } from '../../../server/shapes.ts';
import { count, duration, plural } from '../base/format.ts';

/** @param now milliseconds of the epoch. */
export const soFar = ({ since, operations }: Totals, now: number): string => {
  const sum = (of: (each: Totals['operations'][number]) => number): number =>
    operations.reduce((all, each) => all + of(each), 0);
  const succeeded = sum(({ tasksSucceeded }) => tasksSucceeded);
  const calls = sum((each) => each.calls);
  return [
    `In ${duration(now - since)}: ${plural(succeeded, 'task')} succeeded`,
    `${count(sum(({ tasksFailed }) => tasksFailed))} failed`,
    `${plural(calls, 'call')} made, ${count(sum(({ callsSaved }) => callsSaved))} saved`,
  ].join(', ');
};
