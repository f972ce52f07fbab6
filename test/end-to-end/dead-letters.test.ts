/** How a person redrives dead letters. The sweep runs each minute, and may send a dead letter first. */
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printBatch, printElect, printGroup } from '../../src/domain/batches/messages.ts';
import type { Token } from '../../src/domain/ids.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import type { DeadLetterQueue, WorkingQueue } from '../../src/ports/queues.ts';
import { batchId, NOW, target } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

const urlOf = (queue: DeadLetterQueue): string => {
  if (queue === 'rejected') return flow.queue('rejectedQueue');
  return queue === 'given-up' ? flow.queue('givenUpQueue') : flow.queue(`${queue}DeadLetters`);
};

const put = async (queue: DeadLetterQueue, bodies: readonly string[]): Promise<void> => {
  for (let from = 0; from < bodies.length; from += 10) {
    const Entries = bodies.slice(from, from + 10).map((MessageBody, n) => ({ Id: String(n), MessageBody }));
    await flow.backend.clients.sqs.send(new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries }));
  }
};

interface Answer {
  readonly dryRun?: boolean;
  readonly redriven: number;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly left: number;
}

const redrive = async (queue: string, body?: unknown): Promise<{ status: number } & Answer> => {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await flow.backend.api(`/dead-letters/${queue}/redrive`, { method: 'POST', ...text });
  return { status: response.status, ...((await response.json()) as Answer) };
};

const counted = async (queue: DeadLetterQueue): Promise<number> => {
  const { queues } = (await flow.get('/dead-letters')) as { queues: { queue: string; messages: number }[] };
  const all = ['register', 'elect', 'group', 'batch', 'callback', 'given-up', 'rejected'];
  expect(queues.map((each) => each.queue)).toEqual(all);
  return queues.find((each) => each.queue === queue)?.messages ?? Number.NaN;
};

const taskIn = (depot: string, fields: object = {}) =>
  JSON.stringify({ operation: 'ship', payload: { depot }, ...fields });

describe('dead letters', () => {
  it('are all sent again at once, and every task is done once', async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `dead-${n}`);
    await put(
      'register',
      ids.map((id) => taskIn('dead', { id })),
    );
    expect((await redrive('register')).status).toBe(202);
    await flow.ended(ids);
    expect(await redrive('register')).toEqual({ status: 202, redriven: 0, skipped: [], left: 0 });
    const called = flow.calls('dead').flatMap(({ items }) => items.map(({ id }) => id));
    expect(called.toSorted()).toEqual(ids.toSorted());
  });

  it('are counted and sent again in each queue; a dry run leaves them in place', async () => {
    const unknown = target(flow.target('unknown'));
    const letters: Record<WorkingQueue, string> = {
      register: taskIn('every', { id: 'every' }),
      elect: printElect({ kind: 'elect', target: unknown }),
      group: printGroup({ target: unknown, fence: 1, token: 'lost' as Token }),
      batch: printBatch({ kind: 'due', batchId: batchId('unknown') }),
    };
    for (const [queue, body] of Object.entries(letters) as [WorkingQueue, string][]) {
      // Repeat if the sweep sent the dead letter first.
      await eventually(async () => {
        await put(queue, [body]);
        await eventually(async () => (await counted(queue)) > 0, 5_000).catch(() => 0);
        const dry = await redrive(queue, { dryRun: true });
        const real = await redrive(queue, {});
        return dry.dryRun && dry.status === 200 && dry.redriven > 0 && real.redriven >= dry.redriven;
      });
      expect(await redrive(queue), queue).toEqual({ status: 202, redriven: 0, skipped: [], left: 0 });
    }
    await flow.ended(['every']);
  });

  it('are listed in every queue, and can be taken out of it', async () => {
    for (const queue of ['register', 'elect', 'group', 'batch', 'callback', 'given-up', 'rejected'] as const) {
      const text = `listed in ${queue}`;
      const rejection = { messageId: 'listed', body: text, problems: [{ path: 'body', reason: 'odd' }], at: NOW };
      // Repeat if the sweep sent the dead letter first.
      const { id } = await eventually(async () => {
        await put(queue, [queue === 'rejected' ? printRejection(rejection) : text]);
        const page = (await flow.get(`/dead-letters/${queue}/messages`)) as {
          messages: { id: string; body: string }[];
        };
        return page.messages.find(({ body }) => body === text);
      });
      const mayDiscard = queue === 'given-up' || queue === 'rejected';
      const [call, body] = mayDiscard ? ['discard', { ids: [id] }] : ['redrive', {}];
      const request = { method: 'POST', body: JSON.stringify(body) };
      // A message that was listed a moment ago may be hidden for another moment.
      await eventually(async () => {
        expect((await flow.backend.api(`/dead-letters/${queue}/${call}`, request)).ok, queue).toBe(true);
        return mayDiscard || (await counted(queue)) === 0;
      });
    }
  });

  it('that no function wrote are moved to the rejected queue', async () => {
    const skipped = await eventually(async () => {
      await put('elect', ['by hand']);
      return (await redrive('elect')).skipped.find(({ reason }) => reason.startsWith('elect queue: not a message'));
    });
    expect(skipped.reason).toMatch(/is in the rejected queue now$/);
    await eventually(async () => (await flow.rejected()).find(({ body }) => body === 'by hand'));
  });
});

