/** The batch handler: sends a sealed batch to the downstream and writes a result for each task. */

import { parseBatch } from '../src/domain/batches/messages.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import { handleBatch } from '../src/steps/call/handle-batch.ts';
import { atFirstInvocation, eachRecord, partsOf } from './compose.ts';
import { downstreamsOf } from './downstreams.ts';
import type { Host } from './host.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const { config, machine, report } = parts.base;
  const merging = { processed: parts.processed(), machine, report };
  const downstreamOf = downstreamsOf(config, environment, host, merging);
  const deps = {
    ...parts.base,
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    operations: parts.operations(),
    buckets: parts.buckets(),
    fanOuts: parts.fanOuts(),
    queues: parts.queues(),
    downstreamOf,
  };
  return eachRecord(host.log, (body, delivery) => handleBatch(deps, parseBatch(body), delivery));
};

export const handler = atFirstInvocation(compose);
