/** What people look at and turn: `/targets`, `/operations`, `/queues`, `/dead-letters` and `/doctor`. */
import * as z from 'zod';
import type { Circuit } from '../../../src/api/operation-views.ts';
import { REASON_MAX } from '../../../src/api/operations.ts';
import type { Finding } from '../../../src/domain/batches/findings.ts';
import type { Pause } from '../../../src/domain/operations/slots.ts';
import type { LetterQueue, SourceQueue } from '../../../src/ports/queues.ts';
import type { Remedy } from '../../../src/steps/repair/repair.ts';
import { flag, list, moment, number, onlyTrue, text, whole, word } from '../fields.ts';
import { CURSOR, NO_BODY, type Parameter, paging, type Route, SKIPPED, TARGET_ASKED } from './route.ts';

const PAUSE = z
  .object({
    by: word<Pause['by']>('Whose it is', {
      person: 'until somebody resumes it',
      circuit: 'until then at the latest',
    }),
    since: moment('When it began.'),
    until: moment('When it ends by itself.').optional(),
    reason: text('Why.').optional(),
  })
  .meta({ id: 'Pause', description: 'Nothing is sealed, and nobody is called, until it is over.' });

const TARGET = z
  .object({
    target: text('The operation and the grouping values, percent-encoded.'),
    operation: text('Its operation.'),
    waiting: whole('Tasks that wait, counted up to 1,000.', 0, 1_000),
    waitingIsAtLeast: onlyTrue('There may be more.').optional(),
    oldestAt: moment('When the task was registered whose turn is next.').optional(),
    leader: z
      .object({ fence: whole('Numbers its leaders.'), lockedUntil: moment('When its lease is over.') })
      .nullable()
      .describe('Who groups its tasks at the moment.'),
    openBatch: text('The batch that is being sealed.').optional(),
    paused: PAUSE.optional(),
    blocked: z
      .object({ since: moment('Since when its oldest task waits.') })
      .describe('It waits for room in its operation, or for the end of its pause.')
      .optional(),
    inFlight: list(z.string(), 'Its batches that are under way, where `concurrency.perTarget` is set.').optional(),
  })
  .meta({ id: 'Target', description: 'What waits where, and who leads it.' });

const state = {
  operation: text('Its name.'),
  paused: PAUSE.optional(),
  circuit: word<NonNullable<Circuit>>('Null where it has none', {
    closed: 'calls are made',
    open: 'the downstream is down, or refuses whoever calls: nothing is called until its pause is over',
    'half-open': 'that is over, and the next batch tries',
  }).nullable(),
  failures: whole('Attempts in a row that came to nothing.'),
  lateAfterSeconds: number('A task that has waited for longer is late.'),
  slots: z
    .object({ taken: whole('Batches that hold one.'), total: whole('`concurrency.total`.') })
    .describe('Where `concurrency.total` is set.')
    .optional(),
  waitingTargets: whole('How many Targets wait for room, counted up to 100.', 0, 100),
  waitingTargetsIsAtLeast: onlyTrue('There may be more.').optional(),
};
const OPERATION = z.object(state).meta({ id: 'Operation', description: 'The state of an operation.' });
const OPERATION_DETAILS = z
  .object({
    ...state,
    groupedBy: list(z.string(), "The keys of a payload that a batch's tasks share."),
    batches: list(z.string(), 'Those that hold its slots.'),
    targets: list(
      z.object({ target: text('Which.'), since: moment('Since when its oldest task waits.') }),
      'Those that wait for a slot, the next one first.',
    ),
  })
  .meta({ id: 'OperationDetails', description: 'The state of an operation, in full.' });

const paused = { operation: text('Its operation.'), target: text('The Target.') };
const alreadyPaused = flag('It was before: its `since` stays.');
const resuming = flag('A message ends the pause in a moment; false where nothing was paused.');

const target = TARGET_ASKED.meta({ description: 'One Target, instead of the whole operation.' }).optional();
const PAUSING = z
  .strictObject({
    target,
    reason: text('Well-formed text, for people.', { minLength: 1, maxLength: REASON_MAX }).optional(),
  })
  .meta({ id: 'PauseRequest' });
const RESUMING = z.strictObject({ target }).meta({ id: 'ResumeRequest' });

const sourceQueue = {
  register: 'from producers',
  elect: 'between the functions',
  group: 'between the functions',
  batch: 'batches to be called about',
  callback: 'events for destinations, where there are any',
} as const satisfies Record<SourceQueue, string>;
const QUEUE_NAME = word<SourceQueue>('Which', sourceQueue);
const LETTER_QUEUE_NAME = word<LetterQueue>('Which', {
  ...sourceQueue,
  rejected: 'what was refused',
  'given-up': 'events that no destination took for three days, where there are destinations',
});

