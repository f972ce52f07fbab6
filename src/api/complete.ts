/** `POST /v1/batches/ID/complete`: a job that reports later says how its items ended. */
import { type Batch, membersOf } from '../batching/batch.ts';
import { completionMessages } from '../batching/completion-messages.ts';
import { isObject, rawElements, rawMembers } from '../batching/json-text.ts';
import type { Problem } from '../batching/problems.ts';
import { RESULT_MAX_BYTES } from '../batching/task.ts';
import type { ApiDeps } from './deps.ts';
import { badRequest, readObject, unknownFields } from './input.ts';
import { HttpProblem } from './problem.ts';

/** More than a result that is kept, and what is said beside it. */
const ITEM_MAX_BYTES = 2 * RESULT_MAX_BYTES;

/** Checks the results and sends them to the batch queue. @param text the body. @throws HttpProblem */
export const complete = async ({ queues }: Pick<ApiDeps, 'queues'>, batch: Batch, text: string): Promise<void> => {
  const body = readObject(text === '' ? '{}' : text);
  const members = new Set<string>(membersOf(batch));
  const errors = [...unknownFields(body, ['results']), ...resultProblems(body, text, members)];
  if (errors.length > 0) throw badRequest(errors);
  if (batch.status !== 'in-progress')
    throw new HttpProblem(409, `batch ${batch.id} is ${batch.status}: only one that is in progress can be completed`);
  const raw = Object.hasOwn(body, 'results') ? rawElements(rawMembers(text).get('results') ?? '[]') : null;
  for (const message of completionMessages(batch.id, raw)) await queues.batch(message, 0);
};

const resultProblems = (
  { results }: Record<string, unknown>,
  text: string,
  members: ReadonlySet<string>,
): readonly Problem[] => {
  if (results === undefined) return [];
  if (!Array.isArray(results))
    return [{ path: 'results', reason: 'must be a list; leave it out if all have succeeded' }];
  const raw = rawElements(rawMembers(text).get('results') ?? '[]');
  return results.flatMap((result, index) =>
    itemProblems(result, raw[index] ?? '', members).map(({ path, reason }) => ({
      path: `results[${index}]${path && `.${path}`}`,
      reason,
    })),
  );
};

const itemProblems = (result: unknown, raw: string, members: ReadonlySet<string>): readonly Problem[] => {
  if (!isObject(result)) return [{ path: '', reason: 'must be an object such as {"id": "…", "status": "succeeded"}' }];
  const { id, status } = result;
  const problems: Problem[] = [];
  if (typeof id !== 'string' || !members.has(id))
    problems.push({ path: 'id', reason: 'must be that of a task in this batch' });
  if (status !== 'succeeded' && status !== 'failed' && status !== 'retry')
    problems.push({ path: 'status', reason: 'must be succeeded, failed or retry' });
  if (Buffer.byteLength(raw) > ITEM_MAX_BYTES)
    problems.push({ path: 'result', reason: `is too large: at most ${RESULT_MAX_BYTES} bytes of it would be kept` });
  return problems;
};
