/** Promises about calls whose results together are too large for one answer. */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import type { Evidence } from './evidence.ts';

const isTooLarge = ({ answered }: LoggedCall): boolean =>
  answered?.answer.kind === 'refused' && answered.answer.suspect === 'its-answer';

/**
 * The downstream has processed a call whose answer is too large. So the call is repeated only with half of its items,
 * and a call of a single item is not repeated. A task is therefore called without a result at most about log2(batch
 * size) times. A function that dies loses the reduced size, so calls of functions that died are left out.
 *
 * @throws Violation
 */
export const checkLargeAnswers = ({ config, log, died, late, hindered, mayOverlap }: Evidence): void => {
  if (mayOverlap || !log.calls.some(isTooLarge)) return;
  const completed = log.calls.filter(({ by }) => !(died.has(by) || late.has(by) || hindered.has(by)));
  for (const calls of Map.groupBy(completed, ({ call }) => call.batchId).values()) {
    const most = new Map<TaskId, number>();
    for (const logged of calls.toSorted((a, b) => a.at - b.at)) {
      const { items, operation } = logged.call;
      for (const { id } of items)
        demand(
          items.length <= (most.get(id) ?? items.length),
          'after an answer that is too large, a call is repeated with half of its items',
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