const QUEUE = z
  .object({
    queue: QUEUE_NAME,
    waiting: whole('Ready for a function.'),
    inFlight: whole('In the hand of one.'),
    delayed: whole('Not ready yet.'),
    deadLetters: whole("In the queue's dead-letter queue."),
  })
  .meta({ id: 'Queue', description: 'About how many messages are where, as SQS counts.' });

const lettersRedriven = {
  redriven: whole('How many were sent again; or would be looked at.'),
  skipped: list(SKIPPED, 'Those that cannot be sent; `id` is a message’s.'),
  left: whole('About how many lie there afterwards.'),
};

const FINDING = z
  .object({
    finding: word<Finding['finding']>('What is stuck', {
      stranded: 'tasks wait, and nobody leads',
      'expired-lock': "a leader's lease is over, and nobody took its place",
      'leaderless-batch': 'a batch was begun, and nobody leads who would finish it',
      'overdue-batch': 'a batch should have been called about',
      forgotten: 'it waits for room in its operation, which does not know of it',
      'stuck-slot': 'a batch is over and still holds its place in the Target',
    }),
    operation: text('Its operation.'),
    target: text('Its Target.'),
    since: moment('Since when nobody saw to it.'),
    batchId: text('The batch, where it is about one.').optional(),
    tasksWait: flag('Of a lock: whether tasks wait for it.').optional(),
    repaired: flag('Where it was to be repaired: whether it was.').optional(),
    remedy: word<Remedy>('What was done', {
      'elect-message': 'somebody is elected',
      'batch-message': 'the batch is called about',
      'lock-released': 'the lock is free',
      'slot-freed': 'the place is free',
    }).optional(),
    reason: text('Why it could not be repaired. Without one something had changed in the meantime.').optional(),
  })
  .meta({ id: 'Finding', description: 'Something that is stuck.' });

const found = {
  findings: list(FINDING, 'What is stuck.'),
  skipped: list(SKIPPED, 'What could not be looked at.'),
  cursor: CURSOR,
};
const TARGETS_EXAMINED = z
  .object({ targets: list(z.string(), 'Those that were looked at.'), ...found })
  .meta({ id: 'TargetsExamined', description: 'What is stuck in a page of Targets.' });
const BATCHES_EXAMINED = z
  .object({ batches: whole('How many were looked at.'), ...found })
  .meta({ id: 'BatchesExamined', description: "What is stuck in a page of a Target's batches." });

const NO_TARGET = 'No task of the Target was ever registered.';
const NO_OPERATION = 'No such operation is configured.';
const operation: Parameter = { schema: text('Of one operation alone.') };

const TARGET_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/targets',
    id: 'listTargets',
    summary: 'What waits where, and who leads it',
    query: {
      operation,
      prefix: {
        schema: text('Targets alone whose part after `OPERATION/` begins so, to the letter; needs `operation`.'),
      },
      ...paging(50),
    },
    answers: {
      200: {
        description: 'A page of them.',
        schema: z.object({ targets: list(TARGET, 'By operation.'), cursor: CURSOR }).meta({ id: 'TargetPage' }),
      },
    },
  },
  {
    method: 'post',
    path: '/targets/flush',
    id: 'flushTarget',
    summary: 'Seals what waits now',
    body: {
      schema: z.strictObject({ target: TARGET_ASKED }).meta({ id: 'FlushRequest' }),
      example: { target: 'distribute-parcels/carrier=DHL/depot=MUC' },
    },
    answers: {
      202: {
        description: 'It was asked for.',
        schema: z
          .object({ target: text('The Target.'), waiting: whole('Tasks that wait, counted up to 1,000.') })
          .meta({ id: 'Flushed' }),
        example: { target: 'distribute-parcels/carrier=DHL/depot=MUC', waiting: 7 },
      },
    },
    problems: { 404: NO_TARGET, 409: 'Its operation is not configured any more.' },
  },
];

