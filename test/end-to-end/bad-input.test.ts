import { setTimeout } from 'node:timers/promises';
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

describe('invalid messages', () => {
  it('are refused with their reasons; valid messages beside them are registered', async () => {
    const good = JSON.stringify({ operation: 'ship', payload: { depot: 'MUC' } });
    const bad: Record<string, RegExp> = {
      'not json': /not JSON/,
      '{"operation":"none","payload":{}}': /unknown.*configured are ship/,
      '{"operation":"ship","payload":{}}': /payload\.depot is missing/,
      '{"operation":"ship","payload":{"depot":"MUC"},"id":"ä/../"}': /id must be a text of 1 to 128/,
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

  it('with an id taken by another task are refused; the first task is unchanged', async () => {
    await sendRaw([JSON.stringify({ operation: 'ship', id: 'taken-twice', payload: { depot: 'MUC', n: 1 } })]);
    await flow.ended(['taken-twice']);
    const [second = ''] = await sendRaw([
      JSON.stringify({ operation: 'ship', id: 'taken-twice', payload: { depot: 'MUC', n: 2 } }),
    ]);
    await eventually(async () =>
      (await flow.rejected()).some(({ messageId, errors }) => messageId === second && errors[0]?.path === 'id'),
    );
    expect(await flow.task('taken-twice')).toMatchObject({ payload: { depot: 'MUC', n: 1 } });
  });
});

describe('code and keywords of other systems', () => {
  const depots = [
    '__proto__',
    'constructor',
    'toString',
    `'; DROP TABLE "Task" --`,
    '"Id"=? OR 1=1',
    '../../etc/passwd',
    '\r\nx-injected: 1\r\n',
    '{{7*7}}<script>alert(1)</script>',
    '\u0000\u001b[2J\u202e',
    '#1#1',
    '~patrol',
    '%2e%2e%2f',
  ];
  const PAYLOAD =
    '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"n":1e400,"n":-0.0,"s":"\\ud800"';
  const RESULT = '{"__proto__":{"polluted":1},"n":12345678901234567890}';

  it('are ordinary ids, values, payloads and results', async () => {
    flow.downstream.behave(({ items }) => ({
      status: 200,
      body: `{"results":[{"id":"__proto__","status":"failed"},{"__proto__":{"id":"${items[0]?.id}","status":"failed"}},${items
        .map(
          ({ id }) =>
            `{"id":${JSON.stringify(id)},"status":"succeeded","result":${RESULT},"__proto__":{"status":"failed"}}`,
        )
        .join(',')}]}`,
    }));
    const names = ['constructor', 'toString', 'hasOwnProperty', 'a:b@c.d_e-f', 'a..', '0'.repeat(128)];
    const ids = depots.map((_, n) => names[n] ?? `odd-${n}`);
    const payloads = depots.map((depot) => `{"depot":${JSON.stringify(depot)},${PAYLOAD}}`);
    const bodies = ids.map((id, n) => `{"operation":"ship","id":"${id}","payload":${payloads[n]}}`);
    await sendRaw(bodies.slice(0, 6));
    await sendRaw(bodies.slice(6));
    const tasks = await flow.ended(ids);
    expect(tasks.map(({ status, target }) => [status, target])).toEqual(
      depots.map((depot) => ['succeeded', `ship/depot=${encodeURIComponent(depot).replaceAll('~', '%7E')}`]),
    );
    for (const [n, depot] of depots.entries()) {
      const { target } = tasks[n] as { target: string };
      const calls = flow.downstream.calls.filter((call) => call.target === target);
      expect([depot, calls.map(({ text }) => text.slice(text.indexOf('"items":')))]).toEqual([
        depot,
        [`"items":[{"id":"${ids[n]}","payload":${payloads[n]}}]}`],
      ]);
      expect(calls[0]?.idempotencyKey).toMatch(/^[\x21-\x7e]+$/);
      const answer = await (await flow.backend.api(`/tasks/${encodeURIComponent(ids[n] ?? '')}`)).text();
      expect(answer).toContain(`"payload":${payloads[n]},"result":${RESULT}`);
    }
    expect('polluted' in {}).toBe(false);
    flow.downstream.behave(() => ({ status: 200 }));
  });
});

describe('messages on the inner queues that no function sent', () => {
  it('start no leader and no batch', async () => {
    const target = 'ship/depot=foreign';
    const [elect, group, batch] = [flow.queue('electQueue'), flow.queue('groupQueue'), flow.queue('batchQueue')];
    const foreign: [string, string][] = [
      [elect, JSON.stringify({ target })],
      [elect, JSON.stringify({ target: `${target}/of=nobody` })],
      [elect, '{"__proto__":{"target":"ship/depot=foreign"}}'],
      [group, JSON.stringify({ target, f: Number.MAX_SAFE_INTEGER, token: 'foreign' })],
      [group, JSON.stringify({ target, f: 2 ** 40, token: 'foreign' })],
      [group, JSON.stringify({ target, f: 2 ** 60, token: 'foreign' })],
      [group, JSON.stringify({ target, f: 1, token: 'x'.repeat(100_000) })],
      [group, JSON.stringify({ target, f: 0, token: 'foreign', hint: true })],
      [batch, JSON.stringify({ b: 'x'.repeat(3_000) })],
      [batch, JSON.stringify({ b: `${target}#9#9` })],
    ];
    for (const [QueueUrl, MessageBody] of foreign)
      await flow.backend.clients.sqs.send(
        new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: '0', MessageBody }] }),
      );
    // The functions need time to handle the messages, and leave no trace to wait for.
    await setTimeout(1_000);
    const ids = await flow.send([{ depot: 'foreign' }]);
    const [task] = await flow.ended(ids);
    expect(task).toMatchObject({ status: 'succeeded', batchId: `${target}#1#1` });
    expect(flow.calls('foreign').map(({ items }) => items.map(({ id }) => id))).toEqual([ids]);
  });
});

describe('duplicates of every message', () => {
  it('add no batch and no call', async () => {
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
