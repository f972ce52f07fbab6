/** Reads what callers say of deferred lists and their jobs; every problem of a body is named. */

import { type Config, operationNamed } from '../domain/config/resolved.ts';
import { FAN_OUT_ID_RULE } from '../domain/fan-out-ids.ts';
import type { Token } from '../domain/ids.ts';
import { type ListId, listId, taskOf } from '../domain/lists/ids.ts';
import type { NewList } from '../domain/lists/list.ts';
import { parseRegisterMessage, unknownOperation } from '../domain/register/register-message.ts';
import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { registerBody, type Wanted } from '../steps/lists/trigger.ts';
import { isObject, rawElements, rawMembers } from '../util/json-text.ts';
import type { Problem } from '../util/problems.ts';
import { callbackProblems, textProblems, tokenProblems, unless, wholeProblems } from './fields.ts';
import { badRequest, readObject, readOptionalObject, unknownFields } from './input.ts';

/** Jobs that one call adds at the most. */
export const ADDED_MAX = 1_000;
export const NAME_MAX_BYTES = 64;
/** Jobs that one trigger asks for at the most: more than a list can have are all of them. */
export const TRIGGERED_MAX = 1_000_000_000_000;
/** The highest token that there can be, whose task has the longest name. */
const LAST_TOKEN = 10 ** 12 - 1;

/** How somebody wants a list to be; without an id it gets one. */
export interface Opening extends Pick<NewList, 'operation' | 'callback'> {
  readonly id?: ListId;
  readonly name?: string;
}

/** @param text the body; without one it is opened as it comes. @throws HttpProblem */
export const readOpening = (config: Config, text: string): Opening => {
  const body = readOptionalObject(text);
  const { id, operation, name, callback } = body;
  const problems = [
    ...unknownFields(body, ['id', 'operation', 'name', 'callback']),
    ...unless(id === undefined || listId(id) !== undefined, 'id', FAN_OUT_ID_RULE),
    ...operationProblems(config, operation),
    ...textProblems('name', name, NAME_MAX_BYTES),
    ...callbackProblems(config, callback),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return body as Opening;
};

const operationProblems = (config: Config, operation: unknown): Problem[] => {
  if (operation === undefined) return [];
  if (typeof operation !== 'string')
    return [{ path: 'operation', reason: 'must be the name of a configured operation' }];
  return operationNamed(config, operation) ? [] : [unknownOperation(config, operation)];
};

export interface AddedJobs {
  /** JSON texts, exactly as sent. */
  readonly payloads: readonly string[];
  readonly token?: Token;
}

/**
 * Jobs that are to be added. Where they are to become tasks each is checked as if it were sent: what cannot become one
 * is refused now, and not when nobody looks.
 *
 * @throws HttpProblem
 */
export const readJobs = (config: Config, operation: string | undefined, text: string): AddedJobs => {
  const body = readObject(text);
  const { jobs, token } = body;
  const isList = Array.isArray(jobs) && jobs.length > 0 && jobs.length <= ADDED_MAX;
  const raw = isList ? rawElements(rawMembers(text).get('jobs') ?? '[]') : [];
  const payloads = raw.map((job, index) =>
    isObject((jobs as unknown[])[index]) ? rawMembers(job).get('payload') : undefined,
  );
  const problemsOf = operation === undefined ? plainProblems : taskProblems(config, operation);
  const problems = [
    ...unknownFields(body, ['jobs', 'token']),
    ...unless(isList, 'jobs', `must be a list of 1 to ${ADDED_MAX} jobs`),
    ...tokenProblems(token),
    ...payloads.flatMap((payload, index) =>
      jobProblems((jobs as unknown[])[index], payload, problemsOf).map(({ path, reason }) => ({
        path: `jobs[${index}]${path && `.${path}`}`,
        reason,
      })),
    ),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return { payloads: payloads as readonly string[], ...(token === undefined ? {} : { token: token as Token }) };
};

type ProblemsOf = (payload: string) => readonly Problem[];

const jobProblems = (job: unknown, payload: string | undefined, problemsOf: ProblemsOf): readonly Problem[] => {
  if (!isObject(job)) return [{ path: '', reason: 'must be an object such as {"payload": {…}}' }];
  const odd = unknownFields(job, ['payload']);
  if (payload === undefined || !isObject(job.payload))
    return [...odd, { path: 'payload', reason: 'must be a JSON object' }];
  return [...odd, ...problemsOf(payload)];
};

const plainProblems: ProblemsOf = (payload) => {
  const bytes = Buffer.byteLength(payload);
  const reason = `has ${bytes} bytes; at most ${PAYLOAD_MAX_BYTES} are taken: store it elsewhere and send a reference`;
  return unless(bytes <= PAYLOAD_MAX_BYTES, 'payload', reason);
};

/** Whatever number and list they get, which count where a task is about as large as its batch may be. */
const taskProblems = (config: Config, operation: string): ProblemsOf => {
  const id = taskOf('x'.repeat(64) as ListId, LAST_TOKEN);
  return (payload) => {
    const parsed = parseRegisterMessage(config, { messageId: id, body: registerBody(operation, id, payload) });
    return parsed.ok
      ? []
      : parsed.problems.map((problem) => (problem.path === '' ? { ...problem, path: 'payload' } : problem));
  };
};

/** @throws HttpProblem */
export const readTrigger = (text: string): { readonly wanted: Wanted; readonly token?: Token } => {
  const body = readObject(text);
  const { count, percent, token } = body;
  const problems = [
    ...unknownFields(body, ['count', 'percent', 'token']),
    ...wantedProblems(count, percent),
    ...tokenProblems(token),
  ];
  if (problems.length > 0) throw badRequest(problems);
  const wanted = count === undefined ? { percent: percent as number } : { count: count as number };
  return { wanted, ...(token === undefined ? {} : { token: token as Token }) };
};

/** One of the two: of both nobody would know which counts. */
const wantedProblems = (count: unknown, percent: unknown): Problem[] => {
  if ((count === undefined) === (percent === undefined))
    return [
      { path: '', reason: 'must have one of count (how many jobs) and percent (what share of all that the list has)' },
    ];
  if (count !== undefined) return wholeProblems('count', count, 1, TRIGGERED_MAX);
  const isShare = typeof percent === 'number' && percent > 0 && percent <= 100;
  return unless(isShare, 'percent', 'must be a number above 0, at most 100');
};
