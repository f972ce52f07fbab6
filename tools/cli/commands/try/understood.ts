/** Says in words how Groupage reads an answer: what happens to each task. */
import { type Answer, asThrottledCall, type CallItem, inFull } from '../../../../src/domain/downstream/downstream.ts';
import type { TaskId } from '../../../../src/domain/ids.ts';
import type { Outcome } from '../../../../src/domain/tasks/task.ts';

export interface Understood {
  readonly id: TaskId;
  /** `succeeded`, `failed`, `retried`, `throttled`, `pending`, or `halved`: called again in smaller parts. */
  readonly is: 'succeeded' | 'failed' | 'retried' | 'throttled' | 'pending' | 'halved';
  /** The result, as JSON, or the reason. Empty if there is neither. */
  readonly why: string;
}

/** What happens to each task of a call. */
export const understood = (said: Answer, items: readonly CallItem[]): readonly Understood[] => {
  const answer = asThrottledCall(said, items);
  return items.map(({ id }) => {
    const settled = 'settled' in answer ? answer.settled?.get(id) : undefined;
    return { id, ...(settled ? ofOutcome(settled) : ofItem(answer, id, items.length)) };
  });
};

type Told = Omit<Understood, 'id'>;

const ofOutcome = (outcome: Outcome): Told => {
  if (outcome.status === 'failed') {
    const { code, message } = outcome.error;
    return { is: 'failed', why: code === 'failed' ? message : `${code}: ${message}` };
  }
  if (outcome.resultOmitted === undefined) return { is: 'succeeded', why: outcome.result ?? '' };
  return { is: 'succeeded', why: `its result of ${outcome.resultOmitted} bytes is too large to be stored` };
};

const ofItem = (answer: Answer, id: TaskId, count: number): Told => {
  switch (answer.kind) {
    case 'results': {
      const item = answer.items.get(id);
      if (item === undefined) return { is: 'retried', why: 'left out of the results' };
      if (item.status === 'succeeded' || item.status === 'failed') return ofOutcome(item);
      return { is: item.status === 'throttled' ? 'throttled' : 'retried', why: inFull(item) };
    }
    case 'all-succeeded':
      return { is: 'succeeded', why: answer.withoutResults ? 'the answer names no results' : '' };
    case 'pending':
      return { is: 'pending', why: 'its job reports later' };
    case 'refused':
      return { is: answer.suspect && count > 1 ? 'halved' : 'failed', why: inFull(answer) };
    case 'unavailable':
      return { is: answer.throttled ? 'throttled' : 'retried', why: inFull(answer) };
  }
};

/** What the answer means for the operation, if it is more than what happens to its tasks. */
export const consequenceOf = (answer: Answer): string | undefined => {
  if (answer.kind !== 'unavailable') return undefined;
  if (answer.misconfigured)
    return 'Groupage reads this as a mistake in the configuration, and opens the circuit at once: no task is lost, and none is sent until it is fixed.';
  if (answer.misread)
    return 'Groupage cannot read this answer, so it would send the tasks again, although the API may have processed them. Check downstream.response.';
  return undefined;
};
