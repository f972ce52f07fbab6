/** Reports answers that Groupage reads otherwise than the downstream may mean them: unknown ids, or no results. */
import type { Answer } from '../../domain/downstream/downstream.ts';
import { IDS_SHOWN } from '../../domain/downstream/http-answer.ts';
import type { BatchId, TaskId } from '../../domain/ids.ts';
import type { AnswerForm } from '../../domain/operations/slots.ts';
import type { Report } from '../../ports/machine.ts';
import type { CallDeps } from '../deps.ts';
import type { Attempt } from './tally.ts';

/** Reports ids that the call did not contain. @param ids of the call */
export const reportForeign = (
  report: Report,
  batchId: BatchId,
  { foreign, foreignIds }: Extract<Answer, { kind: 'results' }>,
  ids: readonly TaskId[],
): void => {
  if (foreign === 0) return;
  const expected = ids.slice(0, IDS_SHOWN);
  report({ event: 'foreign-results', batchId, items: foreign, ...(foreignIds ? { ids: foreignIds } : {}), expected });
};

/** The form of an attempt's answers after one more answer. @param form of its answers before */
export const newerForm = (form: AnswerForm | undefined, answer: Answer): AnswerForm | undefined => {
  if (form === 'with-results' || (answer.kind !== 'results' && answer.kind !== 'all-succeeded')) return form;
  if (answer.withoutResults) return 'without-results';
  // A queue accepts a batch without an answer about it.
  return answer.kind === 'results' || answer.inputs !== undefined ? 'with-results' : form;
};

/**
 * Stores the form of the attempt's answers if it is new, and reports a downstream whose first answer has no results.
 * The attempt has ended before: if this write fails, its message is delivered again and finds nothing left to do.
 */
export const noteAnswers = async (
  { operations, report }: CallDeps,
  { operation: { operation, downstream }, state, asked: { form } }: Attempt,
): Promise<void> => {
  if (form === undefined || form === state.answers || state.answers === 'with-results') return;
  // The operator has decided what such answers mean.
  if (downstream.kind === 'queue' || downstream.requireResults !== null) return;
  if ((await operations.noteAnswers(operation, form)) && form === 'without-results')
    report({ event: 'answers-without-results', operation });
};
