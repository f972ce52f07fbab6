/** The queue ports on SQS. */
import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { printBatch, printElect, printGroup } from '../batching/messages.ts';
import type { DeadLetters, Queues, Rejection, WorkingQueue } from '../ports.ts';
import { type Outgoing, REQUEST_MAX_BYTES, sendAll, sizeOf } from './sqs.ts';

/** Queue URLs; a λ has those it may use. */
export type QueueUrls = Readonly<Partial<Record<WorkingQueue | 'rejected', string>>>;
export type DeadLetterUrls = Readonly<Record<WorkingQueue, string>>;

/** A λ used a queue that its construct did not give it. */
class MissingQueue extends Error {
  override readonly name = 'MissingQueue';
}

const urlOf = (urls: QueueUrls, queue: WorkingQueue | 'rejected'): string => {
  const url = urls[queue];
  if (!url) throw new MissingQueue(`no URL of the ${queue} queue: the function's construct must pass it`);
  return url;
};

export const sqsQueues = (client: SQSClient, urls: QueueUrls): Queues => {
  const send = async (queue: WorkingQueue | 'rejected', messages: readonly Outgoing[]): Promise<void> => {
    await sendAll(client, urlOf(urls, queue), messages);
  };
  return {
    register: (bodies) =>
      send(
        'register',
        bodies.map((body) => ({ body })),
      ),
    elect: (messages) =>
      send(
        'elect',
        messages.map((message) => ({ body: printElect(message) })),
      ),
    group: (message, delay) => send('group', [{ body: printGroup(message), delay }]),
    batch: (message, delay) => send('batch', [{ body: printBatch(message), delay }]),
    reject: (rejections) =>
      send(
        'rejected',
        rejections.map((rejection) => ({ body: printRejection(rejection) })),
      ),
  };
};

/** As many reasons as anyone reads; each is short. */
const PROBLEMS_SHOWN = 20;

/**
 * What lies in the rejected queue: the reasons, and the body as it came. A body that leaves no room for its reasons is
 * cut, which the message says.
 */
export const printRejection = ({ messageId, body, problems, at }: Rejection): string => {
  const more = problems.length > PROBLEMS_SHOWN ? { errorsInAll: problems.length } : {};
  const envelope = {
    messageId,
    rejectedAt: new Date(at).toISOString(),
    errors: problems.slice(0, PROBLEMS_SHOWN),
    ...more,
  };
  const whole = JSON.stringify({ ...envelope, body });
  if (sizeOf({ body: whole }) <= REQUEST_MAX_BYTES) return whole;
  // An eighth, since JSON may write one character as six.
  const part = body.slice(0, REQUEST_MAX_BYTES / 8);
  return JSON.stringify({ ...envelope, body: part, bodyBytes: Buffer.byteLength(body), bodyIsCut: true });
};

/** How often a message has been sent again travels with it. */
export const REVIVALS = 'GroupageRevivals';

/** A producer may have set the attribute to anything: what is no count counts nothing. */
export const revivalsOf = (text: string | undefined): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;

export const sqsDeadLetters = (client: SQSClient, urls: QueueUrls, deadLetterUrls: DeadLetterUrls): DeadLetters => ({
  receive: async (queue) => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: deadLetterUrls[queue],
        MaxNumberOfMessages: 10,
        MessageAttributeNames: [REVIVALS],
        // A short poll asks only some of the servers and may miss a lonely message.
        WaitTimeSeconds: 1,
      }),
    );
    return Messages.map(({ MessageId = '', Body = '', ReceiptHandle = '', MessageAttributes }) => ({
      messageId: MessageId,
      body: Body,
      receipt: ReceiptHandle,
      revivals: revivalsOf(MessageAttributes?.[REVIVALS]?.StringValue),
    }));
  },
  revive: async (queue, { body, revivals }, delay) => {
    await sendAll(client, urlOf(urls, queue), [{ body, delay, attributes: { [REVIVALS]: String(revivals + 1) } }]);
  },
  remove: async (queue, { receipt }) => {
    await client.send(new DeleteMessageCommand({ QueueUrl: deadLetterUrls[queue], ReceiptHandle: receipt }));
  },
});
