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
import { LIST_CALLS } from './requests.ts';

type Status = Exclude<StoredList['status'], 'expired'>;
const STATUSES = {
  open: 'jobs may be added',
  sealed: 'nothing is added any more',
  complete: 'all of its jobs are done',
  cancelled: 'what waits never starts',
} as const satisfies Record<Status, string>;

const outline = {
  id: text('Its id.'),
  operation: z.optional(text('What its jobs become tasks of.')),
  name: z.optional(text('As its opener gave it.')),
  callback: z.optional(text('As its opener gave it.')),
  total: whole('All of its jobs.'),
  createdAt: moment('When it was opened.'),
  endedAt: z.optional(moment('When it ended.')),
};
const counts = {
  available: whole('Jobs that could be handed out now.'),
  leased: whole('Jobs that are claimed.'),
  started: z.optional(whole('Jobs that are tasks; missing where they were not counted.')),
  done: z.optional(whole('Jobs that ended; missing where they were not counted.')),
  succeeded: z.optional(whole('Jobs that succeeded; missing where they were not counted.')),
  failed: whole('Jobs that failed.'),
  countsAreAtLeast: z.optional(
    onlyTrue('It is too large to be counted while it runs, or was cleared away: more may have failed.'),
  ),
};
const anyStatus = word<Status | 'deleted'>('How far it is', { ...STATUSES, deleted: 'its rows go' });
export const LIST = z
  .object({ ...outline, status: word<Status>('How far it is', STATUSES), ...counts })
  .check(z.meta({ id: 'List', description: 'A deferred list: jobs that wait until somebody asks for them.' }));
export const LIST_OUTLINE = z
  .object({ ...outline, status: anyStatus })
  .check(z.meta({ id: 'ListOutline', description: 'A deferred list, without what would have to be counted.' }));
export const LIST_DELETED = z
  .object({
    ...outline,
    status: z.literal('deleted').check(z.describe('It has ended so.')),
    ...counts,
    available: z.optional(counts.available),
    leased: z.optional(counts.leased),
    failed: z.optional(counts.failed),
  })
  .check(
    z.meta({
      id: 'ListDeleted',
      description: 'How a list was that has been deleted; of one that was before, without counts.',
    }),
  );

const SHOWN_JOB = z
  .object({
    token: whole('Its number.'),
    status: word<ShownJob['status']>('How it stands', {
      waiting: 'nobody has it',
      leased: 'it is claimed',
      started: 'it is a task',
      succeeded: 'it is done',
      failed: 'it is done',
    }),
    payload: anyObject('As it was sent.'),
    task: z.optional(text('The id of the task that it is.')),
    result: z.optional(anything('Of one that succeeded.')),
    error: z.optional(
      z.looseObject({ code: text('A word.'), message: text('Why.') }).check(z.describe('Of one that failed.')),
    ),
  })
  .check(z.meta({ id: 'Job', description: 'A job of a list, and how it stands.' }));

const CLAIMED_JOB = z
  .object({ token: whole('Its number.'), payload: anyObject('As it was sent.') })
  .check(z.meta({ id: 'ClaimedJob', description: 'A job that is the claimer’s until the lease ends.' }));

const PAGE = z
  .object({ lists: list(LIST_OUTLINE, 'One may come twice.'), cursor: CURSOR })
  .check(z.meta({ id: 'ListPage' }));
export const JOBS_ADDED = z
  .object({
    first: whole('The number of the first.'),
    count: whole('How many there are.', 1),
    total: whole('All of the list.'),
  })
  .check(z.meta({ id: 'JobsAdded' }));
export const JOB_PAGE = z
  .object({ jobs: list(SHOWN_JOB, 'By their numbers.'), next: z.optional(whole('With which to go on.')) })
  .check(z.meta({ id: 'JobPage' }));
export const TRIGGERED = z
  .object({ triggered: whole('How many.'), left: whole('How many are still available.') })
  .check(z.meta({ id: 'Triggered' }));

export const CLAIMED = z
  .union([
    z
      .object({
        claimId: text('Names the claim, its jobs and its list.'),
        jobs: list(CLAIMED_JOB, 'Its jobs.', 1),
        expiresAt: moment('When the lease ends.'),
      })
      .check(z.meta({ id: 'Claim' })),
    z.object({ jobs: list(CLAIMED_JOB, 'None.', 0, 0), status: word<Status>('How far the list is', STATUSES) }).check(
      z.meta({
        id: 'NothingToClaim',
        description: 'Of a list that is not `complete` there may be some later.',
      }),
    ),
  ])
  .check(z.describe('A claim, or nothing.'));
const RENEWED = z.object({ expiresAt: moment('When the lease ends.') }).check(z.meta({ id: 'Renewed' }));
export const CLAIM_COMPLETED = z
  .object({ complete: flag('Whether the list is.') })
  .check(z.meta({ id: 'ClaimCompleted' }));
