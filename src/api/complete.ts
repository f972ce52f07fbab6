/** `POST /v1/batches/ID/complete`: a job that reports later says how its items ended, or its inputs. */
import { type Batch, membersOf } from '../domain/batches/batch.ts';
import { completionMessages, RESULTS_MAX_BYTES } from '../domain/batches/completion-messages.ts';
import type { CompletionMessage } from '../domain/batches/messages.ts';
import { operationNamed } from '../domain/config/resolved.ts';
import type { BatchId } from '../domain/ids.ts';
import { KEY_RULE, keyOf } from '../domain/merging/inputs.ts';
import { RESULT_MAX_BYTES } from '../domain/tasks/task.ts';
import { isObject, rawElements, rawMembers } from '../util/json-text.ts';
import type { Problem } from '../util/problems.ts';
import type { ApiDeps } from './deps.ts';
import { badRequest, readObject, unknownFields } from './input.ts';
import { HttpProblem } from './problem.ts';

/** More than a result that is kept, and what is said beside it. */
const ITEM_MAX_BYTES = 2 * RESULT_MAX_BYTES;

/** Checks what is reported and sends it to the batch queue. @param text the body. @throws HttpProblem */
export const complete = async (
  { config, queues }: Pick<ApiDeps, 'config' | 'queues'>,
  batch: Batch,
  text: string,
): Promise<void> => {
  const json = text === '' ? '{}' : text;
  const [body, raw] = [readObject(json), rawMembers(json)];
  const isMerged = operationNamed(config, batch.operation)?.merge != null;
  const errors = [
    ...unknownFields(body, ['results', 'inputs']),
    ...resultProblems(body.results, raw.get('results'), new Set<string>(membersOf(batch))),
    ...inputProblems(body, raw.get('inputs'), isMerged),
  ];
  if (errors.length > 0) throw badRequest(errors);
  if (batch.status !== 'in-progress')
    throw new HttpProblem(409, `batch ${batch.id} is ${batch.status}: only one that is in progress can be completed`);
  for (const message of messagesOf(batch.id, raw)) await queues.batch(message, 0);
};

const messagesOf = (batchId: BatchId, raw: ReadonlyMap<string, string>): readonly CompletionMessage[] => {
  const [results, inputs] = [raw.get('results'), raw.get('inputs')];
  // Inputs that one message leaves out are tried again: they cannot go in several.
  if (inputs !== undefined) return [{ kind: 'completion', batchId, results: null, inputs }];
  return completionMessages(batchId, results === undefined ? null : rawElements(results));
};

const resultProblems = (
  results: unknown,
  raw: string | undefined,
  members: ReadonlySet<string>,
): readonly Problem[] => {
  if (results === undefined) return [];
  return eachOf('results', results, raw, (result, size) => {
    const known = typeof result.id === 'string' && members.has(result.id);
    return [
      ...(known ? [] : [{ path: 'id', reason: 'must be that of a task in this batch' }]),
      ...statusProblems(result),
      ...(size > ITEM_MAX_BYTES
        ? [{ path: 'result', reason: `is too large: at most ${RESULT_MAX_BYTES} bytes of it would be kept` }]
        : []),
    ];
  });
};

const inputProblems = (
  { results, inputs }: Record<string, unknown>,
  raw = '',
  isMerged: boolean,
): readonly Problem[] => {
  if (inputs === undefined) return [];
  const wrong = (reason: string): readonly Problem[] => [{ path: 'inputs', reason }];
  if (!isMerged) return wrong('are those of a merged job, and the operation merges no requests: give its results');
  if (results !== undefined) return wrong('come without results: give one of the two');
  if (Buffer.byteLength(raw) > RESULTS_MAX_BYTES)
    return wrong(
      `have more than ${RESULTS_MAX_BYTES} bytes together: report smaller results, or the results of its tasks`,
    );
  return eachOf('inputs', inputs, raw, (input) => [
    ...(keyOf(input.key) === undefined ? [{ path: 'key', reason: KEY_RULE }] : []),
    ...statusProblems(input),
  ]);
};

const statusProblems = ({ status }: Record<string, unknown>): readonly Problem[] =>
  status === 'succeeded' || status === 'failed' || status === 'retry'
    ? []
    : [{ path: 'status', reason: 'must be succeeded, failed or retry' }];

/** What is wrong with a list, or with its elements. @param check of an element, and how many bytes it has */
const eachOf = (
  name: string,
  list: unknown,
  raw = '[]',
  check: (element: Record<string, unknown>, bytes: number) => readonly Problem[],
): readonly Problem[] => {
  if (!Array.isArray(list)) return [{ path: name, reason: 'must be a list; leave it out if all have succeeded' }];
  const texts = rawElements(raw);
  return list.flatMap((element, index) => {
    const at = `${name}[${index}]`;
    if (!isObject(element)) return [{ path: at, reason: 'must be an object such as {"status": "succeeded", …}' }];
    const problems = check(element, Buffer.byteLength(texts[index] ?? ''));
    return problems.map(({ path, reason }) => ({ path: `${at}.${path}`, reason }));
  });
};
