/** Results that are too large together for one answer, in some schedules; and what must hold of calls that are answered so. */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence } from './evidence.ts';
import type { LoggedCall } from './simulated-downstream.ts';

/** What is answered instead of results that are too large: the work was done. */
const TOO_LARGE: Answer = { kind: 'refused', reason: 'answered 200 with more than is read', suspect: 'its-answer' };

/** In every sixth schedule: how much one answer may have, in units of a small result. */
const mostOf = (chaos: Chaos): number => {
  const random = chaos.chanceOf('how large answers may be');
  return random.chance(1 / 6) ? random.pick([2, 4, 7]) : Number.POSITIVE_INFINITY;
};

/** How large a task's result is, as its id decides: one in ten is too large for any answer. */
const sizeOf = (chaos: Chaos, id: TaskId): number =>
  chaos.chanceOf(`result of ${id}`).pick([1, 1, 1, 1, 1, 1, 2, 2, 2, 8]);

/** What is heard of an answer about these items. */
export const asHeard = (chaos: Chaos, { items }: Call, answer: Answer): Answer => {
  if (answer.kind !== 'all-succeeded' && answer.kind !== 'results') return answer;
  const most = mostOf(chaos);
  if (most === Number.POSITIVE_INFINITY) return answer;
  const size = items.reduce((sum, { id }) => sum + sizeOf(chaos, id), 0);
  return size > most ? TOO_LARGE : answer;
};

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
