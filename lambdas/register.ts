/** The register function: turns messages of producers into waiting tasks. */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { FIRST_SENT_AT, firstSentAt } from '../src/aws/sqs-queues.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import type { ReceivedMessage } from '../src/domain/register/register-message.ts';
import { registerAll } from '../src/steps/register/register.ts';
import { atFirstInvocation, type Host, partsOf, reportFailed } from './compose.ts';
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
    const failed = await registerAll(deps, Records.map(messageOf), (message, cause) =>
      reportFailed(host.log, message, cause),
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
};

const messageOf = ({
  messageId,
  body,
  eventSourceARN,
  attributes,
  messageAttributes,
}: SQSRecord): ReceivedMessage & Pick<SQSRecord, 'eventSourceARN'> => ({
  messageId,
  body,
  eventSourceARN,
  sentAt: firstSentAt(messageAttributes[FIRST_SENT_AT]?.stringValue, Number(attributes.SentTimestamp)),
});

export const handler = atFirstInvocation(compose);
