/** Receives the messages of the downstream function, and compares this machine's clock with that of AWS. */
import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Millis } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';
import { CommandFailure } from '../../failure.ts';
import { span } from '../../simulate/figures.ts';
import { type Polling, startPolling } from '../polling.ts';
import type { CallLog } from './call-log.ts';
import type { RecordedCall } from './recorded-call.ts';

const POLLERS = 4;
/** Duration of a long poll, in seconds. */
const POLL = 5;
const PROBES = 5;
const PROBE_PATIENCE: Millis = 2 * MINUTE;
const PROBE = 'probe';

/** Polls the queue until it is stopped. */
export const receiveCalls = (
  sqs: SQSClient,
  QueueUrl: string,
  log: CallLog,
  onFailure: (cause: unknown) => void,
): Polling => {
  const poll = async (): Promise<void> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: POLL }),
    );
    if (Messages.length === 0) return;
    // SQS may deliver a probe again.
    for (const { Body = '' } of Messages) if (Body !== PROBE) log.record(JSON.parse(Body) as RecordedCall);
    await sqs.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
  };
  return startPolling({ pollers: POLLERS, poll, onFailure });
};

/**
 * How far the clock of AWS is ahead of this machine's, in ms. A message is sent, and the time at which SQS accepted it
 * is compared with the middle of the request (Cristian's algorithm, 1989): of several messages, the one with the
 * shortest request counts, and the error is at most half of that request.
 *
 * @throws CommandFailure if a message does not arrive, or the run is interrupted
 */
export const clockOffset = async (sqs: SQSClient, QueueUrl: string, interrupted: AbortSignal): Promise<Millis> => {
  let best = { took: Number.POSITIVE_INFINITY, offset: 0 };
  for (let probe = 0; probe < PROBES; probe += 1) {
    const before = Date.now();
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: PROBE }));
    const after = Date.now();
    const acceptedAt = await receiveProbe(sqs, QueueUrl, interrupted);
    if (after - before < best.took) best = { took: after - before, offset: acceptedAt - (before + after) / 2 };
  }
  return Math.round(best.offset);
};

const receiveProbe = async (sqs: SQSClient, QueueUrl: string, interrupted: AbortSignal): Promise<Millis> => {
  const until = Date.now() + PROBE_PATIENCE;
  for (;;) {
    if (interrupted.aborted) throw new CommandFailure('the run was interrupted');
    if (Date.now() > until)
      throw new CommandFailure(`${QueueUrl} did not return a message within ${span(PROBE_PATIENCE)}`);
    const { Messages: [message] = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: POLL, MessageSystemAttributeNames: ['SentTimestamp'] }),
    );
    if (message === undefined) continue;
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    return Number(message.Attributes?.SentTimestamp);
  }
};
