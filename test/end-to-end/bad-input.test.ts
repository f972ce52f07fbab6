import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

const sendRaw = async (bodies: readonly string[]): Promise<string[]> => {
  const { Successful = [] } = await flow.backend.clients.sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: flow.queue('registerQueue'),
      Entries: bodies.map((MessageBody, n) => ({ Id: String(n), MessageBody })),
    }),
  );
  return Successful.toSorted((a, b) => Number(a.Id) - Number(b.Id)).map(({ MessageId = '' }) => MessageId);
};

describe('messages that nobody can mean', () => {
  it('are refused with their reasons, and cost those beside them nothing', async () => {
    const good = JSON.stringify({ operation: 'ship', payload: { depot: 'MUC' } });
    const bad: Record<string, RegExp> = {
      'not json': /not JSON/,
      '{"operation":"none","payload":{}}': /unknown.*configured are ship/,
      '{"operation":"ship","payload":{}}': /payload\.depot is missing/,
      '{"operation":"ship","payload":{"depot":"MUC"},"id":"ä/../"}': /id must have/,
      [JSON.stringify({ operation: 'ship', payload: { depot: 'x'.repeat(2_000) } })]: /at most 512/,
      [JSON.stringify({ operation: 'ship', payload: { depot: 'MUC', text: 'x'.repeat(300_000) } })]: /at most 262144/,
    };
    const sent = await sendRaw([good, ...Object.keys(bad), good]);
    const [first = '', last = ''] = [sent.at(0), sent.at(-1)];
    const tasks = await flow.ended([first, last]);
    expect(tasks.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    const rejected = new Map<string, string>();
    await eventually(async () => {
      // Other test files may have had messages refused too.
      for (const { messageId, errors, body } of (await flow.rejected()).filter((each) =>
        sent.includes(each.messageId),
      )) {
        rejected.set(messageId, errors.map(({ path, reason }) => `${path} ${reason}`).join('; '));
        expect(Object.keys(bad)).toContain(body);
      }
      return rejected.size === Object.keys(bad).length;
    });
    for (const [n, pattern] of Object.values(bad).entries()) expect(rejected.get(sent[n + 1] ?? '')).toMatch(pattern);
  });

  it('that use a taken id for something else are refused; the first task stands', async () => {
    await sendRaw([JSON.stringify({ operation: 'ship', id: 'taken', payload: { depot: 'MUC', n: 1 } })]);
    await flow.ended(['taken']);
    const [second = ''] = await sendRaw([
      JSON.stringify({ operation: 'ship', id: 'taken', payload: { depot: 'MUC', n: 2 } }),
    ]);
    await eventually(async () =>
      (await flow.rejected()).some(({ messageId, errors }) => messageId === second && errors[0]?.path === 'id'),
    );
    expect(await flow.task('taken')).toMatchObject({ payload: { depot: 'MUC', n: 1 } });
  });
});

describe('duplicates of every message', () => {
  it('are harmless: one task, one batch, one call', async () => {
    const body = JSON.stringify({ operation: 'ship', id: 'twice', payload: { depot: 'dup' } });
    await sendRaw([body, body, body]);
    await flow.ended(['twice']);
    await sendRaw([body]);
    const [elect, group, batch] = [flow.queue('electQueue'), flow.queue('groupQueue'), flow.queue('batchQueue')];
    const target = 'ship/depot=dup';
    const again: [string, object][] = [
      [elect, { target }],
      [group, { target, f: 1, token: 'stale' }],
      [group, { target, f: 1, token: 'stale', hint: true }],
      [group, { target, f: 9, token: 'from a restored table' }],
      [batch, { b: `${target}#1#1` }],
      [batch, { b: 'no such batch' }],
    ];
    for (const [queue, message] of [...again, ...again])
      await flow.backend.clients.sqs.send(
        new SendMessageBatchCommand({ QueueUrl: queue, Entries: [{ Id: '0', MessageBody: JSON.stringify(message) }] }),
      );
    const next = await flow.send([{ depot: 'dup', n: 2 }]);
    await flow.ended(next);
    expect(flow.calls('dup').map(({ items }) => items.map(({ id }) => id))).toEqual([['twice'], next]);
    expect((await flow.task('twice'))?.status).toBe('succeeded');
  });
});
