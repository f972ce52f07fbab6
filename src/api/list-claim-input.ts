/** Reads what workers say that claim jobs of deferred lists: for how long they want them, and how they ended. */

import { CLAIM_ID_RULE, claimId, type Range } from '../domain/lists/ids.ts';
import { endOf } from '../domain/lists/list.ts';
import { RESULT_MAX_BYTES } from '../domain/tasks/task.ts';
import { SECOND } from '../domain/timings.ts';
import type { JobResult } from '../ports/lists.ts';
import type { Claim, Completion } from '../steps/lists/claim.ts';
import { isObject, rawElements, rawMembers } from '../util/json-text.ts';
import type { Problem } from '../util/problems.ts';
import { isWhole, textProblems, unless, wholeProblems } from './fields.ts';
import { badRequest, readObject, readOptionalObject, unknownFields } from './input.ts';

/** Jobs that one claim gets at the most. */
export const CLAIMED_MAX = 1_000;
/** As long as a message of SQS can be invisible. */
export const LEASE_MAX_SECONDS = 43_200;
export const [CODE_MAX_BYTES, MESSAGE_MAX_BYTES] = [128, 4_096];

/** @throws HttpProblem */
export const readClaim = (text: string): Omit<Claim, 'claim'> & Partial<Pick<Claim, 'claim'>> => {
  const body = readObject(text);
  const { count, leaseSeconds, claimId: name } = body;
  const claim = claimId(name);
  const problems = [
    ...unknownFields(body, ['count', 'leaseSeconds', 'claimId']),
    ...wholeProblems('count', count, 1, CLAIMED_MAX),
    ...leaseProblems(leaseSeconds),
    ...unless(name === undefined || claim !== undefined, 'claimId', CLAIM_ID_RULE),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return {
    count: count as number,
    lease: (leaseSeconds as number) * SECOND,
    ...(claim === undefined ? {} : { claim }),
  };
};

/** For how long a claim is to be renewed, in ms. @throws HttpProblem */
export const readRenewal = (text: string): number => {
  const body = readObject(text);
  const { leaseSeconds } = body;
  const problems = [...unknownFields(body, ['leaseSeconds']), ...leaseProblems(leaseSeconds)];
  if (problems.length > 0) throw badRequest(problems);
  return (leaseSeconds as number) * SECOND;
};

const leaseProblems = (seconds: unknown): Problem[] => wholeProblems('leaseSeconds', seconds, 1, LEASE_MAX_SECONDS);

/** How jobs of a claim ended: those that are named, or all of them well. @throws HttpProblem */
export const readCompletion = (text: string, range: Range): Completion => {
  const body = readOptionalObject(text);
  const { jobs } = body;
  const odd = unknownFields(body, ['jobs']);
  if (jobs === undefined) {
    if (odd.length > 0) throw badRequest(odd);
    return 'succeeded';
  }
  const isList = Array.isArray(jobs) && jobs.length > 0 && jobs.length <= range.count;
  const raw = isList ? rawElements(rawMembers(text).get('jobs') ?? '[]') : [];
  const read = raw.map((each, index) => readResult((jobs as unknown[])[index], each, range));
  const tokens = read.map((each) => ('token' in each ? each.token : undefined));
  const problems = [
    ...odd,
    ...unless(
      isList,
      'jobs',
      `must be a list of 1 to ${range.count} jobs, as the claim has them; leave it out if all have succeeded`,
    ),
    ...read.flatMap((each, index): readonly Problem[] => {
      if (!('token' in each))
        return each.map(({ path, reason }) => ({ path: `jobs[${index}]${path && `.${path}`}`, reason }));
      const first = tokens.indexOf(each.token);
      return unless(first === index, `jobs[${index}].token`, `is that of jobs[${first}]: a job ends once`);
    }),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return read as readonly JobResult[];
};

/** @param raw it, as it was sent. */
const readResult = (job: unknown, raw: string, range: Range): JobResult | readonly Problem[] => {
  if (!isObject(job))
    return [{ path: '', reason: 'must be an object such as {"token": 17, "status": "succeeded", …}' }];
  const { token, status = 'succeeded', error } = job;
  const result = Object.hasOwn(job, 'result') ? rawMembers(raw).get('result') : undefined;
  const problems = [
    ...unknownFields(job, ['token', 'status', 'result', 'error']),
    ...unless(
      isWhole(token, range.first, endOf(range) - 1),
      'token',
      `must be that of a job of this claim: a whole number from ${range.first} to ${endOf(range) - 1}`,
    ),
    ...unless(status === 'succeeded' || status === 'failed', 'status', 'must be succeeded or failed'),
    ...(result === undefined ? [] : resultProblems(result, status)),
    ...(error === undefined ? [] : errorProblems(error, status)),
  ];
  if (problems.length > 0) return problems;
  return {
    token: token as number,
    outcome: status as JobResult['outcome'],
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error: error as Exclude<JobResult['error'], undefined> }),
  };
};

const resultProblems = (result: string, status: unknown): Problem[] => {
  const bytes = Buffer.byteLength(result);
  const large = `has ${bytes} bytes; at most ${RESULT_MAX_BYTES} are taken: store it elsewhere and send a reference`;
  return [
    ...unless(status !== 'failed', 'result', 'is that of a job that succeeded: one that failed has an error'),
    ...unless(bytes <= RESULT_MAX_BYTES, 'result', large),
  ];
};

const errorProblems = (error: unknown, status: unknown): Problem[] => {
  if (!isObject(error)) return [{ path: 'error', reason: 'must be {"code": "…", "message": "…"}' }];
  const of = (problems: readonly Problem[]): Problem[] =>
    problems.map((each) => ({ ...each, path: `error.${each.path}` }));
  return [
    ...unless(status === 'failed', 'error', 'is that of a job that failed: say "status": "failed"'),
    ...of(unknownFields(error, ['code', 'message'])),
    ...of(textProblems('code', error.code ?? null, CODE_MAX_BYTES)),
    ...of(textProblems('message', error.message ?? null, MESSAGE_MAX_BYTES)),
  ];
};
