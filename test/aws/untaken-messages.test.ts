/** Messages that SQS does not accept are sent again, and no others: on a real engine, as in `unfinished.test.ts`. */
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { GaveUp } from '../../src/aws/rounds.ts';
import { SqsFailure, sendAll } from '../../src/aws/sqs.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { target } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { throttle } from './overload.ts';
import { failuresOf, numberIn, numberOf, overloaded, resources, SOME, withResources } from './overloaded.ts';

withResources();

describe('a message refused by SQS', () => {
  /** Receives and deletes every message of a queue. */
  const drain = async (queue: WorkingQueue): Promise<{ id: string | undefined; body: string }[]> => {
    const QueueUrl = resources.queues[queue];
    const all: { id: string | undefined; body: string }[] = [];
    for (;;) {
      const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 });
      const { Messages = [] } = await resources.clients.sqs.send(receive);
      if (Messages.length === 0) return all.toSorted((a, b) => numberIn(a.body) - numberIn(b.body));
      all.push(...Messages.map(({ MessageId: id, Body: body = '' }) => ({ id, body })));
    }
  };
  const messages = (count: number) => {
    const { t } = fresh();
    return Array.from({ length: count }, (_, n) => ({ body: JSON.stringify({ id: t(n) }) }));
  };

  it('is sent again alone, and the ids keep their order', async () => {
    const sent = messages(23);
    const times = overloaded(SOME);
    const ids = await sendAll(resources.clients.sqs, resources.queues.register, sent);
    expect(times(() => true)).toEqual(sent.map((_, n) => 1 + failuresOf(n)));
    expect(await drain('register')).toEqual(sent.map(({ body }, n) => ({ id: ids[n], body })));
  });

  it("as the sender's fault is not sent again, and the error says why", async () => {
    const times = overloaded((entry) => {
      if (numberOf(entry) === 2) return { code: 'InvalidMessageContents', isSendersFault: true };
      return numberOf(entry) === 1 ? { code: 'ServiceUnavailable' } : undefined;
    });
    const sending = sendAll(resources.clients.sqs, resources.queues.elect, messages(4));
    await expect(sending).rejects.toThrow(SqsFailure);
    await expect(sending).rejects.toMatchObject({
      code: 'InvalidMessageContents',
      message: 'SQS: said to be InvalidMessageContents (InvalidMessageContents)',
    });
    expect(times(() => true)).toEqual([1, 1, 1, 1]);
  });

  it('is given up after eight rounds, and the error says why', async () => {
    const sent = messages(3);
    const times = overloaded((entry) => (numberOf(entry) === 2 ? { code: 'ServiceUnavailable' } : undefined));
    const error = await sendAll(resources.clients.sqs, resources.queues.group, sent).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(GaveUp);
    expect((error as GaveUp).message).toBe(
      '1 of 3 not done after 8 rounds: SQS: said to be ServiceUnavailable (ServiceUnavailable); try again later',
    );
    expect((error as GaveUp).cause).toMatchObject({ name: 'SqsFailure', code: 'ServiceUnavailable' });
    expect(times(() => true)).toEqual([1, 1, 8]);
    expect((await drain('group')).map(({ body }) => body)).toEqual(sent.slice(0, 2).map(({ body }) => body));
  });

  it('with its whole request throttled is sent again', async () => {
    throttle(resources.clients, 2);
    const targets = [1, 2].map((n) => ({ target: target(`ship/depot=r0-${n}`) }));
    await sendAll(
      resources.clients.sqs,
      resources.queues.batch,
      targets.map((each) => ({ body: JSON.stringify(each) })),
    );
    expect(await drain('batch')).toHaveLength(2);
  });
});
