/**
 * `POST /v1/batches/ID/complete`: the downstream reports the results of a job that it finished later, by item or by
 * input.
 */
import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { completionMessages, RESULTS_MAX_BYTES } from '../../domain/batches/completion-messages.ts';
import type { CompletionMessage } from '../../domain/batches/messages.ts';
import { RESULTS_RULE, requiresResults } from '../../domain/config/endpoints.ts';
import { operationNamed } from '../../domain/config/resolved.ts';
import type { BatchId } from '../../domain/ids.ts';
import { RESULT_MAX_BYTES } from '../../domain/tasks/task.ts';
import { isObject, rawElements, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { readBody } from '../shared/input.ts';
import { HttpProblem } from '../shared/problem.ts';
import { completionOf } from './requests.ts';

/**
 * Maximum size of one item in a report, in bytes. An item whose result is small enough to be stored is always smaller.
 */
const ITEM_MAX_BYTES = 2 * RESULT_MAX_BYTES;

/** Checks the report of a job and sends it to the batch queue. @param text the body. @throws HttpProblem */
export const complete = async (
  { config, queues }: Pick<ApiDeps, 'config' | 'queues'>,
  batch: Batch,
  text: string,
): Promise<void> => {
  const members = new Set<string>(membersOf(batch));
  const operation = operationNamed(config, batch.operation);
  const isMerged = operation?.merge != null;
  const mustHaveResults = operation !== undefined && requiresResults(operation.downstream);
  const raw = (): ReadonlyMap<string, string> => rawMembers(text === '' ? '{}' : text);
  readBody(
    completionOf((id) => members.has(id)),
    text,
    (body) => [
      ...(mustHaveResults && body.results === undefined && body.inputs === undefined ? [NO_RESULTS] : []),
      ...sizeProblems(body, raw().get('results')),
      ...inputProblems(body, raw().get('inputs'), isMerged),
    ],
  );
  if (batch.status !== 'in-progress')
    throw new HttpProblem(
      409,
      `batch ${batch.id} is ${batch.status}: only a batch that is in progress accepts a report`,
    );
  for (const message of messagesOf(batch.id, raw())) await queues.batch(message, 0);
};

const messagesOf = (batchId: BatchId, raw: ReadonlyMap<string, string>): readonly CompletionMessage[] => {
  const [results, inputs] = [raw.get('results'), raw.get('inputs')];
  // Send all inputs in one message, because an input that is missing from a message is retried.
  if (inputs !== undefined) return [{ kind: 'completion', batchId, results: null, inputs }];
  return completionMessages(batchId, results === undefined ? null : rawElements(results));
};

const NO_RESULTS: Problem = { path: 'results', reason: RESULTS_RULE };

type Body = Readonly<Record<string, unknown>>;

const sizeProblems = ({ results }: Body, raw = '[]'): readonly Problem[] =>
  Array.isArray(results)
    ? rawElements(raw).flatMap((text, index) =>
        isObject(results[index]) && Buffer.byteLength(text) > ITEM_MAX_BYTES
          ? [
              {
                path: `results[${index}].result`,
                reason: `is too large: at most ${RESULT_MAX_BYTES} bytes of a result are stored`,
              },
            ]
          : [],
      )
    : [];

const inputProblems = ({ results, inputs }: Body, raw = '', isMerged: boolean): readonly Problem[] => {
  if (inputs === undefined) return [];
  const wrong = (reason: string): readonly Problem[] => [{ path: 'inputs', reason }];
  if (!isMerged) return wrong('are allowed only for a merged job, and the operation has no merge: send results');
  if (results !== undefined) return wrong('cannot be combined with results: send one of the two');
  if (Buffer.byteLength(raw) > RESULTS_MAX_BYTES)
    return wrong(
      `have more than ${RESULTS_MAX_BYTES} bytes in total: send smaller results, or the results of the tasks`,
    );
  return [];
};
