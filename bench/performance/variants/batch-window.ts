/** SQS → Lambda with the event source's batch window. The event source ignores Targets; the function groups by Target. */
import { startSource } from '../event-source.ts';
import { createQueue } from './queues.ts';
import { callByTarget, downstreamOf, tasksIn } from './tasks.ts';
import type { Variant } from './variant.ts';

/** The most messages that an event source of a standard queue gathers. */
const MESSAGES = 10_000;

export const batchWindow: Variant = {
  name: 'batch window',
  about:
    'an SQS event source that gathers up to 10,000 messages or 6 MB for `maxWait`. The function calls once for each Target among them. Each of the five pollers gathers separately.',
  start: async (site) => {
    const queueUrl = await createQueue(site, 'tasks');
    const downstream = downstreamOf(site);
    const { maxSize, maxWait } = site.load;
    const source = startSource(site, {
      name: 'call',
      queueUrl,
      batchSize: MESSAGES,
      window: maxWait,
      handle: (messages) => callByTarget(downstream, tasksIn(site, messages), maxSize),
    });
    return { queueUrl, queues: [queueUrl], stop: () => source.stop() };
  },
};
