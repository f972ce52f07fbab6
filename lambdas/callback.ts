/** The callback function: sends events to their destinations. */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { dynamoDBShares } from '../src/aws/dynamodb-shares.ts';
import { sqsReturns } from '../src/aws/sqs-queues.ts';
import { placed } from '../src/domain/config/endpoints.ts';
import { type Environment, optionalSetting, setting } from '../src/domain/deployed/environment.ts';
import { deliverAll } from '../src/steps/deliver/deliver.ts';
import { type Sharing, sharing } from '../src/steps/deliver/sharing.ts';
import { atFirstInvocation, partsOf, reportFailed } from './compose.ts';
import { waysTo } from './destinations.ts';
import type { Host } from './host.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const { config, machine } = parts.base;
  const { dynamodb, sqs } = host.clients;
  const destinations = placed(config.destinations, optionalSetting(environment, 'destinations'));
  let share: Sharing | undefined;
  const deps = {
    ...parts.base,
    config: { ...config, destinations },
    queues: parts.queues(),
    returns: sqsReturns(sqs, setting(environment, 'callbackQueue')),
    // Read on demand: only HTTP destinations have a share, and without an HTTP destination the function has no table.
    get sharing(): Sharing {
      share ??= sharing(parts.base, dynamoDBShares(dynamodb, setting(environment, 'batchLockTable')));
      return share;
    },
    stack: setting(environment, 'stack'),
    wayTo: waysTo(environment, host, machine),
  };
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await deliverAll(deps, Records.map(received), ({ record }, cause) =>
      reportFailed(host.log, record, cause),
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
};

const received = (record: SQSRecord) => ({
  messageId: record.messageId,
  body: record.body,
  receipt: record.receiptHandle,
  receives: Number(record.attributes.ApproximateReceiveCount),
  record,
});

export const handler = atFirstInvocation(compose);
