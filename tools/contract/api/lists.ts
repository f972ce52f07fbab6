/** `/lists`. */
import * as z from 'zod';
import {
  CLAIMED_MAX,
  CODE_MAX_BYTES,
  LEASE_MAX_SECONDS,
  MESSAGE_MAX_BYTES,
} from '../../../src/api/list-claim-input.ts';
import { ADDED_MAX, NAME_MAX_BYTES, TRIGGERED_MAX } from '../../../src/api/list-input.ts';
import { FAN_OUT_ID_PATTERN } from '../../../src/domain/fan-out-ids.ts';
import { CLAIM_ID_PATTERN } from '../../../src/domain/lists/ids.ts';
import type { List } from '../../../src/domain/lists/list.ts';
import { PAYLOAD_MAX_BYTES, RESULT_MAX_BYTES } from '../../../src/domain/tasks/task.ts';
import type { ShownJob } from '../../../src/steps/lists/jobs.ts';
import { anyObject, anything, flag, list, moment, number, onlyTrue, text, whole, word } from '../fields.ts';
import { TOKEN } from './fan-outs.ts';
import { CURSOR, NO_BODY, paging, type Route } from './route.ts';

const token = TOKEN.optional();

const OPENING = z
  .strictObject({
    id: text('Names it, and makes the call repeatable. Made up without one.', {
      pattern: FAN_OUT_ID_PATTERN,
    }).optional(),
    operation: text('What its jobs become tasks of, if they are ever triggered.').optional(),
    name: text(`Whatever tells you what it is about, up to ${NAME_MAX_BYTES} bytes.`, {
      minLength: 1,
      maxLength: NAME_MAX_BYTES,
    }).optional(),
    callback: text('The destination that is told of its end, instead of the configured one.').optional(),
  })
  .meta({ id: 'ListRequest' });

type Status = Exclude<List['status'], 'expired'>;
const STATUSES = {
  open: 'jobs may be added',
  sealed: 'nothing is added any more',
  complete: 'all of its jobs are done',
  cancelled: 'what waits never starts',
} as const satisfies Record<Status, string>;

const outline = {
  id: text('Its id.'),
  operation: text('What its jobs become tasks of.').optional(),
  name: text('As its opener gave it.').optional(),
  callback: text('As its opener gave it.').optional(),
  total: whole('All of its jobs.'),
  createdAt: moment('When it was opened.'),
  endedAt: moment('When it ended.').optional(),
};
const counts = {
  available: whole('Jobs that could be handed out now.'),
  leased: whole('Jobs that are claimed.'),
  started: whole('Jobs that are tasks; missing where they were not counted.').optional(),
  done: whole('Jobs that ended; missing where they were not counted.').optional(),
  succeeded: whole('Jobs that succeeded; missing where they were not counted.').optional(),
  failed: whole('Jobs that failed.'),
  countsAreAtLeast: onlyTrue(
    'It is too large to be counted while it runs, or was cleared away: more may have failed.',
  ).optional(),
};
const anyStatus = word<Status | 'deleted'>('How far it is', { ...STATUSES, deleted: 'its rows go' });
const LIST = z
  .object({ ...outline, status: word<Status>('How far it is', STATUSES), ...counts })
  .meta({ id: 'List', description: 'A deferred list: jobs that wait until somebody asks for them.' });
const LIST_OUTLINE = z
  .object({ ...outline, status: anyStatus })
  .meta({ id: 'ListOutline', description: 'A deferred list, without what would have to be counted.' });
const LIST_DELETED = z
  .object({
    ...outline,
    status: z.literal('deleted').describe('It has ended so.'),
    ...counts,
    available: counts.available.optional(),
    leased: counts.leased.optional(),
    failed: counts.failed.optional(),
  })
  .meta({
    id: 'ListDeleted',
    description: 'How a list was that has been deleted; of one that was before, without counts.',
  });

const JOBS = z
  .strictObject({
    jobs: list(
      z
        .strictObject({
          payload: anyObject(`At most ${PAYLOAD_MAX_BYTES} bytes; checked as a task of the list's operation.`),
        })
        .meta({ id: 'NewJob' }),
      'All of them are added, or none.',
      1,
      ADDED_MAX,
    ),
    token,
  })
  .meta({ id: 'AddJobsRequest' });

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
    task: text('The id of the task that it is.').optional(),
    result: anything('Of one that succeeded.').optional(),
    error: z
      .object({ code: text('A word.'), message: text('Why.') })
      .loose()
      .describe('Of one that failed.')
      .optional(),
  })
  .meta({ id: 'Job', description: 'A job of a list, and how it stands.' });

const CLAIMED_JOB = z
  .object({ token: whole('Its number.'), payload: anyObject('As it was sent.') })
  .meta({ id: 'ClaimedJob', description: 'A job that is the claimer’s until the lease ends.' });

