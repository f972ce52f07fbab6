/** The queue kind against the embedded SQS, and against answers that the embedded SQS never gives. */
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { awsClients } from '../../src/aws/clients.ts';
import type { QueueTarget } from '../../src/domain/config/endpoints.ts';
import { idempotencyKey, traceparentOf } from '../../src/domain/downstream/downstream.ts';
import { queueDownstream } from '../../src/downstreams/queue.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';
import { type AwsBehaviour, awsError, startAwsService } from '../factories/aws-service.ts';
import { aCall, id } from '../factories/factories.ts';

/** A timeout that a busy machine does not reach. */
const at = (name: string): QueueTarget => ({ kind: 'queue', name, timeout: 200_000, deadline: 60_000 });

describe('a queue downstream', () => {
  let engine: SqsEngine;
  let sqs: SQSClient;
  let QueueUrl = '';

  beforeEach(async () => {
    engine = await startSqs({ port: 0 });
    sqs = localClients({ dynamodb: 'http://127.0.0.1:9', sqs: engine.endpoint }).sqs;
    ({ QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'parcels' })));
  });
  afterEach(async () => {
    sqs.destroy();
    await engine.stop();
  });

  const received = async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
    );
    return Messages;
  };

  it.each(['parcels', 'arn:aws:sqs:us-east-1:000000000000:parcels'])(
    'gets a batch in one message, which completes its tasks: %s',
    async (name) => {
      const call = aCall({ items: [{ id: id('a'), payload: '{"n": 1.0, "odd": "\uffff 🚚"}' }] });
      expect(await queueDownstream(at(name), sqs).call(call)).toEqual({ kind: 'all-succeeded' });
      const [message, ...others] = await received();
      expect(others).toEqual([]);
      expect(message?.Body).toContain('{"n": 1.0, "odd": "\\uffff 🚚"}');
      expect(JSON.parse(message?.Body ?? '')).toEqual({
        idempotencyKey: idempotencyKey(call),
        traceparent: traceparentOf(call),
        batchId: call.batchId,
        operation: 'ship',
        target: call.target,
        attempt: 1,
        items: [{ id: 'a', payload: { n: 1, odd: '\uffff 🚚' } }],
      });
      expect(message?.MessageAttributes?.['Idempotency-Key']?.StringValue).toBe(idempotencyKey(call));
      expect(message?.MessageAttributes?.traceparent?.StringValue).toBe(traceparentOf(call));
    },
  );

  it('accepts a batch as large as a configuration allows', async () => {
    const payload = JSON.stringify('x'.repeat(999_000));
    const call = aCall({ items: [{ id: id('a'), payload }] });
    expect(await queueDownstream(at('parcels'), sqs).call(call)).toEqual({ kind: 'all-succeeded' });
    expect((await received())[0]?.Body).toContain(payload);
  });

  it('that does not exist is a wrong configuration, until it exists', async () => {
    const downstream = queueDownstream(at('later'), sqs);
    expect(await downstream.call(aCall())).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(
        /^the queue later could not be called \(QueueDoesNotExist\): check the operation's/,
      ),
      mayRetryAtOnce: false,
    });
    const { QueueUrl: url } = await sqs.send(new CreateQueueCommand({ QueueName: 'later' }));
    expect(await downstream.call(aCall())).toEqual({ kind: 'all-succeeded' });
    await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
    expect(await downstream.call(aCall())).toMatchObject({ reason: expect.stringContaining('QueueDoesNotExist') });
    await sqs.send(new CreateQueueCommand({ QueueName: 'later' }));
    expect(await downstream.call(aCall())).toEqual({ kind: 'all-succeeded' });
  });
});

describe('a queue downstream', () => {
  const answerTo = async (behaviour: AwsBehaviour, target = at('parcels')) => {
    const service = await startAwsService((request, response) =>
      request.operation.endsWith('GetQueueUrl')
        ? { body: { QueueUrl: `${service.options.endpoint}/1/parcels` } }
        : behaviour(request, response),
    );
    const { endpoint, ...rest } = service.options;
    const { sqs } = awsClients({ sqs: endpoint, dynamodb: endpoint, ...rest });
    try {
      return [await queueDownstream(target, sqs).call(aCall()), service.requests] as const;
    } finally {
      sqs.destroy();
      await service.stop();
    }
  };

  it('that denies access is named with what to check', async () => {
    const [answer] = await answerTo(() => awsError(403, 'AccessDeniedException', 'not authorized'));
    expect(answer).toEqual({
      kind: 'unavailable',
      reason:
        "the queue parcels could not be called (AccessDeniedException): check the operation's downstream and the function's permissions",
      quote: 'not authorized',
      mayRetryAtOnce: false,
      misconfigured: true,
    });
  });

  it('that does not answer in time is called again', async () => {
    const [answer] = await answerTo(() => undefined, { ...at('parcels'), timeout: 1_000 });
    expect(answer).toEqual({
      kind: 'unavailable',
      reason: 'no answer from the queue parcels within 1000 ms',
      mayRetryAtOnce: true,
    });
  });
});
