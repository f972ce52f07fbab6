/** Responses of `/queues` and `/dead-letters`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { DeadLetterQueue, SourceQueue } from '../../ports/queues.ts';
import { CURSOR, describeCalls, list, onlyTrue, SKIPPED, whole, word } from '../shared/answer-schemas.ts';
import { LETTER_CALLS, QUEUE_CALLS } from './requests.ts';

const sourceQueue = {
  register: 'messages of producers',
  elect: 'messages that elect a leader for a Target',
  group: 'messages of leaders',
  batch: 'batches to call the downstream with',
  callback: 'events for destinations; only if destinations are configured',
} as const satisfies Record<SourceQueue, string>;
const QUEUE_NAME = word<SourceQueue>('The queue', sourceQueue);
export const LETTER_QUEUE_NAME = word<DeadLetterQueue>('The queue', {
  ...sourceQueue,
  rejected: 'rejected messages',
  'given-up': 'events that could not be delivered for three days; only if destinations are configured',
});

const QUEUE = z
  .object({
    queue: QUEUE_NAME,
    waiting: whole('Messages ready to be received.'),
    inFlight: whole('Messages that a function has received and not yet deleted.'),
    delayed: whole('Delayed messages.'),
    deadLetters: whole("Messages in the queue's dead-letter queue."),
  })
  .check(z.meta({ id: 'Queue', description: 'The approximate numbers of messages of a queue, as SQS counts them.' }));
const QUEUES = z
  .object({
    queues: list(QUEUE, 'The queues, in the order in which a task passes them.'),
    rejected: whole('Messages in the rejected queue.'),
    givenUp: z.optional(
      whole('Events that could not be delivered for three days. Present only if destinations are configured.'),
    ),
  })
  .check(z.meta({ id: 'QueueList' }));

export const DEAD_LETTERS = z
  .object({
    queues: list(
      z.object({ queue: LETTER_QUEUE_NAME, messages: whole('Approximate number of messages.') }),
      'The queues and their dead letters.',
    ),
  })
  .check(z.meta({ id: 'DeadLetters' }));

const deadLettersRedriven = {
  redriven: whole('Messages that were sent again, or would be tried (dry run).'),
  skipped: list(SKIPPED, 'Messages that cannot be sent again, by message id.'),
  left: whole('Approximate number of messages left in the queue.'),
};
const REDRIVE_DRY_RUN = z
  .object({ dryRun: onlyTrue('It was a dry run.'), ...deadLettersRedriven })
  .check(z.meta({ id: 'LetterRedriveDryRun' }));
export const LETTERS_REDRIVEN = z
  .object({ ...deadLettersRedriven, cursor: CURSOR })
  .check(z.meta({ id: 'LettersRedriven' }));

export type Queues = z.infer<typeof QUEUES>;
export type DeadLetters = z.infer<typeof DEAD_LETTERS>;

export const QUEUES_DESCRIBED = [
  ...describeCalls(QUEUE_CALLS, {
    listQueues: {
      summary: 'Counts the messages of each queue',
      answers: { 200: { description: 'The counts of SQS, which may be a minute old.', schema: QUEUES } },
    },
  }),
  ...describeCalls(LETTER_CALLS, {
    listDeadLetters: {
      summary: 'Counts the dead letters of each queue',
      answers: { 200: { description: 'The counts of SQS.', schema: DEAD_LETTERS } },
    },
    redriveDeadLetters: {
      summary: 'Sends dead letters again',
      description: 'Runs for up to ten seconds, or until about 200 messages were skipped.',
      example: { dryRun: true },
      answers: {
        200: { description: 'A dry run: nothing was sent.', schema: REDRIVE_DRY_RUN },
        202: { description: 'Messages were sent again.', schema: LETTERS_REDRIVEN },
      },
      problems: { 404: 'The queue does not exist.' },
    },
  }),
];
