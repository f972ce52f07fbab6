/** Register: SQS messages of producers become waiting tasks. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { registerAll } from '../src/batching/register.ts';
import type { Environment } from '../src/environment.ts';
import { atFirstInvocation, type Host, partsOf, tellFailed } from './compose.ts';
import { listsOf } from './stores.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const deps = {
    ...parts.base,
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    fanOuts: parts.fanOuts(),
    lists: listsOf(environment, host),
    queues: parts.queues(),
  };
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await registerAll(deps, Records, (record, cause) => tellFailed(host.log, record, cause));
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
};

export const handler = atFirstInvocation(compose);
