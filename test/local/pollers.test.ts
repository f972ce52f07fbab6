import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { callTime, inInvocation } from '../../src/aws/call-time.ts';
import { localClients } from '../../tools/local/clients.ts';
import { Sleepers, startPollers } from '../../tools/local/pollers.ts';
import { startSqs } from '../../tools/local/sqs-engine.ts';
import { eventually } from '../end-to-end/flow.ts';
import { startLocalFlow } from './flow.ts';

/** More than the five initial pollers can hold, with five batches each. */
const CALLS = 40;

it('a queue is polled during long calls, so that a batch need not wait for a sleeping one', async () => {
  const flow = await startLocalFlow({ batch: { maxSize: 1 }, timeout: '200s', circuit: null });
  const { promise: allAreThere, resolve } = Promise.withResolvers<void>();
  try {
    flow.downstream.behave(async () => {
      await allAreThere;
      return { status: 200 };
    });
    const ids = await flow.send(Array.from({ length: CALLS }, (_, n) => ({ depot: `D${n}` })));
    await eventually(() => flow.downstream.calls.length === CALLS, 120_000);
    resolve();
    await flow.settled(ids, 120_000);
    expect(flow.downstream.calls).toHaveLength(CALLS);
  } finally {
    resolve();
    await flow.stop();
  }
});

/** Pollers of a queue with the given number of messages. They call `handle` for each message. */
const poll = async (
  messages: number,
  source: { concurrency: number; sleepers: Sleepers },
  handle: () => Promise<void>,
) => {
  const engine = await startSqs({ port: 0 });
  const { sqs } = localClients({ sqs: engine.endpoint, patient: true });
  const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'polled' }));
  for (let n = 0; n < messages; n += 1)
    await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: String(n) }));
  const onError = (error: Error): never => {
    throw error;
  };
  const pollers = startPollers({ queueUrl, batchSize: 1, sqs, onError, ...source }, 1, async (received) => {
    await handle();
    return new Set(received);
  });
  return {
    stop: async () => {
      await pollers.stop();
      await engine.stop();
    },
  };
};

it('sleeping messages do not hold up others, whatever the limit of pollers', async () => {
  const sleepers = new Sleepers();
  const begun: number[] = [];
  const polling = await poll(20, { concurrency: 2, sleepers }, async () => {
    begun.push(Date.now());
    await sleepers.sleep(3_000);
  });
  try {
    // Two at a time would take ten rounds of three seconds.
    await eventually(() => begun.length === 20 && sleepers.count === 20, 60_000);
  } finally {
    await polling.stop();
  }
});

it('a poller added while an invocation sleeps does not inherit its deadline', async () => {
  const sleepers = new Sleepers();
  const times: number[] = [];
  const polling = await poll(6, { concurrency: 1, sleepers }, async () => {
    times.push(callTime());
    const timeout = Date.now() + 1_000;
    await inInvocation({ timeLeft: () => timeout - Date.now() }, () => sleepers.sleep(300));
  });
  try {
    await eventually(() => times.length === 6, 60_000);
    expect(new Set(times)).toEqual(new Set([Number.POSITIVE_INFINITY]));
  } finally {
    await polling.stop();
  }
});

it('messages in work never exceed the limit of pollers', async () => {
  let [working, most] = [0, 0];
  let done = 0;
  const polling = await poll(20, { concurrency: 3, sleepers: new Sleepers() }, async () => {
    working += 1;
    most = Math.max(most, working);
    await new Promise((resolve) => setTimeout(resolve, 50));
    working -= 1;
    done += 1;
  });
  try {
    await eventually(() => done === 20, 60_000);
    expect(most).toBe(3);
  } finally {
    await polling.stop();
  }
});
