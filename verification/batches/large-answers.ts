/** What must hold of calls whose results are too large together for one answer. */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import type { Evidence } from './evidence.ts';

const isTooLarge = ({ answered }: LoggedCall): boolean =>
  answered?.answer.kind === 'refused' && answered.answer.suspect === 'its-answer';

/**
 * A call whose answer is too large has its effects, so it is repeated only about half of its items, and not at all about one. A task is so
 * called about log2 of its batch's size times at the most without a result. A function that died took what it had learnt with it.
 *
 * @throws Violation
 */
export const checkLargeAnswers = ({ config, log, died, late, hindered, mayOverlap }: Evidence): void => {
  if (mayOverlap || !log.calls.some(isTooLarge)) return;
  const heard = log.calls.filter(({ by }) => !(died.has(by) || late.has(by) || hindered.has(by)));
  for (const calls of Map.groupBy(heard, ({ call }) => call.batchId).values()) {
    const most = new Map<TaskId, number>();
    for (const logged of calls.toSorted((a, b) => a.at - b.at)) {
      const { items, operation } = logged.call;
      for (const { id } of items)
        demand(
          items.length <= (most.get(id) ?? items.length),
          'a call whose answer was too large is repeated in halves',
          {
            id,
            most: most.get(id),
            call: logged.call,
          },
        );
      const isHalved = items.length > 1 && operationFor(config, operation).retry.bisect;
      const half = isHalved ? Math.ceil(items.length / 2) : 0;
      if (isTooLarge(logged)) for (const { id } of items) most.set(id, half);
    }
  }
};
