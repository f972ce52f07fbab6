/** What the steps of deferred lists are given. Each takes only what it names. */

import type { Lists } from '../../ports/lists.ts';
import type { Queues } from '../../ports/queues.ts';
import type { FanOutDeps } from '../fan-outs/deps.ts';

export interface ListDeps extends FanOutDeps {
  readonly lists: Lists;
  readonly queues: Pick<Queues, 'callbacks' | 'register'>;
}
