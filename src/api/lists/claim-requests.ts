/** Requests of `/lists/ID/claims`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { CLAIM_ID_PATTERN, CLAIM_ID_RULE, type ClaimId, claimId, type Range } from '../../domain/lists/ids.ts';
import { endOf } from '../../domain/lists/list.ts';
import { RESULT_MAX_BYTES } from '../../domain/tasks/task.ts';
import type { JobResult } from '../../ports/lists.ts';
import type { Completion } from '../../steps/lists/claim.ts';
import { isObject, rawElements, rawMembers } from '../../util/json-text.ts';
import { isNumberWithin } from '../../util/limits.ts';
import type { Problem } from '../../util/problems.ts';
import type { Calls } from '../shared/calls.ts';
import { fields, list, NO_BODY, nameOf, textOfBytes, whole, word } from '../shared/fields.ts';
import { readBody } from '../shared/input.ts';

/** Maximum number of jobs in one claim. */
const CLAIMED_MAX = 1_000;
/** Maximum lease, in seconds: 12 hours, the same as the maximum visibility timeout of SQS. */
const LEASE_MAX_SECONDS = 43_200;
const [CODE_MAX_BYTES, MESSAGE_MAX_BYTES] = [128, 4_096];

const leaseSeconds = whole('The lease in seconds: how long no other worker can claim the jobs.', 1, LEASE_MAX_SECONDS);

const CLAIM = fields({
  count: whole('Maximum number of jobs.', 1, CLAIMED_MAX),
  leaseSeconds,
  claimId: z.optional(
    nameOf<ClaimId>(
      'Makes the call idempotent: a repeat with the same id gets the same jobs.',
      CLAIM_ID_RULE,
      (text) => claimId(text) !== undefined,
      { pattern: CLAIM_ID_PATTERN },
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

/** The token of a job in the claim. @param range the jobs of the claim */
const tokenOf = (range: Range) => {
  const limits = { type: 'integer', minimum: range.first, maximum: endOf(range) - 1 } as const;
  const error = `must be the token of a job of this claim: a whole number from ${limits.minimum} to ${limits.maximum}`;
  return z.number({ error }).check(
    z.refine((value) => isNumberWithin(value, limits), { error }),
    z.meta({ type: 'integer', description: 'The token of a job of the claim.', minimum: 0, examples: [17] }),
  );
};

const RESULT = z.optional(
  z.unknown().check(z.describe(`The result of a job that succeeded: any JSON up to ${RESULT_MAX_BYTES} bytes.`)),
);

/** The end of a job. {@link endProblems} checks that its result or error fits its status. */
const endOfJob = (range: Range) => {
  const token = tokenOf(range);
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

const completionOf = (range: Range) =>
  fields({
    jobs: z.optional(
      list(
        endOfJob(range),
        'The outcomes of jobs of the claim. If left out, all of them succeeded.',
        `must be a list of 1 to ${range.count} jobs, the number that the claim has; leave it out if all succeeded`,
        1,
        range.count,
      ),
    ),
  }).check(z.meta({ id: 'CompleteClaimRequest' }));

export const CLAIM_CALLS = {
  claimJobs: { on: 'POST /lists/:id/claims', right: 'work', body: CLAIM },
  renewClaim: { on: 'PUT /lists/:id/claims/:claim', right: 'work', body: RENEWAL },
  completeClaim: {
    on: 'POST /lists/:id/claims/:claim/complete',
    right: 'work',
    body: completionOf({ first: 0, count: CLAIMED_MAX }),
  },
  releaseClaim: { on: 'POST /lists/:id/claims/:claim/release', right: 'work', body: NO_BODY },
} satisfies Calls;

/** Reads the outcomes in a body. If the body lists no jobs, all jobs of the claim succeeded. @throws HttpProblem */
export const readCompletion = (text: string, range: Range): Completion => {
  const { jobs } = readBody(completionOf(range), text, (body) => endProblems(body, text, range));
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

const rawJobs = (text: string): readonly string[] => rawElements(rawMembers(text).get('jobs') ?? '[]');

/** Finds errors across fields: a job that is listed twice, or whose result or error does not fit its status. */
const endProblems = ({ jobs }: Readonly<Record<string, unknown>>, text: string, range: Range): readonly Problem[] => {
  if (!Array.isArray(jobs) || jobs.length > range.count) return [];
  const raw = rawJobs(text);
  const tokens: unknown[] = jobs.map((job) => (isObject(job) ? job.token : undefined));
  return jobs.flatMap((job, index) => {
    if (!isObject(job)) return [];
    const { status = 'succeeded', error } = job;
    const bytes = Buffer.byteLength(rawMembers(raw[index] ?? '{}').get('result') ?? '');
    const first = tokens.indexOf(job.token);
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
      ...wrong(
        typeof job.token === 'number' && first < index,
        'token',
        `is also the token of jobs[${first}]: list each job once`,
      ),
    ];
  });
};