describe('rejected messages', () => {
  const problems = [{ path: 'operation', reason: 'is unknown: "ship"; configured are others' }];
  const refused = (body: string, messageId: string) => printRejection({ messageId, body, problems, at: NOW });

  it('that are valid now are registered under their ids; the others stay', async () => {
    const before = await counted('rejected');
    await put('rejected', [
      refused(taskIn('forgiven'), 'forgiven-1'),
      refused(taskIn('forgiven', { id: 'forgiven-2' }), 'm-2'),
      refused('{"operation":"none","payload":{}}', 'm-3'),
      refused('x'.repeat(1_100_000), 'm-4'),
    ]);
    await eventually(async () => (await redrive('rejected', { dryRun: true })).left === before + 4);
    const { skipped } = await redrive('rejected', {});
    await flow.ended(['forgiven-1', 'forgiven-2']);
    const reasons = skipped.map(({ reason }) => reason);
    expect(reasons).toContainEqual(expect.stringMatching(/^it would be rejected again: operation is unknown: "none"/));
    expect(reasons).toContainEqual(expect.stringMatching(/^its body was too large/));
    expect(await counted('rejected')).toBeGreaterThanOrEqual(before + 2);
  });
});

describe('a rejected message whose id is taken', () => {
  it('is sent again once, and rejected again', async () => {
    await flow.backend.api('/tasks', { method: 'POST', body: taskIn('taken', { id: 'taken' }) });
    await flow.ended(['taken']);
    const errors = [{ path: 'id', reason: 'odd' }];
    const body = taskIn('another', { id: 'taken' });
    await put('rejected', [printRejection({ messageId: 'm-5', body, problems: errors, at: NOW })]);
    const { redriven, skipped } = await eventually(async () => {
      const answer = await redrive('rejected');
      return answer.redriven + answer.skipped.length > 0 ? answer : undefined;
    });
    // SQS counts messages only approximately, and the message could come back hundreds of times.
    expect(redriven).toBeLessThan(10);
    const isSaid = skipped.some(({ reason }) => reason.startsWith('it was sent and rejected again: id taken was'));
    // The message may also come back after the request has ended.
    if (!isSaid)
      await eventually(async () =>
        (await flow.rejected()).find((each) => each.body === body && each.messageId !== 'm-5'),
      );
  });
});

describe('the redrive of dead letters', () => {
  it('answers an error to an unknown queue, body or method', async () => {
    expect(await redrive('nothing')).toMatchObject({
      status: 404,
      detail: expect.stringMatching(/the queues are register/),
    });
    expect(await redrive('elect', { dryRun: 1 })).toMatchObject({ status: 400, errors: [{ path: 'dryRun' }] });
    expect(await redrive('elect', { dry: true })).toMatchObject({ status: 400, errors: [{ path: 'dry' }] });
    expect(await redrive('elect', [])).toMatchObject({ status: 400 });
    expect((await flow.backend.api('/dead-letters/elect/redrive')).status).toBe(405);
    expect((await flow.backend.api('/dead-letters', { method: 'POST' })).status).toBe(405);
  });
});
