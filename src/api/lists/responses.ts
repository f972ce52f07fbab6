/** Responses of `/lists`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { List as StoredList } from '../../domain/lists/list.ts';
import type { ShownJob } from '../../steps/lists/jobs.ts';
import {
  anyObject,
  anything,
  CURSOR,
  describeCalls,
  flag,
  list,
  moment,
  onlyTrue,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
import { CLAIM_CALLS } from './claim-requests.ts';
import { JOB_STATUSES, LIST_CALLS } from './requests.ts';

type Status = Exclude<StoredList['status'], 'expired'>;
const STATUSES = {
  open: 'jobs can be added',
  sealed: 'no more jobs can be added',
  complete: 'all of its jobs have ended',
  cancelled: 'waiting jobs never start',
} as const satisfies Record<Status, string>;

const outline = {
  id: text('The id of the list.'),
  operation: z.optional(text('The operation of the tasks that triggered jobs become.')),
  name: z.optional(text('As given when the list was opened.')),
  callback: z.optional(text('As given when the list was opened.')),
  maxDeliveries: z.optional(whole('As given when the list was opened.', 1)),
  total: whole('Number of all jobs.'),
  createdAt: moment('When the list was opened.'),
  endedAt: z.optional(moment('When the list ended.')),
};
const counts = {
  available: whole('Number of jobs that can be triggered or claimed now.'),
  leased: whole('Number of claimed jobs.'),
  started: z.optional(whole('Number of jobs that became tasks. Missing if they were not counted.')),
  done: z.optional(whole('Number of jobs that have ended. Missing if they were not counted.')),
  succeeded: z.optional(whole('Number of jobs that succeeded. Missing if they were not counted.')),
  failed: whole('Number of jobs that failed.'),
  countsAreAtLeast: z.optional(
    onlyTrue(
      'The list is too large to be counted fully while it runs, or its rows are deleted: more jobs may have failed.',
    ),
  ),
};
const anyStatus = word<Status | 'deleted'>('Status of the list', {
  ...STATUSES,
  deleted: 'its rows are being deleted',
});
export const LIST = z
  .object({ ...outline, status: word<Status>('Status of the list', STATUSES), ...counts })
  .check(z.meta({ id: 'List', description: 'A deferred list: jobs that wait until they are triggered or claimed.' }));
export const LIST_OUTLINE = z
  .object({ ...outline, status: anyStatus })
  .check(z.meta({ id: 'ListOutline', description: 'A deferred list without its counts.' }));
export const LIST_DELETED = z
  .object({
    ...outline,
    status: z.literal('deleted').check(z.describe('The list was deleted.')),
    ...counts,
    available: z.optional(counts.available),
    leased: z.optional(counts.leased),
    failed: z.optional(counts.failed),
  })
  .check(
    z.meta({
      id: 'ListDeleted',
      description: 'A list at its deletion. It has no counts if the list had been deleted before.',
    }),
  );

const SHOWN_JOB = z
  .object({
    token: whole('The number of the job.'),
    status: word<ShownJob['status']>('Status of the job', JOB_STATUSES),
    deliveries: z.optional(whole('How often workers got the job, if it is waiting or leased and not 0.', 1)),
    payload: anyObject('The payload, as sent.'),
    task: z.optional(text('The id of its task.')),
    redrivenAt: z.optional(
      moment(
        'When its task was redriven, if the task no longer has the outcome of the job. The first outcome of a job stands; the task has, or will have, a later one.',
      ),
    ),
    result: z.optional(anything('The result of a job that succeeded.')),
    error: z.optional(
      z
        .looseObject({ code: text('The kind of error.'), message: text('The reason.') })
        .check(z.describe('The error of a failed job.')),
    ),
  })
  .check(z.meta({ id: 'Job', description: 'A job of a list with its status.' }));

const CLAIMED_JOB = z
  .object({
    token: whole('The number of the job.'),
    deliveries: whole('How often workers got the job, this time included.', 1),
    payload: anyObject('The payload, as sent.'),
  })
  .check(z.meta({ id: 'ClaimedJob', description: 'A job that no other worker can claim until `availableAgainAt`.' }));

const PAGE = z
  .object({ lists: list(LIST_OUTLINE, 'The lists. A list may appear twice.'), cursor: CURSOR })
  .check(z.meta({ id: 'ListPage' }));
export const JOBS_ADDED = z
  .object({
    first: whole('The number of the first added job.'),
    count: whole('Number of added jobs.', 1),
    total: whole('Number of all jobs of the list.'),
  })
  .check(z.meta({ id: 'JobsAdded' }));
export const JOB_PAGE = z
  .object({
    jobs: list(SHOWN_JOB, 'The jobs, by number.'),
    next: z.optional(whole('The `from` of the next page. Missing on the last page.')),
  })
  .check(z.meta({ id: 'JobPage' }));
export const TRIGGERED = z
  .object({
    triggered: whole('Number of jobs that become tasks.'),
    left: whole('Number of jobs that are still available.'),
  })
  .check(z.meta({ id: 'Triggered' }));

const endOfLease = {
  expiresAt: moment('When the lease ends.'),
  availableAgainAt: moment(
    'When other workers can claim the jobs that are not done: a minute after `expiresAt`, because clocks differ.',
  ),
};

export const CLAIMED = z
  .union([
    z
      .object({
        claimId: text('Identifies the claim, its jobs and its list.'),
        jobs: list(CLAIMED_JOB, 'The claimed jobs.', 1),
        ...endOfLease,
      })
      .check(z.meta({ id: 'Claim' })),
    z
      .object({ jobs: list(CLAIMED_JOB, 'Empty.', 0, 0), status: word<Status>('The status of the list', STATUSES) })
      .check(
        z.meta({
          id: 'NothingToClaim',
          description: 'No job is available. Unless the list is `complete`, jobs may become available later.',
        }),
      ),
  ])
  .check(z.describe('A claim, or no jobs.'));
export const RENEWED = z.object(endOfLease).check(z.meta({ id: 'Renewed' }));
export const CLAIM_COMPLETED = z
  .object({ complete: flag('Whether the list is complete.') })
  .check(z.meta({ id: 'ClaimCompleted' }));
export const RELEASED = z
  .object({
    released: whole('Number of released jobs.'),
    failed: whole('Number of attempted jobs that failed, because this was their last delivery.'),
    complete: flag('Whether the list is complete.'),
  })
  .check(z.meta({ id: 'Released' }));
export const BROKEN = z
  .object({
    claim: text('The claim that was ended.'),
    released: whole('Number of its jobs that others can claim now.'),
  })
  .check(z.meta({ id: 'ClaimBroken' }));
const LISTED_CLAIM = z
  .object({
    claim: text('Names the claim. Use it to end the claim.'),
    holder: z.optional(text('As given when the jobs were claimed.')),
    since: z.optional(moment('When the jobs were claimed. Missing in lists of older releases.')),
    state: word<'running' | 'ended' | 'available'>('State of its lease', {
      running: 'the lease has not ended',
      ended: 'the lease has ended, but until `availableAgainAt` only its worker can continue',
      available: 'other workers can claim the jobs',
    }),
    ...endOfLease,
    jobs: whole('Number of its jobs that are not done.'),
    deliveries: whole('How often workers got these jobs, this time included.', 1),
    ranges: list(
      z.object({ first: whole('The number of the first job.'), count: whole('Number of jobs.', 1) }),
      'The jobs of the claim. Those that are done are included.',
      1,
    ),
  })
  .check(z.meta({ id: 'ListedClaim', description: 'A claim that still has its jobs.' }));
export const CLAIM_PAGE = z
  .object({ claims: list(LISTED_CLAIM, 'All claims, by the end of their leases.') })
  .check(z.meta({ id: 'ClaimPage' }));

export type List = z.infer<typeof LIST>;
export type ListedClaimView = z.infer<typeof LISTED_CLAIM>;
export type ListOutline = z.infer<typeof LIST_OUTLINE>;
export type ListPage = z.infer<typeof PAGE>;
export type Job = z.infer<typeof SHOWN_JOB>;

const NONE = 'The list was never opened, was deleted, or ended long ago.';
const BUSY = 'Too many callers use the list at once: repeat the request with the same token or claimId.';
const UNCONFIGURED = 'its operation is no longer configured';

export const LISTS_DESCRIBED = [
  ...describeCalls(LIST_CALLS, {
    openList: {
      summary: 'Opens a deferred list',
      example: { id: 'spring', operation: 'distribute-parcels', name: 'spring catalogue' },
      answers: {
        200: { description: 'It already exists, with the same fields.', schema: LIST },
        201: { description: 'It was opened.', schema: LIST },
      },
      problems: { 409: 'It already exists with other fields, or was deleted.', 503: BUSY },
    },
    listLists: {
      summary: 'Lists deferred lists: active ones first, then ended ones',
      answers: {
        200: { description: 'A page of lists. It may be empty and still have a `cursor`.', schema: PAGE },
      },
    },
    getList: {
      summary: 'Gets a list and its counts',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE },
    },
    deleteList: {
      summary: 'Deletes a list without an event',
      description: 'Tasks of triggered jobs continue. A repeat changes nothing.',
      answers: { 200: { description: 'The list at its deletion.', schema: LIST_DELETED } },
      problems: { 404: NONE, 409: 'The event of its end is being sent.' },
    },
    sealList: {
      summary: 'Seals a list: no more jobs can be added',
      description: 'A repeat changes nothing.',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE, 409: 'The list is cancelled.', 503: BUSY },
    },
    cancelList: {
      summary: 'Cancels a list: waiting jobs never start',
      description: 'Claimed jobs and tasks continue. A repeat changes nothing.',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE, 409: 'The list is complete.', 503: BUSY },
    },
    addJobs: {
      summary: 'Adds jobs to a list',
      example: { jobs: [{ payload: { carrier: 'DHL', depot: 'MUC' } }], token: 'page-1' },
      answers: {
        200: {
          description: 'The new jobs have the numbers `first` to `first + count - 1`.',
          schema: JOBS_ADDED,
          example: { first: 0, count: 1, total: 1 },
        },
      },
      problems: {
        404: NONE,
        409: `The list is sealed or has ended, the token was used with other jobs, or ${UNCONFIGURED}.`,
        503: BUSY,
      },
    },
    listJobs: {
      summary: 'Lists the jobs of a list',
      answers: {
        200: {
          description: 'The jobs by number. A page has fewer than `limit` if the jobs are large.',
          schema: JOB_PAGE,
        },
      },
      problems: { 404: NONE },
    },
    triggerJobs: {
      summary: 'Turns jobs into tasks',
      description: 'Released jobs come first. A repeat with the same `token` triggers nothing more.',
      example: { percent: 10, token: 'monday' },
      answers: {
        200: {
          description: 'The number of triggered jobs.',
          schema: TRIGGERED,
          example: { triggered: 100, left: 900 },
        },
      },
      problems: {
        404: NONE,
        409: `The list has no operation, is complete or cancelled, the token was used for another amount, or ${UNCONFIGURED}.`,
        503: BUSY,
      },
    },
  }),
  ...describeCalls(CLAIM_CALLS, {
    claimJobs: {
      summary: 'Claims jobs for a limited time',
      description:
        'Fresh jobs come before released ones. A job that was handed out `maxDeliveries` times without an outcome fails.',
      example: { count: 100, leaseSeconds: 60, holder: 'worker-3' },
      answers: { 200: { description: 'Jobs, or none.', schema: CLAIMED } },
      problems: { 404: NONE, 409: 'The list is cancelled, or the claim belongs to another list.', 503: BUSY },
    },
    listClaims: {
      summary: 'Lists the claims of a list, with their holders',
      answers: { 200: { description: 'The claims.', schema: CLAIM_PAGE } },
      problems: { 404: NONE },
    },
    breakClaim: {
      summary: 'Ends a claim: others can claim its unfinished jobs at once',
      description:
        'The delivery counts for its unfinished jobs. The next call of its worker is refused (409). Until then, two workers may work on the same job.',
      answers: {
        200: { description: 'The claim was ended.', schema: BROKEN, example: { claim: 'k3x9Qz1B', released: 100 } },
      },
      problems: { 404: 'There is no such list or claim.', 409: 'The claim belongs to another list.' },
    },
    renewClaim: {
      summary: 'Renews the lease of a claim',
      example: { leaseSeconds: 60 },
      answers: { 200: { description: 'The new lease, which begins now.', schema: RENEWED } },
      problems: { 404: NONE, 409: 'The claim no longer has its jobs, or belongs to another list.', 503: BUSY },
    },
    completeClaim: {
      summary: 'Reports the outcomes of claimed jobs',
      description: 'Only the first outcome of a job counts.',
      example: { jobs: [{ token: 17 }, { token: 18, status: 'failed' }] },
      answers: {
        200: { description: 'The outcomes are stored.', schema: CLAIM_COMPLETED, example: { complete: false } },
      },
      problems: {
        404: NONE,
        409: 'The claim no longer has the jobs and they have not ended, or the claim belongs to another list.',
        503: BUSY,
      },
    },
    releaseClaim: {
      summary: 'Releases the unfinished jobs of a claim',
      description: 'A repeat changes nothing and answers 0.',
      example: { attempted: [{ token: 17, error: { code: 'no-depot', message: 'MUC is closed' } }] },
      answers: {
        200: {
          description: 'The jobs were released.',
          schema: RELEASED,
          example: { released: 3, failed: 0, complete: false },
        },
      },
      problems: { 404: NONE, 409: 'The claim belongs to another list.', 503: BUSY },
    },
  }),
];