const lease = whole('How long nobody else gets the jobs, in seconds.', 1, LEASE_MAX_SECONDS);

const COMPLETION = z
  .strictObject({
    jobs: list(
      z
        .strictObject({
          token: whole('That of a job of the claim.'),
          status: word<'succeeded' | 'failed'>('How it ended', {
            succeeded: 'also without this',
            failed: 'it did not',
          }).optional(),
          result: anything(`Of one that succeeded: any JSON up to ${RESULT_MAX_BYTES} bytes.`).optional(),
          error: z
            .strictObject({
              code: text(`A word, up to ${CODE_MAX_BYTES} bytes.`, { minLength: 1, maxLength: CODE_MAX_BYTES }),
              message: text(`Why, up to ${MESSAGE_MAX_BYTES} bytes.`, { minLength: 1, maxLength: MESSAGE_MAX_BYTES }),
            })
            .describe('Of one that failed.')
            .optional(),
        })
        .meta({ id: 'JobEnd' }),
      'How some of its jobs ended; without it all have succeeded.',
      1,
      CLAIMED_MAX,
    ).optional(),
  })
  .meta({ id: 'CompleteClaimRequest' });

const NONE = 'It was never opened, was deleted, or ended long ago.';
const BUSY = 'Too many ask something of the list at once: ask again, with the same token.';
const UNCONFIGURED = 'its operation is not configured any more';

const OF_LISTS: readonly Route[] = [
  {
    method: 'post',
    path: '/lists',
    id: 'openList',
    summary: 'Opens a deferred list',
    body: {
      schema: OPENING,
      optional: true,
      example: { id: 'spring', operation: 'distribute-parcels', name: 'spring catalogue' },
    },
    answers: {
      200: { description: 'It was there already, with the same fields.', schema: LIST },
      201: { description: 'It is open.', schema: LIST },
    },
    problems: { 409: 'It was there already, with others, or was deleted.', 503: BUSY },
  },
  {
    method: 'get',
    path: '/lists',
    id: 'listLists',
    summary: 'Those under way, then those that ended',
    query: paging(20),
    answers: {
      200: {
        description: 'A page of them; it may be empty where there is a `cursor`.',
        schema: z.object({ lists: list(LIST_OUTLINE, 'One may come twice.'), cursor: CURSOR }).meta({ id: 'ListPage' }),
      },
    },
  },
  {
    method: 'get',
    path: '/lists/{id}',
    id: 'getList',
    summary: 'How far a list is',
    answers: { 200: { description: 'The list.', schema: LIST } },
    problems: { 404: NONE },
  },
  {
    method: 'delete',
    path: '/lists/{id}',
    id: 'deleteList',
    summary: 'Ends it without an event',
    description: 'Twice is harmless. Tasks that its jobs became go on.',
    answers: { 200: { description: 'How it was.', schema: LIST_DELETED } },
    problems: { 404: NONE, 409: 'The event of its end is on its way.' },
  },
  {
    method: 'post',
    path: '/lists/{id}/seal',
    id: 'sealList',
    summary: 'Nothing is added any more',
    description: 'Again is harmless.',
    body: { schema: NO_BODY, optional: true },
    answers: { 200: { description: 'The list.', schema: LIST } },
    problems: { 404: NONE, 409: 'It is cancelled.', 503: BUSY },
  },
  {
    method: 'post',
    path: '/lists/{id}/cancel',
    id: 'cancelList',
    summary: 'What waits never starts',
    description: 'Again is harmless. What is claimed or a task goes on.',
    body: { schema: NO_BODY, optional: true },
    answers: { 200: { description: 'The list.', schema: LIST } },
    problems: { 404: NONE, 409: 'It is complete.', 503: BUSY },
  },
];