export const RELEASED = z.object({ released: whole('How many.') }).check(z.meta({ id: 'Released' }));

export type List = z.infer<typeof LIST>;
export type ListOutline = z.infer<typeof LIST_OUTLINE>;
export type ListPage = z.infer<typeof PAGE>;
export type Job = z.infer<typeof SHOWN_JOB>;

const NONE = 'It was never opened, was deleted, or ended long ago.';
const BUSY = 'Too many ask something of the list at once: ask again, with the same token.';
const UNCONFIGURED = 'its operation is not configured any more';

export const LISTS_DESCRIBED = [
  ...describeCalls(LIST_CALLS, {
    openList: {
      summary: 'Opens a deferred list',
      example: { id: 'spring', operation: 'distribute-parcels', name: 'spring catalogue' },
      answers: {
        200: { description: 'It was there already, with the same fields.', schema: LIST },
        201: { description: 'It is open.', schema: LIST },
      },
      problems: { 409: 'It was there already, with others, or was deleted.', 503: BUSY },
    },
    listLists: {
      summary: 'Those under way, then those that ended',
      answers: {
        200: { description: 'A page of them; it may be empty where there is a `cursor`.', schema: PAGE },
      },
    },
    getList: {
      summary: 'How far a list is',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE },
    },
    deleteList: {
      summary: 'Ends it without an event',
      description: 'Twice is harmless. Tasks that its jobs became go on.',
      answers: { 200: { description: 'How it was.', schema: LIST_DELETED } },
      problems: { 404: NONE, 409: 'The event of its end is on its way.' },
    },
    sealList: {
      summary: 'Nothing is added any more',
      description: 'Again is harmless.',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE, 409: 'It is cancelled.', 503: BUSY },
    },
    cancelList: {
      summary: 'What waits never starts',
      description: 'Again is harmless. What is claimed or a task goes on.',
      answers: { 200: { description: 'The list.', schema: LIST } },
      problems: { 404: NONE, 409: 'It is complete.', 503: BUSY },
    },
    addJobs: {
      summary: 'Adds jobs',
      example: { jobs: [{ payload: { carrier: 'DHL', depot: 'MUC' } }], token: 'page-1' },
      answers: {
        200: {
          description: 'They are numbered `first` to `first + count - 1`.',
          schema: JOBS_ADDED,
          example: { first: 0, count: 1, total: 1 },
        },
      },
      problems: {
        404: NONE,
        409: `It is sealed or has ended, the token stands for other jobs, or ${UNCONFIGURED}.`,
        503: BUSY,
      },
    },
    listJobs: {
      summary: 'Its jobs, and how they stand',
      answers: { 200: { description: 'In their order; fewer, where they are large.', schema: JOB_PAGE } },
      problems: { 404: NONE },
    },
    triggerJobs: {
      summary: 'Makes tasks of jobs',
      description: 'Those that somebody gave back first. The same `token` triggers nothing more.',
      example: { percent: 10, token: 'monday' },
      answers: {
        200: {
          description: 'So many become tasks.',
          schema: TRIGGERED,
          example: { triggered: 100, left: 900 },
        },
      },
      problems: { 404: NONE, 409: `It has no operation, is complete or cancelled, or ${UNCONFIGURED}.`, 503: BUSY },
    },
  }),
  ...describeCalls(CLAIM_CALLS, {
    claimJobs: {
      summary: 'Gets jobs, for a while',
      example: { count: 100, leaseSeconds: 60 },
      answers: { 200: { description: 'Jobs, consecutive; or none.', schema: CLAIMED } },
      problems: { 404: NONE, 409: 'It is cancelled.', 503: BUSY },
    },
    renewClaim: {
      summary: 'Keeps jobs for longer',
      example: { leaseSeconds: 60 },
      answers: { 200: { description: 'From now on.', schema: RENEWED } },
      problems: { 404: NONE, 409: 'Somebody else has its jobs, or nobody.', 503: BUSY },
    },
    completeClaim: {
      summary: 'Jobs of a claim are done',
      description: 'Each job ends once: the first outcome stands.',
      example: { jobs: [{ token: 17 }, { token: 18, status: 'failed' }] },
      answers: { 200: { description: 'They are.', schema: CLAIM_COMPLETED, example: { complete: false } } },
      problems: { 404: NONE, 409: "The jobs are not the claim's (any more), and not done.", 503: BUSY },
    },
    releaseClaim: {
      summary: 'Its jobs that are not done go back to the pool',
      description: 'Again is harmless, and answers 0.',
      answers: { 200: { description: 'They did.', schema: RELEASED, example: { released: 3 } } },
      problems: { 404: NONE, 409: 'The claim is of another list.', 503: BUSY },
    },
  }),
];
