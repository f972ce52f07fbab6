/** Sending to a real queue engine. */
import { PurgeQueueCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Arrival } from '../../tools/simulate/trace.ts';
import { send } from '../../tools/verify-aws/loads/send.ts';
import { makeResources, type Resources } from '../backends/resources.ts';

const tasks = (count: number): Arrival[] =>
  Array.from({ length: count }, (_, n) => ({ at: n, operation: 'burst', payload: `{"n":${n}}` }));

describe('sending a load', () => {
  let resources: Resources;
  let sqs: SQSClient;
  let queueUrl: string;
  beforeAll(async () => {
    resources = await makeResources();
    sqs = resources.clients.sqs;
    queueUrl = resources.queues.register;
  });
  afterAll(() => resources.stop());
  beforeEach(() => sqs.send(new PurgeQueueCommand({ QueueUrl: queueUrl })));

  const received = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return ids.toSorted();
      ids.push(...Messages.map(({ Body = '' }) => JSON.parse(Body).id as string));
    }
  };

  it('sends each task once, as a register message', async () => {
    const sent = await send(tasks(95), { sqs, queueUrl, mayContinue: () => true });
    expect(await received()).toEqual(sent.map(({ id }) => id).toSorted());
    expect(new Set(sent.map(({ id }) => id)).size).toBe(95);
  });

  it('ends early when it may not go on', async () => {
    let asked = 0;
    const sent = await send(tasks(95), { sqs, queueUrl, mayContinue: () => ++asked < 5 });
    expect(sent.length).toBeLessThan(95);
    expect(await received()).toHaveLength(sent.length);
  });

  it('sends entries again that SQS did not accept', async () => {
    let refusals = 0;
    sqs.middlewareStack.add(
      (next) => async (args) => {
        const { output, response } = await next(args);
        const { Successful = [] } = output as { Successful?: { Id: string }[] };
        if (Successful.length !== 10 || refusals++ > 0) return { output, response };
        return { output: { ...output, Failed: [{ Id: Successful[0]?.Id, Code: 'InternalError' }] }, response };
      },
      { step: 'initialize', name: 'refuses-one' },
    );
    const sent = await send(tasks(20), { sqs, queueUrl, mayContinue: () => true });
    sqs.middlewareStack.remove('refuses-one');
    // The engine had accepted the refused entry, so its message is there twice.
    expect(await received()).toHaveLength(sent.length + 1);
  });

  it('fails with the reason if SQS accepts no task', async () => {
    const missing = `${queueUrl}-missing`;
    await expect(send(tasks(1), { sqs, queueUrl: missing, mayContinue: () => true })).rejects.toThrow(/exist/i);
  });
});
