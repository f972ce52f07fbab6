/**
 * The thread of a local SQS that receives from FIFO queues as AWS does. A receive of fauxqs takes one message of each
 * group. SQS takes as many of one group as there are, then of the next, and the group is blocked until all of them are
 * deleted.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
 */

interface FifoQueue {
  /** Number of messages in flight, by group. */
  readonly fifoLockedGroups: Map<string, number>;
  dequeueFifo(most: number, ...rest: unknown[]): readonly unknown[];
}

/** Its class is not exported by the package, like the classes in `tools/local/sqs-server.ts`. */
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
    // The group of this message is not yet blocked for the rest of this receive.
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
