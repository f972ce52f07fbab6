/** Responses of `/queues` and `/dead-letters`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { DeadLetterQueue, SourceQueue } from '../../ports/queues.ts';
import {
  CURSOR,
  describeCalls,
  list,
  moment,
  onlyTrue,
  PROBLEM_PLACE,
  SKIPPED,
  text,
  whole,
  word,
} from '../shared/answer-schemas.ts';
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

export const LETTER_MESSAGE = z
  .object({
    id: text('The id of the message in this queue. A redrive and a discard take it.'),
    reasons: list(PROBLEM_PLACE, 'Why the message was rejected, at most twenty reasons. Empty in other queues.'),
    reasonsInAll: z.optional(whole('The number of all reasons, if there are more than are listed.')),
    messageId: z.optional(text('Of a rejected message: the SQS id of the message as it was sent.')),
    operation: z.optional(text('The operation that the body names.')),
    taskId: z.optional(text('The task id that the body names.')),
    destination: z.optional(text('Of an event: the destination.')),
    sender: z.optional(
      text('Who sent a register message: `queue:` or `api:`, and the unique id of a role or user. Missing if unknown.'),
    ),
    sentAt: moment('When the message was first sent, as far as it is known.'),
    since: moment('Since when the message is in this queue. Of a dead letter: when it was sent.'),
    body: text('The body as it was sent; at most 10,000 bytes.'),
    bodyIsCut: z.optional(onlyTrue('`body` is only the beginning.')),
    bodyBytes: z.optional(whole('With `bodyIsCut`: the number of bytes of the whole body.')),
    wouldStay: z.optional(
      text('Why a redrive would leave the message in the queue now. Missing if the message would be sent again.'),
    ),
  })
  .check(z.meta({ id: 'LetterMessage', description: 'A message that was rejected, given up, or received too often.' }));
const LETTER_MESSAGES = z
  .object({
    queue: LETTER_QUEUE_NAME,
    messages: list(LETTER_MESSAGE, 'The messages, the oldest first.'),
    count: whole('Approximate number of messages in the queue, including those that this list lacks.'),
    note: z.optional(text('Which messages this list lacks, and when they can be seen.')),
  })
  .check(z.meta({ id: 'LetterMessageList' }));

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

const discarded = {
  discarded: whole('Messages that were deleted, or would be deleted (dry run).'),
  skipped: list(SKIPPED, 'Messages that were not deleted, by message id.'),
  left: whole('Approximate number of messages left in the queue.'),
};
const DISCARD_DRY_RUN = z
  .object({ dryRun: onlyTrue('It was a dry run.'), ...discarded })
  .check(z.meta({ id: 'LetterDiscardDryRun' }));
export const LETTERS_DISCARDED = z.object({ ...discarded, cursor: CURSOR }).check(z.meta({ id: 'LettersDiscarded' }));

export type LetterMessage = z.infer<typeof LETTER_MESSAGE>;
export type LetterMessages = z.infer<typeof LETTER_MESSAGES>;
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
    listDeadLetterMessages: {
      summary: 'Lists messages of a queue, with their bodies',
      description:
        'SQS cannot read a message without receiving it. The call hides the messages from other readers while it runs, usually for less than a second, and for at most five. So the list lacks messages that another reader has received. It deletes and moves none.',
      answers: { 200: { description: 'Some messages, the oldest first.', schema: LETTER_MESSAGES } },
      problems: { 404: 'The queue does not exist.' },
    },
    redriveDeadLetters: {
      summary: 'Sends dead letters again',
      description:
        'Runs for up to ten seconds, or until about 200 messages were skipped. A message that was skipped is visible again at once, unless the answer has a `cursor`: then for up to 30 seconds it is hidden from all readers.',
      example: { dryRun: true },
      answers: {
        200: { description: 'A dry run: nothing was sent.', schema: REDRIVE_DRY_RUN },
        202: { description: 'Messages were sent again.', schema: LETTERS_REDRIVEN },
      },
      problems: { 404: 'The queue does not exist.', 409: '`ids`, in another queue than `rejected` or `given-up`.' },
    },
    discardDeadLetters: {
      summary: 'Deletes rejected messages or given-up events',
      description:
        'Runs for up to ten seconds. A deleted message cannot be restored, and its task is never registered. A repeat deletes nothing twice: an id that is not found is skipped.',
      example: { ids: ['0b5e4f6a-1c2d-4e3f-8a9b-0c1d2e3f4a5b'], dryRun: true },
      answers: {
        200: { description: 'A dry run: nothing was deleted.', schema: DISCARD_DRY_RUN },
        202: { description: 'Messages were deleted.', schema: LETTERS_DISCARDED },
      },
      problems: {
        404: 'The queue does not exist.',
        409: 'Another queue than `rejected` or `given-up`: the loss of such a message could leave a Target stuck.',
      },
    },
  }),
];
