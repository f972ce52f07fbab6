/** The elect function: finds a leader for a Target with waiting tasks. */

import { parseElect } from '../src/domain/batches/messages.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import type { BatchId } from '../src/domain/ids.ts';
import { electLeader } from '../src/steps/lead/elect-leader.ts';
import { atFirstInvocation, eachRecord, partsOf } from './compose.ts';
import type { Host } from './host.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const deps = {
    ...parts.base,
    waiting: parts.waiting(),
    locks: parts.locks(),
    operations: parts.operations(),
    buckets: parts.buckets(),
    // Without limits, the function has no access to batches.
    batches: { get: (id: BatchId) => parts.batches().get(id) },
    queues: parts.queues(),
  };
  return eachRecord(host.log, (body, delivery) => electLeader(deps, parseElect(body), delivery));
};

export const handler = atFirstInvocation(compose);
