/** Elect: a Target with waiting tasks gets a leader. */
import { electLeader } from '../src/batching/elect-leader.ts';
import { parseElect } from '../src/batching/messages.ts';
import type { Environment } from '../src/environment.ts';
import { atFirstInvocation, eachRecord, type Host, partsOf } from './compose.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const deps = {
    ...parts.base,
    waiting: parts.waiting(),
    locks: parts.locks(),
    operations: parts.operations(),
    queues: parts.queues(),
  };
  return eachRecord(host.log, (body) => electLeader(deps, parseElect(body)));
};

export const handler = atFirstInvocation(compose);
