/** The queue ports on SQS. */
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import pLimit from 'p-limit';
import { isForOthers, printBatch, printElect, printGroup } from '../domain/batches/messages.ts';
import { printCallback } from '../domain/callbacks/callback.ts';
import type { Millis } from '../domain/ids.ts';
import { printSender, senderOf } from '../domain/producers/sender.ts';
import { printRejection } from '../domain/register/rejection.ts';
import type { PutOff, Returns } from '../ports/callbacks.ts';
import type { Backlogs, DeadLetterQueue, DeadLetters, Queues, SourceQueue } from '../ports/queues.ts';
import { type Outgoing, sendAll } from './sqs.ts';

/** URLs of the queues. A function has only the URLs of the queues that it may use. */
export type QueueUrls = Readonly<Partial<Record<DeadLetterQueue, string>>>;
/** URLs of the dead-letter queues. The URL for `callback` is present only if there are destinations. */
export type DeadLetterUrls = Readonly<Partial<Record<SourceQueue, string>>>;

/** A function used a queue whose URL was not passed to the function by its construct. */
class MissingQueue extends Error {
  override readonly name = 'MissingQueue';
}

const urlOf = (urls: QueueUrls, queue: DeadLetterQueue, what = `the ${queue} queue`): string => {
  const url = urls[queue];
  const when =
    queue === 'callback' || queue === 'given-up' ? ', as it does where the configuration has destinations' : '';
  if (!url) throw new MissingQueue(`no URL of ${what}: the function's construct must pass it${when}`);
  return url;
};

export const sqsQueues = (client: SQSClient, urls: QueueUrls): Queues => {
  const send = async (queue: DeadLetterQueue, messages: readonly Outgoing[], beginsChain = false): Promise<void> => {
    await sendAll(client, urlOf(urls, queue), messages, { beginsChain });
  };
  return {
    register: (bodies, sender) =>
      send(
        'register',
        bodies.map((body) => ({ body, ...(sender ? { attributes: { [SENDER]: printSender(sender) } } : {}) })),
      ),
    elect: (messages) =>
      send(
        'elect',
        messages.map((message) => ({ body: printElect(message) })),
        messages.some(isForOthers),
      ),
    resume: (message, delay) => send('elect', [{ body: printElect(message), delay }], isForOthers(message)),
    grant: (message, delay) => send('elect', [{ body: printElect(message), delay }], isForOthers(message)),
    group: (message, delay, chain) => send('group', [{ body: printGroup(message), delay }], chain === 'new'),
    batch: (message, delay) => send('batch', [{ body: printBatch(message), delay }], isForOthers(message)),
    reject: (rejections) =>
      send(
        'rejected',
        rejections.map((rejection) => ({ body: printRejection(rejection) })),
      ),
    callbacks: (messages) =>
      send(
        'callback',
        messages.map((message) => ({ body: printCallback(message) })),
      ),
    giveUp: (bodies) =>
      send(
        'given-up',
        bodies.map((body) => ({ body })),
      ),
  };
};

/** Name of the message attribute that counts how often a dead letter has been sent again. */
export const REVIVALS = 'GroupageRevivals';

/**
 * Name of the message attribute with the time at which a message was first sent, in epoch milliseconds. A dead letter
 * keeps this attribute when it is sent again.
 */
export const FIRST_SENT_AT = 'GroupageSentAt';

/**
 * Name of the message attribute with the sender for whom a function of Groupage sends a register message. It counts only
 * in messages of these functions (`senderOf`).
 */
export const SENDER = 'GroupageSender';

/**
 * Time at which a message was first sent. A producer may have set the attribute to any value, so the result is never
 * later than the time that SQS reports.
 *
 * @param sentAt time at which SQS accepted this message
 */
export const firstSentAt = (text: string | undefined, sentAt: Millis): Millis =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Math.min(Number(text), sentAt) : sentAt;

/**
 * How often a dead letter has been sent again. A producer may have set the attribute to any value; an invalid count is
 * read as 0.
 */
export const revivalsOf = (text: string | undefined): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;

/** Numbers of visible, in-flight and delayed messages. Their sum is the number of all messages in a queue. */
const COUNTS: readonly QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

/**
 * Reads the counts of a queue.
 * @returns the counts in the order of {@link COUNTS}
 */
const countsOf = async (client: SQSClient, url: string): Promise<readonly number[]> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...COUNTS] }),
  );
  return COUNTS.map((name) => Number(Attributes[name] ?? 0));
};

