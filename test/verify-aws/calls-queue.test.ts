import { setTimeout } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { CallLog } from '../../tools/verify-aws/loads/call-log.ts';
import { clockOffset, receiveCalls } from '../../tools/verify-aws/loads/calls-queue.ts';
import type { RecordedCall } from '../../tools/verify-aws/loads/recorded-call.ts';

it('a probe of the clock that SQS delivers twice does not hold up the calls', async () => {
  const call: RecordedCall = { batchId: 'b', operation: 'burst', attempt: 1, at: 1, ids: ['burst-1'] };
  let probe = '';
  let waiting: { readonly Body: string; readonly ReceiptHandle: string }[] = [];
  const send = async (command: { readonly input: { readonly MessageBody?: string } }): Promise<object> => {
    const { MessageBody } = command.input;
    if (MessageBody !== undefined) {
      probe = MessageBody;
      return {};
    }
    if (command instanceof DeleteMessageBatchCommand) {
      const deleted = command.input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle);
      waiting = waiting.filter(({ ReceiptHandle }) => !deleted?.includes(ReceiptHandle));
      return {};
    }
    await setTimeout(5);
    return { Messages: waiting.length > 0 ? waiting : [{ Body: probe, ReceiptHandle: 'first' }] };
  };
  const sqs = { send } as unknown as SQSClient;
  await clockOffset(sqs, 'calls', new AbortController().signal);
  waiting = [
    { Body: probe, ReceiptHandle: 'again' },
    { Body: JSON.stringify(call), ReceiptHandle: 'call' },
  ];
  const failures: unknown[] = [];
  const log = new CallLog();
  const polling = receiveCalls(sqs, 'calls', log, (cause) => failures.push(cause));
  await setTimeout(100);
  await polling.stop();
  expect(failures).toEqual([]);
  expect(log.called('burst', [], 0, 0).calls).toBe(1);
  expect(waiting).toEqual([]);
});
