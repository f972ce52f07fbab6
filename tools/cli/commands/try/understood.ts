/** Says in words how Groupage reads an answer: what happens to each task. */

import type { Operation } from '../../../../src/domain/config/resolved.ts';
import { type Answer, type CallItem, inFull } from '../../../../src/domain/downstream/downstream.ts';
import type { TaskId } from '../../../../src/domain/ids.ts';
import type { Outcome } from '../../../../src/domain/tasks/task.ts';

export interface Understood {
  readonly id: TaskId;
  /** `halve`: Groupage would call again with smaller parts. */
  readonly is: 'succeeded' | 'failed' | 'retry' | 'throttled' | 'pending' | 'halve';
  /** The result, as JSON, or the reason. Empty if there is neither. */
  readonly why: string;
}

/**
 * What happens to each task of a call.
 *
 * @param bisect whether a refused batch is called again in halves: `retry.bisect`
 */
export const understood = (answer: Answer, items: readonly CallItem[], bisect: boolean): readonly Understood[] => {
  const settled = 'settled' in answer ? answer.settled : undefined;
  const halves = bisect && items.filter(({ id }) => !settled?.has(id)).length > 1;
  return items.map(({ id }) => {
    const outcome = settled?.get(id);
    return { id, ...(outcome ? ofOutcome(outcome) : ofItem(answer, id, halves)) };
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

const ofItem = (answer: Answer, id: TaskId, halves: boolean): Told => {
  switch (answer.kind) {
    case 'results': {
      const item = answer.items.get(id);
      if (item === undefined) return { is: 'retry', why: 'left out of the results' };
      if (item.status === 'succeeded' || item.status === 'failed') return ofOutcome(item);
      return { is: item.status === 'throttled' ? 'throttled' : 'retry', why: inFull(item) };
    }
    case 'all-succeeded':
      return { is: 'succeeded', why: answer.withoutResults ? 'the answer names no results' : '' };
    case 'pending':
      return { is: 'pending', why: 'its job reports later' };
    case 'refused':
      return answer.suspect && halves
        ? { is: 'halve', why: inFull(answer) }
        : { is: 'failed', why: `refused: ${inFull(answer)}` };
    case 'unavailable':
      return { is: answer.throttled ? 'throttled' : 'retry', why: inFull(answer) };
  }
};

/** What the answer means for the operation, if it is more than what happens to its tasks. */
export const consequenceOf = (
  answer: Answer,
  { circuit, downstream }: Pick<Operation, 'circuit' | 'downstream'>,
): string | undefined => {
  if (answer.kind !== 'unavailable') return undefined;
  if (answer.misconfigured) {
    const wait = circuit
      ? 'open the circuit: tasks wait, nothing is lost, and one batch tests the API after each circuit.coolDown'
      : 'retry the batch, whose attempts count';
    return `A deployed stack would treat this answer as a wrong configuration, and ${wait}. Check downstream.url, downstream.method and downstream.auth.`;
  }
  if (!answer.misread) return undefined;
  return 'response' in downstream && downstream.response
    ? 'Groupage cannot read this answer. It would send the tasks again, and count an attempt, although the API may have processed them. Compare downstream.response with the answer above.'
    : 'The API does not answer in the format of Groupage. Describe its format in downstream.response, or answer as docs/reference/downstream-call.md says.';
};
