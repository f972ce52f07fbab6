/** SQS → Lambda with a call for each message. */
import { startSource } from '../event-source.ts';
import { createQueue } from './queues.ts';
import { call, downstreamOf, tasksIn } from './tasks.ts';
import type { Variant } from './variant.ts';

export const oneCall: Variant = {
  name: 'one call per task',
  about: 'an SQS event source with batches of ten, whose messages are called in parallel.',
  start: async (site) => {
    const queueUrl = await createQueue(site, 'tasks');
    const downstream = downstreamOf(site);
    const source = startSource(site, {
      name: 'call',
      queueUrl,
      batchSize: 10,
      handle: async (messages) =>
        (await Promise.all(tasksIn(site, messages).map((task) => call(downstream, [task])))).flat(),
    });
    return { queueUrl, queues: [queueUrl], stop: () => source.stop() };
  },
};