const OF_JOBS: readonly Route[] = [
  {
    method: 'post',
    path: '/lists/{id}/jobs',
    id: 'addJobs',
    summary: 'Adds jobs',
    body: { schema: JOBS, example: { jobs: [{ payload: { carrier: 'DHL', depot: 'MUC' } }], token: 'page-1' } },
    answers: {
      200: {
        description: 'They are numbered `first` to `first + count - 1`.',
        schema: z
          .object({
            first: whole('The number of the first.'),
            count: whole('How many there are.', 1),
            total: whole('All of the list.'),
          })
          .meta({ id: 'JobsAdded' }),
        example: { first: 0, count: 1, total: 1 },
      },
    },
    problems: {
      404: NONE,
      409: `It is sealed or has ended, the token stands for other jobs, or ${UNCONFIGURED}.`,
      503: BUSY,
    },
  },
  {
    method: 'get',
    path: '/lists/{id}/jobs',
    id: 'listJobs',
    summary: 'Its jobs, and how they stand',
    query: {
      from: { schema: whole('The number of the first, in plain digits.').meta({ default: 0 }) },
      limit: paging(100, 500).limit,
    },
    answers: {
      200: {
        description: 'In their order; fewer, where they are large.',
        schema: z
          .object({ jobs: list(SHOWN_JOB, 'By their numbers.'), next: whole('With which to go on.').optional() })
          .meta({ id: 'JobPage' }),
      },
    },
    problems: { 404: NONE },
  },
  {
    method: 'post',
    path: '/lists/{id}/triggers',
    id: 'triggerJobs',
    summary: 'Makes tasks of jobs',
    description: 'Those that somebody gave back first. The same `token` triggers nothing more.',
    body: {
      schema: z
        .union([
          z.strictObject({ count: whole('How many.', 1, TRIGGERED_MAX), token }),
          z.strictObject({
            percent: number('What share of all that the list has now, rounded up.', {
              exclusiveMinimum: 0,
              maximum: 100,
            }),
            token,
          }),
        ])
        .meta({ id: 'TriggerRequest' }),
      example: { percent: 10, token: 'monday' },
    },
    answers: {
      200: {
        description: 'So many become tasks.',
        schema: z
          .object({ triggered: whole('How many.'), left: whole('How many are still available.') })
          .meta({ id: 'Triggered' }),
        example: { triggered: 100, left: 900 },
      },
    },
    problems: { 404: NONE, 409: `It has no operation, is complete or cancelled, or ${UNCONFIGURED}.`, 503: BUSY },
  },
];

const OF_CLAIMS: readonly Route[] = [
  {
    method: 'post',
    path: '/lists/{id}/claims',
    id: 'claimJobs',
    summary: 'Gets jobs, for a while',
    body: {
      schema: z
        .strictObject({
          count: whole('How many at the most.', 1, CLAIMED_MAX),
          leaseSeconds: lease,
          claimId: text('Makes the call repeatable: the same one gets the same jobs.', {
            pattern: CLAIM_ID_PATTERN,
          }).optional(),
        })
        .meta({ id: 'ClaimRequest' }),
      example: { count: 100, leaseSeconds: 60 },
    },
    answers: {
      200: {
        description: 'Jobs, consecutive; or none.',
        schema: z
          .union([
            z
              .object({
                claimId: text('Names the claim, its jobs and its list.'),
                jobs: list(CLAIMED_JOB, 'Its jobs.', 1),
                expiresAt: moment('When the lease ends.'),
              })
              .meta({ id: 'Claim' }),
            z
              .object({ jobs: list(CLAIMED_JOB, 'None.', 0, 0), status: word<Status>('How far the list is', STATUSES) })
              .meta({ id: 'NothingToClaim', description: 'Of a list that is not `complete` there may be some later.' }),
          ])
          .describe('A claim, or nothing.'),
      },
    },
    problems: { 404: NONE, 409: 'It is cancelled.', 503: BUSY },
  },
  {
    method: 'put',
    path: '/lists/{id}/claims/{claim}',
    id: 'renewClaim',
    summary: 'Keeps jobs for longer',
    body: {
      schema: z.strictObject({ leaseSeconds: lease }).meta({ id: 'RenewRequest' }),
      example: { leaseSeconds: 60 },
    },
    answers: {
      200: {
        description: 'From now on.',
        schema: z.object({ expiresAt: moment('When the lease ends.') }).meta({ id: 'Renewed' }),
      },
    },
    problems: { 404: NONE, 409: 'Somebody else has its jobs, or nobody.', 503: BUSY },
  },
  {
    method: 'post',
    path: '/lists/{id}/claims/{claim}/complete',
    id: 'completeClaim',
    summary: 'Jobs of a claim are done',
    description: 'Each job ends once: the first outcome stands.',
    body: { schema: COMPLETION, optional: true, example: { jobs: [{ token: 17 }, { token: 18, status: 'failed' }] } },
    answers: {
      200: {
        description: 'They are.',
        schema: z.object({ complete: flag('Whether the list is.') }).meta({ id: 'ClaimCompleted' }),
        example: { complete: false },
      },
    },
    problems: { 404: NONE, 409: "The jobs are not the claim's (any more), and not done.", 503: BUSY },
  },
  {
    method: 'post',
    path: '/lists/{id}/claims/{claim}/release',
    id: 'releaseClaim',
    summary: 'Its jobs that are not done go back to the pool',
    description: 'Again is harmless, and answers 0.',
    body: { schema: NO_BODY, optional: true },
    answers: {
      200: {
        description: 'They did.',
        schema: z.object({ released: whole('How many.') }).meta({ id: 'Released' }),
        example: { released: 3 },
      },
    },
    problems: { 404: NONE, 409: 'The claim is of another list.', 503: BUSY },
  },
];

export const LIST_ROUTES: readonly Route[] = [...OF_LISTS, ...OF_JOBS, ...OF_CLAIMS];
