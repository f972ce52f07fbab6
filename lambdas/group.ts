/** The group function: a Target's leader claims waiting tasks and seals batches. */

import { parseGroup } from '../src/domain/batches/messages.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import { group } from '../src/steps/lead/group.ts';
import { atFirstInvocation, eachRecord, partsOf } from './compose.ts';
import type { Host } from './host.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const stores = {
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    operations: parts.operations(),
    buckets: parts.buckets(),
    fanOuts: parts.fanOuts(),
  };
  const deps = { ...parts.base, ...stores, queues: parts.queues() };
  return eachRecord(host.log, (body, delivery) => group(deps, parseGroup(body), delivery));
};

export const handler = atFirstInvocation(compose);
