/** Requests of `/lists/ID/claims`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { CLAIM_ID_RULE, CLAIM_PATTERN, HOLDER_MAX, HOLDER_PATTERN, type Range } from '../../domain/lists/ids.ts';
import { CLAIMED_MAX } from '../../domain/lists/list.ts';
import { countOf, tokensOf } from '../../domain/lists/ranges.ts';
import { RESULT_MAX_BYTES } from '../../domain/tasks/task.ts';
import type { JobResult } from '../../ports/lists.ts';
import type { Completion } from '../../steps/lists/complete.ts';
import type { AttemptedJob } from '../../steps/lists/release.ts';
import { isObject, rawElements, rawMembers } from '../../util/json-text.ts';
import { isNumberWithin } from '../../util/limits.ts';
import type { Problem } from '../../util/problems.ts';
import type { Calls } from '../shared/calls.ts';
import { fields, list, NO_BODY, nameOf, textOfBytes, whole, word } from '../shared/fields.ts';
import { readBody } from '../shared/input.ts';

/** Maximum lease, in seconds: 12 hours, the same as the maximum visibility timeout of SQS. */
const LEASE_MAX_SECONDS = 43_200;
const [CODE_MAX_BYTES, MESSAGE_MAX_BYTES] = [128, 4_096];

const leaseSeconds = whole('The lease in seconds: how long no other worker can claim the jobs.', 1, LEASE_MAX_SECONDS);

const CLAIM = fields({
  count: whole('Maximum number of jobs.', 1, CLAIMED_MAX),
  leaseSeconds,
  claimId: z.optional(
    nameOf<string>(
      'Makes the call idempotent: a repeat with the same id, or with the `claimId` of the answer, gets the same jobs.',
      `${CLAIM_ID_RULE}; or be the claimId of an answer`,
      (text) => CLAIM_PATTERN.test(text),
      { pattern: CLAIM_PATTERN },
    ),
  ),
  holder: z.optional(
    nameOf<string>(
      'Who claims, for people: `GET /lists/{id}/claims` shows it.',
      `must be a text of 1 to ${HOLDER_MAX} visible ASCII characters`,
      (text) => HOLDER_PATTERN.test(text),
      { pattern: HOLDER_PATTERN },
    ),
  ),
}).check(z.meta({ id: 'ClaimRequest' }));

const RENEWAL = fields({ leaseSeconds }).check(z.meta({ id: 'RenewRequest' }));

const ERROR = fields(
  {
    code: textOfBytes(`The kind of error, up to ${CODE_MAX_BYTES} bytes.`, CODE_MAX_BYTES),
    message: textOfBytes(`The reason, up to ${MESSAGE_MAX_BYTES} bytes.`, MESSAGE_MAX_BYTES),
  },
  'must be {"code": "…", "message": "…"}',
).check(z.describe('The error of a failed job.'));

/** The jobs that a request about a claim may name. Undefined if they are not known. */
type Jobs = readonly Range[] | undefined;

/** The token of a job in the claim. */
const tokenOf = (jobs: Jobs) => {
  const which = jobs?.map(({ first, count }) => `${first} to ${first + count - 1}`).join(', ');
  const error = `must be the token of a job of this claim: a whole number${which === undefined ? '' : ` from ${which}`}`;
  const tokens = jobs && new Set(jobs.flatMap(tokensOf));
  const isOne = (value: number) => isNumberWithin(value, ANY_TOKEN) && (tokens?.has(value) ?? true);
  return z
    .number({ error })
    .check(
      z.refine(isOne, { error }),
      z.meta({ type: 'integer', description: 'The token of a job of the claim.', minimum: 0, examples: [17] }),
    );
};
const ANY_TOKEN = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

const RESULT = z.optional(
  z.unknown().check(z.describe(`The result of a job that succeeded: any JSON up to ${RESULT_MAX_BYTES} bytes.`)),
);

/** The end of a job. {@link endProblems} checks that its result or error fits its status. */
const endOfJob = (jobs: Jobs) => {
  const token = tokenOf(jobs);
  const status = word('The outcome', 'must be succeeded or failed', {
    succeeded: 'the default',
    failed: 'it failed',
  });
  const error = z.optional(ERROR);
  return fields(
    { token, status: z.optional(status), result: RESULT, error },
    'must be an object such as {"token": 17, "status": "succeeded", …}',
  ).check(
    z.meta({
      id: 'JobEnd',
      description: 'The end of a job: it succeeded (the default), or it failed.',
      forms: [
        z.strictObject({ token, status: z.optional(z.literal('succeeded')), result: RESULT }),
        z.strictObject({ token, status: z.literal('failed'), error }),
      ],
    }),
  );
};

/** A range may contain more jobs than a claim can have, because those that are done count. */
const mostOf = (jobs: Jobs): number => Math.min(jobs ? countOf(jobs) : CLAIMED_MAX, CLAIMED_MAX);

