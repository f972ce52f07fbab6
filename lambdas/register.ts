/** The register function: turns messages of producers into waiting tasks. */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { FIRST_SENT_AT, firstSentAt, SENDER } from '../src/aws/sqs-queues.ts';
import type { Environment } from '../src/domain/deployed/environment.ts';
import { senderOf } from '../src/domain/producers/sender.ts';
import type { ReceivedMessage } from '../src/domain/register/register-message.ts';
import { rememberedItemKeys } from '../src/steps/fan-outs/item-keys.ts';
import { decidedMode } from '../src/steps/producers/mode.ts';
import { registerAll } from '../src/steps/register/register.ts';
import { atFirstInvocation, ownRolesIn, partsOf, reportFailed } from './compose.ts';
import type { Host } from './host.ts';
import { listsOf } from './stores.ts';

export const compose = (environment: Environment, host: Host) => {
  const parts = partsOf(environment, host);
  const fanOuts = parts.fanOuts();
  const deps = {
    ...parts.base,
    tasks: parts.tasks(),
    waiting: parts.waiting(),
    locks: parts.locks(),
    batches: parts.batches(),
    fanOuts,
    lists: listsOf(environment, host),
    queues: parts.queues(),
    powers: {
      producers: parts.producers,
      mode: decidedMode(parts.base.config, parts.stage(), parts.base.report),
      itemKeys: rememberedItemKeys(fanOuts),
    },
  };
  const ownRoles = ownRolesIn(environment);
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = await registerAll(deps, Records.map(messageOf(ownRoles)), (message, cause) =>
      reportFailed(host.log, message, cause),
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
};

const messageOf =
  (ownRoles: readonly string[]) =>
  ({
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
    sender: senderOf(attributes.SenderId, messageAttributes[SENDER]?.stringValue, ownRoles),
  });

export const handler = atFirstInvocation(compose);
