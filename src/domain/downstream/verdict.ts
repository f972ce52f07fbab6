/** What a call's answer means for each of its items. Pure. */
import type { TaskId } from '../ids.ts';
import type { Outcome, TaskError, TaskResult } from '../tasks/task.ts';
import { type Answer, type CallItem, inFull, isOutcome, type Reason, whyOf } from './downstream.ts';

/** The fields of an item that its result needs. */
type Identified = Pick<TaskResult, 'id' | 'payloadRow'>;

/**
 * The items that have a result now, and those that are still open. If several reasons are known, the first one counts.
 */
export interface Verdict<Item extends CallItem> extends Reason {
  readonly results: readonly TaskResult[];
  readonly open: readonly Item[];
  /** The open items that the downstream throttled one by one. Absent if there are none. */
  readonly throttled?: ReadonlySet<TaskId>;
}

export const verdictOf = <Item extends CallItem & Identified>(
  answer: Answer,
  items: readonly Item[],
): Verdict<Item> => {
  switch (answer.kind) {
    case 'all-succeeded':
      return { results: items.map((item) => resultOf(item, { status: 'succeeded' })), open: [], reason: '' };
    case 'refused': {
      const refused: Outcome = { status: 'failed', error: errorOf(answer) };
      const results = items.map((item) => resultOf(item, answer.settled?.get(item.id) ?? refused));
      return { results, open: [], reason: '' };
    }
    case 'pending':
    case 'unavailable': {
      const { settled = new Map<TaskId, Outcome>() } = answer;
      const results = items.flatMap((item) => {
        const outcome = settled.get(item.id);
        return outcome ? [resultOf(item, outcome)] : [];
      });
      return {
        results,
        open: items.filter(({ id }) => !settled.has(id)),
        ...(answer.kind === 'pending' ? { reason: 'its job has not reported' } : whyOf(answer)),
      };
    }
    case 'results':
      return sortItems(answer, items);
  }
};

/**
 * The error of a refused call. If the answer could not be read, it is unknown whether the task was done. The task
 * fails, so that a person checks it.
 */
const errorOf = (answer: Extract<Answer, { kind: 'refused' }>): TaskError =>
  answer.suspect === 'its-answer'
    ? {
        code: 'answer-too-large',
        message: `its answer is too large to be read (${inFull(answer)}). ${UNREAD}`,
        retriable: true,
      }
    : { code: 'refused', message: inFull(answer), retriable: false };

const UNREAD =
  'The task may have been done. Make the downstream send a smaller answer, for example a reference to the result, then redrive the task';

type ResultsAnswer = Extract<Answer, { kind: 'results' }>;

const sortItems = <Item extends CallItem & Identified>(given: ResultsAnswer, items: readonly Item[]): Verdict<Item> => {
  const results: TaskResult[] = [];
  const open: Item[] = [];
  const throttled = new Set<TaskId>();
  const reasons: Reason[] = [];
  // If an item fails in the end, its reason is not that others were throttled.
  const lesser: Reason[] = [];
  for (const item of items) {
    const answer = given.items.get(item.id);
    if (isOutcome(answer)) results.push(resultOf(item, answer));
    else {
      open.push(item);
      if (answer?.status === 'throttled') throttled.add(item.id);
      (answer?.status === 'throttled' ? lesser : reasons).push(answer ? whyOf(answer) : leftOut(given));
    }
  }
  const why = reasons[0] ?? lesser[0] ?? { reason: '' };
  return { results, open, ...why, ...(throttled.size > 0 ? { throttled } : {}) };
};

const leftOut = ({ foreign, foreignIds }: ResultsAnswer): Reason => {
  if (foreign === 0) return { reason: 'left out of the results' };
  const reason = `left out of the results, which contain ${foreign} without an id of the call (an id is a text, as in the call)`;
  return foreignIds ? { reason, quote: foreignIds.join(', ') } : { reason };
};

const resultOf = ({ id, payloadRow }: Identified, outcome: Outcome): TaskResult =>
  payloadRow === undefined ? { id, outcome } : { id, outcome, payloadRow };

/**
 * Fails all items with the same error.
 *
 * @param suspect whether each item may be at fault: {@link TaskResult.suspect}
 */
export const failAll = (items: readonly Identified[], error: TaskError, suspect = false): readonly TaskResult[] =>
  items.map((item) => ({ ...resultOf(item, { status: 'failed', error }), ...(suspect ? { suspect } : {}) }));