const OPERATION_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/operations',
    id: 'listOperations',
    summary: 'The state of all operations',
    answers: {
      200: {
        description: 'All that are configured.',
        schema: z.object({ operations: list(OPERATION, 'As configured.') }).meta({ id: 'OperationList' }),
      },
    },
  },
  {
    method: 'get',
    path: '/operations/{name}',
    id: 'getOperation',
    summary: 'The state of an operation, in full',
    answers: { 200: { description: 'Its state.', schema: OPERATION_DETAILS } },
    problems: { 404: NO_OPERATION },
  },
  {
    method: 'post',
    path: '/operations/{name}/pause',
    id: 'pauseOperation',
    summary: 'Nothing is sealed until it is resumed',
    description: 'Calls that are under way go on. Twice is harmless.',
    body: { schema: PAUSING, optional: true, example: { reason: 'the depot moves' } },
    answers: {
      200: {
        description: 'Its state, or that of the Target.',
        schema: z.union([
          z.object({ ...state, alreadyPaused }).meta({ id: 'OperationPaused' }),
          z.object({ ...paused, paused: PAUSE, alreadyPaused }).meta({ id: 'TargetPaused' }),
        ]),
      },
    },
    problems: { 404: `${NO_OPERATION} Or: ${NO_TARGET}` },
  },
  {
    method: 'post',
    path: '/operations/{name}/resume',
    id: 'resumeOperation',
    summary: 'Goes on, whoever paused it',
    body: { schema: RESUMING, optional: true },
    answers: Object.fromEntries(
      [
        [200, 'Nothing was paused.'],
        [202, 'A message ends the pause in a moment.'],
      ].map(([status, description]) => [
        status,
        {
          description,
          schema: z.union([
            z.object({ ...state, resuming }).meta({ id: `Operation${status === 200 ? 'NotPaused' : 'Resuming'}` }),
            z
              .object({ ...paused, paused: PAUSE.optional(), resuming })
              .meta({ id: `Target${status === 200 ? 'NotPaused' : 'Resuming'}` }),
          ]),
        },
      ]),
    ) as Route['answers'],
    problems: { 404: `${NO_OPERATION} Or: ${NO_TARGET}` },
  },
];

const QUEUE_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/queues',
    id: 'listQueues',
    summary: 'Where messages are now',
    answers: {
      200: {
        description: 'As SQS counts, which may be a minute behind.',
        schema: z
          .object({
            queues: list(QUEUE, 'In the order in which a task passes them.'),
            rejected: whole('Refused messages.'),
            givenUp: whole('Events that no destination took for three days, where there are destinations.').optional(),
          })
          .meta({ id: 'QueueList' }),
      },
    },
  },
  {
    method: 'get',
    path: '/dead-letters',
    id: 'listDeadLetters',
    summary: 'How many messages nobody works off',
    answers: {
      200: {
        description: 'As SQS counts.',
        schema: z
          .object({
            queues: list(
              z.object({ queue: LETTER_QUEUE_NAME, messages: whole('About how many.') }),
              'Each with its dead letters.',
            ),
          })
          .meta({ id: 'DeadLetters' }),
      },
    },
  },
  {
    method: 'post',
    path: '/dead-letters/{queue}/redrive',
    id: 'redriveDeadLetters',
    summary: 'Sends them again',
    description: 'For up to ten seconds, or until about 200 were skipped.',
    body: {
      schema: z
        .strictObject({
          dryRun: flag('Count, and do nothing.').optional(),
          cursor: text(
            'The `cursor` of the answer before, for the rest of those that lay there at the first request.',
          ).optional(),
        })
        .meta({ id: 'LetterRedriveRequest' }),
      optional: true,
      example: { dryRun: true },
    },
    answers: {
      200: {
        description: 'A dry run: nothing happened.',
        schema: z.object({ dryRun: onlyTrue('It was one.'), ...lettersRedriven }).meta({ id: 'LetterRedriveDryRun' }),
      },
      202: {
        description: 'They were sent again.',
        schema: z.object({ ...lettersRedriven, cursor: CURSOR }).meta({ id: 'LettersRedriven' }),
      },
    },
    problems: { 404: 'There is no such queue.' },
  },
];

/** GET looks, POST repairs what it finds. */
const examining = (what: Pick<Route, 'path' | 'query' | 'answers'>, name: string, of: string): readonly Route[] => [
  { method: 'get', ...what, id: `examine${name}`, summary: `What is stuck in ${of}` },
  {
    method: 'post',
    ...what,
    id: `repair${name}`,
    summary: `Repairs what is stuck in ${of}`,
    body: { schema: NO_BODY, optional: true },
  },
];

const DOCTOR_ROUTES: readonly Route[] = [
  ...examining(
    {
      path: '/doctor/targets',
      query: { operation, ...paging(100) },
      answers: { 200: { description: 'What was found in a page.', schema: TARGETS_EXAMINED } },
    },
    'Targets',
    'a page of Targets',
  ),
  ...examining(
    {
      path: '/doctor/batches',
      query: { target: { schema: TARGET_ASKED, required: true }, ...paging(100) },
      answers: { 200: { description: 'What was found in a page.', schema: BATCHES_EXAMINED } },
    },
    'Batches',
    "a page of a Target's batches",
  ),
];

export const FLOW_ROUTES: readonly Route[] = [...TARGET_ROUTES, ...OPERATION_ROUTES, ...QUEUE_ROUTES, ...DOCTOR_ROUTES];
