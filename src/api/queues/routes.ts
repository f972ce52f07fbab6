/** `/v1/queues`: the numbers of messages in each queue. They come from SQS attributes; no table is read. */
import type { Hono } from 'hono';
import { hasDestinations } from '../../domain/callbacks/callback.ts';
import { sourceQueues } from '../../steps/repair/dead-letters.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { QUEUE_CALLS } from './requests.ts';
import type { Queues } from './responses.ts';

export const queueRoutes = (deps: ApiDeps): Hono =>
  serve(deps, QUEUE_CALLS, {
    listQueues: async ({ context }) => {
      const { config, backlogs, deadLetters } = deps;
      const [rejected, givenUp, ...queues] = await Promise.all([
        deadLetters.count('rejected'),
        hasDestinations(config) ? deadLetters.count('given-up') : undefined,
        ...sourceQueues(config).map(async (queue) => {
          const [backlog, letters] = await Promise.all([backlogs.of(queue), deadLetters.count(queue)]);
          return { queue, ...backlog, deadLetters: letters };
        }),
      ]);
      return context.json({ queues, rejected, ...(givenUp === undefined ? {} : { givenUp }) } satisfies Queues);
    },
  });
