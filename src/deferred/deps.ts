/** What the steps of deferred lists are given. Each takes only what it names. */
import type { FanOutDeps } from '../fan-out/deps.ts';
import type { Queues } from '../ports.ts';
import type { Lists } from './store.ts';

export interface ListDeps extends FanOutDeps {
  readonly lists: Lists;
  readonly queues: Pick<Queues, 'callbacks' | 'register'>;
}
