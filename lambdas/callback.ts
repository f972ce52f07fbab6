/** Callback: events go to their destinations. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deliverAll } from '../src/callbacks/deliver.ts';
import { placed } from '../src/callbacks/places.ts';
import { type Environment, optionalSetting, setting } from '../src/environment.ts';
import { atFirstInvocation, type Host, partsOf, tellFailed } from './compose.ts';
import { waysTo } from './destinations.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const { config } = parts.base;
  const destinations = placed(config.destinations, optionalSetting(environment, 'destinations'));
  const deps = {
    ...parts.base,
    config: { ...config, destinations },
    queues: parts.queues(),
    stack: setting(environment, 'stack'),
    wayTo: waysTo(environment, host, parts.base.machine),
  };
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await deliverAll(deps, Records, (record, cause) => tellFailed(host.log, record, cause));
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
};

export const handler = atFirstInvocation(compose);
