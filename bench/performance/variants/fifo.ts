/**
 * A FIFO queue with the Target as message group. At most ten messages are received at once, and the next messages of
 * their groups only after these ten are deleted.
 */
import { startSource } from '../event-source.ts';
import { createQueue } from './queues.ts';
import { callByTarget, downstreamOf, tasksIn } from './tasks.ts';
import type { Variant } from './variant.ts';

/** The largest batch of a FIFO event source, which has no batch window. */
const MESSAGES = 10;

export const fifo: Variant = {
  name: 'FIFO queue',
  about:
    'an SQS FIFO queue with the Target as message group, and batches of at most ten. The function calls once for each Target among them.',
  fifo: true,
  start: async (site) => {
    const queueUrl = await createQueue(site, 'tasks.fifo', { FifoQueue: 'true' });
    const downstream = downstreamOf(site);
    const source = startSource(site, {
      name: 'call',
      queueUrl,
      batchSize: MESSAGES,
      handle: (messages) => callByTarget(downstream, tasksIn(site, messages), site.load.maxSize),
    });
    return { queueUrl, queues: [queueUrl], stop: () => source.stop() };
  },
};
