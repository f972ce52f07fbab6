import { setTimeout } from 'node:timers/promises';
import type { Context, SQSEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { eachRecord } from '../../lambdas/compose.ts';

const context = { getRemainingTimeInMillis: () => 20_000 } as Context;
const event = (...bodies: string[]): SQSEvent =>
  ({
    Records: bodies.map((body) => ({ ...record, messageId: body, body })),
  }) as unknown as SQSEvent;
const record = {
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-test-1:1:Elect',
  attributes: { ApproximateReceiveCount: '1' },
  messageAttributes: {},
};

/** Bodies give the time that a message takes, and whether it fails: `50-fail`. */
const setUp = () => {
  const logged: string[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (_: string, fields: object) => logged.push(JSON.stringify(fields)),
  };
  const handler = eachRecord(log, async (body) => {
    await setTimeout(Number.parseInt(body, 10));
    if (body.includes('fail')) throw new Error('no luck');
  });
  return { handler, logged };
};

it('a failed message comes back alone, and its cause is logged', async () => {
  const { handler, logged } = setUp();
  expect(await handler(event('1-a', '1-fail', '1-b'), context)).toEqual({
    batchItemFailures: [{ itemIdentifier: '1-fail' }],
  });
  expect(logged).toEqual([JSON.stringify({ queue: 'Elect', messageId: '1-fail', cause: 'Error: no luck' })]);
});

it('a step gets the count of deliveries, including those before a redrive', async () => {
  const seen: number[] = [];
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const handler = eachRecord(log, async (_, { deliveries }) => void seen.push(deliveries));
  const revived = { GroupageRevivals: { stringValue: '2', dataType: 'String' } };
  const Records = [
    { ...record, messageId: 'a' },
    { ...record, messageId: 'b', attributes: { ApproximateReceiveCount: '3' } },
    { ...record, messageId: 'c', messageAttributes: revived },
  ];
  await handler({ Records } as unknown as SQSEvent, context);
  expect(seen).toEqual([1, 3, 3]);
});

it('messages that all fail all come back', async () => {
  const { batchItemFailures } = await setUp().handler(event('1-fail', '2-fail'), context);
  expect(batchItemFailures).toHaveLength(2);
});

it('overlapping events keep their failures apart', async () => {
  const { handler } = setUp();
  const slow = handler(event('1-fail', '120-a'), context);
  await setTimeout(40);
  const [first, second] = await Promise.all([slow, handler(event('1-b', '20-fail'), context)]);
  expect(first).toEqual({ batchItemFailures: [{ itemIdentifier: '1-fail' }] });
  expect(second).toEqual({ batchItemFailures: [{ itemIdentifier: '20-fail' }] });
});
