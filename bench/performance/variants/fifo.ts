/** A FIFO queue with the Target as message group: ten messages at once, a group's next ones when these are done. */
import { startSource } from '../event-source.ts';
import { createQueue } from './queues.ts';
import { callByTarget, downstreamOf, tasksIn } from './tasks.ts';
import type { Variant } from './variant.ts';

/** The most that an event source of a FIFO queue gives to a function. It takes no window. */
const MESSAGES = 10;

export const fifo: Variant = {
  name: 'FIFO queue',
  about:
    'an SQS FIFO queue with the Target as message group, and its event source: ten messages at the most and no window; the function calls for each Target among them. Requests to it are dearer, the producers’ too.',
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
