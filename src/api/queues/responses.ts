/** Responses of `/queues` and `/dead-letters`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { DeadLetterQueue, SourceQueue } from '../../ports/queues.ts';
import { CURSOR, describeCalls, list, onlyTrue, SKIPPED, whole, word } from '../shared/answer-schemas.ts';
import { LETTER_CALLS, QUEUE_CALLS } from './requests.ts';

const sourceQueue = {
  register: 'from producers',
  elect: 'between the functions',
  group: 'between the functions',
  batch: 'batches to be called about',
  callback: 'events for destinations, where there are any',
} as const satisfies Record<SourceQueue, string>;
const QUEUE_NAME = word<SourceQueue>('Which', sourceQueue);
const LETTER_QUEUE_NAME = word<DeadLetterQueue>('Which', {
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
  .check(z.meta({ id: 'Queue', description: 'About how many messages are where, as SQS counts.' }));
const QUEUES = z
  .object({
    queues: list(QUEUE, 'In the order in which a task passes them.'),
    rejected: whole('Refused messages.'),
    givenUp: z.optional(whole('Events that no destination took for three days, where there are destinations.')),
  })
  .check(z.meta({ id: 'QueueList' }));

export const DEAD_LETTERS = z
  .object({
    queues: list(
      z.object({ queue: LETTER_QUEUE_NAME, messages: whole('About how many.') }),
      'Each with its dead letters.',
    ),
  })
  .check(z.meta({ id: 'DeadLetters' }));

const deadLettersRedriven = {
  redriven: whole('How many were sent again; or would be looked at.'),
  skipped: list(SKIPPED, 'Those that cannot be sent; `id` is a message’s.'),
  left: whole('About how many lie there afterwards.'),
};
const REDRIVE_DRY_RUN = z
  .object({ dryRun: onlyTrue('It was one.'), ...deadLettersRedriven })
  .check(z.meta({ id: 'LetterRedriveDryRun' }));
export const LETTERS_REDRIVEN = z
  .object({ ...deadLettersRedriven, cursor: CURSOR })
  .check(z.meta({ id: 'LettersRedriven' }));

export type Queues = z.infer<typeof QUEUES>;
export type DeadLetters = z.infer<typeof DEAD_LETTERS>;

export const QUEUES_DESCRIBED = [
  ...describeCalls(QUEUE_CALLS, {
    listQueues: {
      summary: 'Where messages are now',
      answers: { 200: { description: 'As SQS counts, which may be a minute behind.', schema: QUEUES } },
    },
  }),
  ...describeCalls(LETTER_CALLS, {
    listDeadLetters: {
      summary: 'How many messages nobody works off',
      answers: { 200: { description: 'As SQS counts.', schema: DEAD_LETTERS } },
    },
    redriveDeadLetters: {
      summary: 'Sends them again',
      description: 'For up to ten seconds, or until about 200 were skipped.',
      example: { dryRun: true },
      answers: {
        200: { description: 'A dry run: nothing happened.', schema: REDRIVE_DRY_RUN },
        202: { description: 'They were sent again.', schema: LETTERS_REDRIVEN },
      },
      problems: { 404: 'There is no such queue.' },
    },
  }),
];
