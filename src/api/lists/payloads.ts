/** Reads the payloads of jobs to be added to a list, byte for byte as sent, and finds errors in them. */
import type { Config } from '../../domain/config/resolved.ts';
import { type ListId, taskOf } from '../../domain/lists/ids.ts';
import { parseRegisterMessage } from '../../domain/register/register-message.ts';
import { PAYLOAD_MAX_BYTES } from '../../domain/tasks/task.ts';
import { registerBody } from '../../steps/lists/trigger.ts';
import { isObject, rawElements, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import { ADDED_MAX } from './requests.ts';

/** The highest possible token of a job. It gives the longest possible task id. */
const LAST_TOKEN = 10 ** 12 - 1;

/** Reads the payloads in a body, byte for byte as sent. */
export const payloadsOf = (text: string): readonly string[] =>
  rawElements(rawMembers(text).get('jobs') ?? '[]').map((job) => rawMembers(job).get('payload') ?? '{}');

/**
 * Finds errors in payloads. If the list has an operation, each payload is checked like the payload of a task of the
 * operation. An invalid job is therefore refused when it is added, not when it is triggered.
 *
 * @param text the body
 */
export const payloadProblems = (
  config: Config,
  operation: string | undefined,
  { jobs }: Readonly<Record<string, unknown>>,
  text: string,
): readonly Problem[] => {
  if (!Array.isArray(jobs) || jobs.length > ADDED_MAX) return [];
  const problemsOf = operation === undefined ? plainProblems : taskProblems(config, operation);
  const raw = rawElements(rawMembers(text).get('jobs') ?? '[]');
  return jobs.flatMap((job, index) => {
    const payload = isObject(job) && isObject(job.payload) ? rawMembers(raw[index] ?? '{}').get('payload') : undefined;
    const problems = payload === undefined ? [] : problemsOf(payload);
    return problems.map(({ path, reason }) => ({ path: `jobs[${index}]${path && `.${path}`}`, reason }));
  });
};

type ProblemsOf = (payload: string) => readonly Problem[];

const plainProblems: ProblemsOf = (payload) => {
  const bytes = Buffer.byteLength(payload);
  const reason = `has ${bytes} bytes; at most ${PAYLOAD_MAX_BYTES} are allowed: store the payload elsewhere and send a reference`;
  return bytes <= PAYLOAD_MAX_BYTES ? [] : [{ path: 'payload', reason }];
};

/** Checks payloads with the longest possible task id, because the id counts towards `batch.maxBytes`. */
const taskProblems = (config: Config, operation: string): ProblemsOf => {
  const id = taskOf('x'.repeat(64) as ListId, LAST_TOKEN);
  return (payload) => {
    const parsed = parseRegisterMessage(config, { messageId: id, body: registerBody(operation, id, payload) });
    return parsed.ok
      ? []
      : parsed.problems.map((problem) => (problem.path === '' ? { ...problem, path: 'payload' } : problem));
  };
};
