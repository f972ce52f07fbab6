/** The payloads of jobs to be added to a list, byte for byte as sent, and their errors. */
import type { Config } from '../../domain/config/resolved.ts';
import { type ListId, taskOf } from '../../domain/lists/ids.ts';
import { parseRegisterMessage } from '../../domain/register/register-message.ts';
import { PAYLOAD_MAX_BYTES } from '../../domain/tasks/task.ts';
import { registerBody } from '../../steps/lists/trigger.ts';
import { isObject, rawElements, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import { ADDED_MAX } from './requests.ts';

/** The highest possible token, which gives the longest task id. */
const LAST_TOKEN = 10 ** 12 - 1;

/** The payloads, byte for byte as sent. */
export const payloadsOf = (text: string): readonly string[] =>
  rawElements(rawMembers(text).get('jobs') ?? '[]').map((job) => rawMembers(job).get('payload') ?? '{}');

/**
 * Errors in payloads. If the list has an operation, each payload is checked like a task of it, so that an invalid job is
 * refused now and not at its trigger.
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

/** Checks with the longest possible task id, since the id counts towards `batch.maxBytes`. */
const taskProblems = (config: Config, operation: string): ProblemsOf => {
  const id = taskOf('x'.repeat(64) as ListId, LAST_TOKEN);
  return (payload) => {
    const parsed = parseRegisterMessage(config, { messageId: id, body: registerBody(operation, id, payload) });
    return parsed.ok
      ? []
      : parsed.problems.map((problem) => (problem.path === '' ? { ...problem, path: 'payload' } : problem));
  };
};