const completionOf = (jobs: Jobs) =>
  fields({
    jobs: z.optional(
      list(
        endOfJob(jobs),
        'The outcomes of jobs of the claim. If left out, all of them succeeded.',
        `must be a list of 1 to ${mostOf(jobs)} jobs, the number that the claim has; leave it out if all succeeded`,
        1,
        mostOf(jobs),
      ),
    ),
  }).check(z.meta({ id: 'CompleteClaimRequest' }));

const releaseOf = (jobs: Jobs) =>
  fields({
    attempted: z.optional(
      list(
        fields({ token: tokenOf(jobs), error: z.optional(ERROR) }, 'must be an object such as {"token": 17}').check(
          z.meta({ id: 'AttemptedJob', description: 'A job that the worker began and did not end.' }),
        ),
        'The jobs that the worker began and did not end. This delivery counts for them, but for no other job. If left out, it counts for all jobs of the claim.',
        `must be a list of 0 to ${mostOf(jobs)} jobs of the claim`,
        0,
        mostOf(jobs),
      ),
    ),
  }).check(z.meta({ id: 'ReleaseClaimRequest' }));

export const CLAIM_CALLS = {
  claimJobs: { on: 'POST /lists/:id/claims', right: 'work', body: CLAIM },
  listClaims: { on: 'GET /lists/:id/claims', right: 'read' },
  breakClaim: { on: 'DELETE /lists/:id/claims/:claim', right: 'operate', audit: 'break', body: NO_BODY },
  renewClaim: { on: 'PUT /lists/:id/claims/:claim', right: 'work', body: RENEWAL },
  completeClaim: {
    on: 'POST /lists/:id/claims/:claim/complete',
    right: 'work',
    body: completionOf(undefined),
  },
  releaseClaim: { on: 'POST /lists/:id/claims/:claim/release', right: 'work', body: releaseOf(undefined) },
} satisfies Calls;

/** Reads the outcomes in a body. If the body lists no jobs, all jobs of the claim succeeded. @throws HttpProblem */
export const readCompletion = (text: string, claimed: Jobs): Completion => {
  const { jobs } = readBody(completionOf(claimed), text, (body) => endProblems(body, text, mostOf(claimed)));
  if (jobs === undefined) return 'succeeded';
  const raw = rawJobs(text);
  return jobs.map(({ token, status = 'succeeded', error }, index): JobResult => {
    const result = rawMembers(raw[index] ?? '{}').get('result');
    return {
      token,
      outcome: status,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
  });
};

/** Reads which jobs a worker has begun. Undefined if the body does not say it. @throws HttpProblem */
export const readAttempted = (text: string, claimed: Jobs): readonly AttemptedJob[] | undefined =>
  readBody(releaseOf(claimed), text, ({ attempted }) =>
    repeatProblems(attempted, 'attempted', mostOf(claimed)),
  ).attempted?.map(({ token, error }) => ({ token, ...(error ? { error } : {}) }));

const rawJobs = (text: string): readonly string[] => rawElements(rawMembers(text).get('jobs') ?? '[]');

/** Finds errors across fields: a job that is listed twice, or whose result or error does not fit its status. */
const endProblems = ({ jobs }: Readonly<Record<string, unknown>>, text: string, most: number): readonly Problem[] => {
  if (!Array.isArray(jobs) || jobs.length > most) return [];
  const raw = rawJobs(text);
  const ends = jobs.flatMap((job, index) => {
    if (!isObject(job)) return [];
    const { status = 'succeeded', error } = job;
    const bytes = Buffer.byteLength(rawMembers(raw[index] ?? '{}').get('result') ?? '');
    const wrong = (isWrong: boolean, field: string, reason: string): Problem[] =>
      isWrong ? [{ path: `jobs[${index}].${field}`, reason }] : [];
    return [
      ...wrong(
        status === 'failed' && bytes > 0,
        'result',
        'is allowed only with "status": "succeeded": a failed job has an error',
      ),
      ...wrong(
        bytes > RESULT_MAX_BYTES,
        'result',
        `has ${bytes} bytes; at most ${RESULT_MAX_BYTES} are allowed: store the result elsewhere and send a reference`,
      ),
      ...wrong(status !== 'failed' && isObject(error), 'error', 'is allowed only with "status": "failed"'),
    ];
  });
  return [...ends, ...repeatProblems(jobs, 'jobs', most)];
};

/**
 * Finds jobs that are listed twice.
 *
 * @param path the member that lists them
 * @param most a longer list is refused anyway
 */
const repeatProblems = (jobs: unknown, path: string, most: number): readonly Problem[] => {
  if (!Array.isArray(jobs) || jobs.length > most) return [];
  const firsts = new Map<unknown, number>();
  return jobs.flatMap((job: unknown, index): Problem[] => {
    const token = isObject(job) ? job.token : undefined;
    const first = firsts.get(token);
    if (typeof token !== 'number' || first === undefined) {
      firsts.set(token, index);
      return [];
    }
    return [{ path: `${path}[${index}].token`, reason: `is also the token of ${path}[${first}]: list each job once` }];
  });
};
