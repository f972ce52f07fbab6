/**
 * The thread of a local SQS that receives from FIFO queues as AWS does. In fauxqs, a receive takes at most one message
 * of each group. In SQS, a receive takes as many messages of one group as there are, then messages of the next group. A
 * group stays blocked until all its messages that were received are deleted.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */

interface FifoQueue {
  /** The number of messages in flight, by group. */
  readonly fifoLockedGroups: Map<string, number>;
  dequeueFifo(most: number, ...rest: unknown[]): readonly unknown[];
}

/**
 * The package exports neither this class nor the classes in `tools/local/sqs-server.ts`, so it is imported from its
 * file.
 */
const file = new URL('./sqs/sqsStore.js', import.meta.resolve('fauxqs')).href;
const { prototype } = ((await import(file)) as { readonly SqsQueue: { readonly prototype: FifoQueue } }).SqsQueue;
const receiveOne = prototype.dequeueFifo;
prototype.dequeueFifo = function (most, ...rest) {
  const before = new Map(this.fifoLockedGroups);
  const received: unknown[] = [];
  const taken = new Map<string, number>();
  while (received.length < Math.min(most, 10)) {
    const [message] = receiveOne.call(this, 1, ...rest);
    if (message === undefined) break;
    received.push(message);
    // During this receive, the group of this message is not blocked yet.
    for (const [group, count] of this.fifoLockedGroups)
      if (!before.has(group)) {
        taken.set(group, (taken.get(group) ?? 0) + count);
        this.fifoLockedGroups.delete(group);
      }
  }
  for (const [group, count] of taken) this.fifoLockedGroups.set(group, count);
  return received;
};

await import('../../tools/local/sqs-thread.ts');
