/** Requests of `/lists`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { FAN_OUT_ID_PATTERN, FAN_OUT_ID_RULE } from '../../domain/fan-out-ids.ts';
import { type ListId, listId } from '../../domain/lists/ids.ts';
import { PAYLOAD_MAX_BYTES } from '../../domain/tasks/task.ts';
import type { JobStatus } from '../../steps/lists/jobs.ts';
import type { Calls } from '../shared/calls.ts';
import {
  configured,
  fields,
  from,
  limit,
  list,
  NO_BODY,
  nameOf,
  number,
  object,
  oneOf,
  paging,
  textOfBytes,
  token,
  whole,
  word,
} from '../shared/fields.ts';

/** Maximum number of jobs that one call adds. */
export const ADDED_MAX = 1_000;
const NAME_MAX_BYTES = 64;
/** Maximum `count` of one trigger. No list can have more jobs. */
const TRIGGERED_MAX = 1_000_000_000_000;

/** Largest `maxDeliveries`, as in the configuration. */
const DELIVERIES_MAX = 100;

/** The body that opens a list. All fields are optional. The API creates an id if the body has none. */
const OPENING = fields({
  id: z.optional(
    nameOf<ListId>(
      'The id of the list, which also makes the call idempotent. The API creates an id if the field is left out.',
      FAN_OUT_ID_RULE,
      (text) => listId(text) !== undefined,
      { pattern: FAN_OUT_ID_PATTERN },
    ),
  ),
  operation: configured('operation', 'The operation of the tasks that triggered jobs become. Required for triggers.'),
  name: z.optional(
    textOfBytes(
      `A text of your choice, returned with the list and its event, up to ${NAME_MAX_BYTES} bytes.`,
      NAME_MAX_BYTES,
    ),
  ),
  callback: configured('destination', 'The destination of the event of its end, instead of the configured one.'),
  maxDeliveries: z.optional(
    whole(
      'How often workers get a job that they do not end, before it fails. Instead of the configured number.',
      1,
      DELIVERIES_MAX,
    ),
  ),
}).check(z.meta({ id: 'ListRequest' }));

const JOB = fields(
  {
    payload: object(`At most ${PAYLOAD_MAX_BYTES} bytes. Checked like a task of the list's operation.`).check(
      z.meta({ examples: [{ carrier: 'DHL', depot: 'MUC' }] }),
    ),
  },
  'must be an object such as {"payload": {…}}',
).check(z.meta({ id: 'NewJob' }));

const JOBS = fields({
  jobs: list(JOB, 'The jobs. Either all are added or none.', `must be a list of 1 to ${ADDED_MAX} jobs`, 1, ADDED_MAX),
  token: token(),
}).check(z.meta({ id: 'AddJobsRequest' }));

const TRIGGER = oneOf(
  {
    count: { count: whole('Number of jobs.', 1, TRIGGERED_MAX), token: token() },
    percent: {
      percent: number(
        'Share of all jobs that the list has now, in percent, rounded up.',
        'must be a number above 0, at most 100',
        {
          exclusiveMinimum: 0,
          maximum: 100,
        },
      ),
      token: token(),
    },
  },
  'must have either count (number of jobs) or percent (share of all jobs of the list)',
  { id: 'TriggerRequest' },
);

export const JOB_STATUSES = {
  waiting: 'neither triggered nor claimed',
  leased: 'claimed by a worker',
  started: 'became a task',
  succeeded: 'has succeeded',
  failed: 'has failed',
} as const satisfies Record<JobStatus, string>;

const STATUS = z.optional(
  word<JobStatus>(
    'Only jobs with this status. A page may be empty although more follow',
    `must be one of ${Object.keys(JOB_STATUSES).join(', ')}`,
    JOB_STATUSES,
  ),
);

export const LIST_CALLS = {
  openList: { on: 'POST /lists', right: 'work', body: OPENING },
  listLists: { on: 'GET /lists', right: 'read', query: z.object(paging(20)) },
  getList: { on: 'GET /lists/:id', right: 'read' },
  deleteList: { on: 'DELETE /lists/:id', right: 'operate', audit: 'delete', body: NO_BODY },
  sealList: { on: 'POST /lists/:id/seal', right: 'operate', body: NO_BODY },
  cancelList: { on: 'POST /lists/:id/cancel', right: 'operate', audit: 'cancel', body: NO_BODY },
  addJobs: { on: 'POST /lists/:id/jobs', right: 'work', body: JOBS },
  listJobs: {
    on: 'GET /lists/:id/jobs',
    right: 'read',
    query: z.object({ from, limit: limit(100, 500), status: STATUS }),
  },
  triggerJobs: { on: 'POST /lists/:id/triggers', right: 'work', body: TRIGGER },
} satisfies Calls;