export const sqsBacklogs = (client: SQSClient, urls: QueueUrls): Backlogs => ({
  of: async (queue) => {
    const [waiting = 0, inFlight = 0, delayed = 0] = await countsOf(client, urlOf(urls, queue));
    return { waiting, inFlight, delayed };
  },
});

/** @param ownRoles the unique ids of the roles that may pass a sender on */
export const sqsDeadLetters = (
  client: SQSClient,
  urls: QueueUrls,
  deadLetterUrls: DeadLetterUrls,
  ownRoles: readonly string[],
): DeadLetters => {
  const where = (queue: DeadLetterQueue): string =>
    queue === 'rejected' || queue === 'given-up'
      ? urlOf(urls, queue)
      : urlOf(deadLetterUrls, queue, `${queue}'s dead-letter queue`);
  return {
    receive: async (queue, hiddenFor) => {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: where(queue),
          MaxNumberOfMessages: 10,
          MessageAttributeNames: [REVIVALS, FIRST_SENT_AT, SENDER],
          MessageSystemAttributeNames: ['SentTimestamp', 'SenderId'],
          // Use a long poll: a short poll asks only some of the SQS servers, and may miss a message that is alone in
          // the queue.
          WaitTimeSeconds: 1,
          ...(hiddenFor === undefined ? {} : { VisibilityTimeout: hiddenFor }),
        }),
      );
      return Messages.map(({ MessageId = '', Body = '', ReceiptHandle = '', Attributes, MessageAttributes }) => {
        const sentAt = Number(Attributes?.SentTimestamp ?? 0);
        return {
          messageId: MessageId,
          body: Body,
          sentAt,
          firstSentAt: firstSentAt(MessageAttributes?.[FIRST_SENT_AT]?.StringValue, sentAt),
          receipt: ReceiptHandle,
          ...(queue === 'register'
            ? { sender: senderOf(Attributes?.SenderId, MessageAttributes?.[SENDER]?.StringValue, ownRoles) }
            : {}),
          revivals: revivalsOf(MessageAttributes?.[REVIVALS]?.StringValue),
        };
      });
    },
    // SQS refuses single entries, such as messages that were deleted meanwhile. The others are released.
    release: async (queue, deadLetters) => {
      const returns = sqsReturns(client, where(queue));
      const requests = Math.ceil(deadLetters.length / ENTRIES);
      const chunks = Array.from({ length: requests }, (_, n) => deadLetters.slice(n * ENTRIES, (n + 1) * ENTRIES));
      await pLimit(RELEASES_AT_ONCE).map(chunks, (chunk) =>
        returns.putOff(chunk.map((each) => ({ ...each, delay: 0 }))),
      );
    },
    redrive: async (queue, { body, revivals, firstSentAt: first, sender }, delay) => {
      const attributes = {
        [REVIVALS]: String(revivals + 1),
        [FIRST_SENT_AT]: String(first),
        ...(sender ? { [SENDER]: printSender(sender) } : {}),
      };
      const [id = ''] = await sendAll(client, urlOf(urls, queue), [{ body, delay, attributes }]);
      return id;
    },
    remove: async (queue, { receipt }) => {
      await client.send(new DeleteMessageCommand({ QueueUrl: where(queue), ReceiptHandle: receipt }));
    },
    count: async (queue) => (await countsOf(client, where(queue))).reduce((sum, each) => sum + each, 0),
  };
};

/** SQS accepts ten messages per request. */
const ENTRIES = 10;
/** How many requests release messages at once: thousands may have been received. */
const RELEASES_AT_ONCE = 10;

/**
 * Sets the delay after which each message is delivered again.
 *
 * @param url of the queue from which the messages were received
 */
export const sqsReturns = (client: SQSClient, url: string): Returns => ({
  putOff: async (messages) => {
    const left: PutOff[] = [];
    for (let from = 0; from < messages.length; from += ENTRIES) {
      const chunk = messages.slice(from, from + ENTRIES);
      const { Failed = [] } = await client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: url,
          Entries: chunk.map(({ receipt, delay }, index) => ({
            Id: String(index),
            ReceiptHandle: receipt,
            VisibilityTimeout: delay,
          })),
        }),
      );
      left.push(...Failed.map(({ Id }) => chunk[Number(Id)] as PutOff));
    }
    return left;
  },
});
