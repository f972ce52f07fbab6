import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './harness.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow();
});
afterAll(() => flow.stop());

const sendRaw = async (bodies: readonly string[]): Promise<string[]> => {
  const { Successful = [] } = await flow.stack.clients.sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: flow.stack.addresses.queues.register,
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
      for (const { messageId, errors, body } of await flow.rejected()) {
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
    const { elect, group, batch } = flow.stack.addresses.queues;
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
      await flow.stack.clients.sqs.send(
        new SendMessageBatchCommand({ QueueUrl: queue, Entries: [{ Id: '0', MessageBody: JSON.stringify(message) }] }),
      );
    const next = await flow.send([{ depot: 'dup', n: 2 }]);
    await flow.ended(next);
    const calls = flow.downstream.calls.filter((call) => call.target === target);
    expect(calls.map(({ items }) => items.map(({ id }) => id))).toEqual([['twice'], next]);
    expect((await flow.task('twice'))?.status).toBe('succeeded');
  });
});

describe('the HTTP API', () => {
  const post = (body: unknown) =>
    fetch(`${flow.stack.addresses.api}/tasks`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('answers 400 with every error, and does nothing', async () => {
    const good = { operation: 'ship', payload: { depot: 'api' }, id: 'not-sent' };
    const response = await post({ tasks: [good, { operation: 'none', payload: [] }, { ...good, id: '-', extra: 1 }] });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    const { errors } = (await response.json()) as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path)).toEqual([
      'tasks[1].payload',
      'tasks[1].operation',
      'tasks[2].id',
      'tasks[2].extra',
    ]);
    expect(await flow.task('not-sent')).toBeUndefined();
  });

  it('refuses bodies that are no tasks', async () => {
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '{"tasks":{}}',
      '{"tasks":[]}',
      '{"tasks":[],"x":1}',
      `{"tasks":[${'{},'.repeat(1_000)}{}]}`,
      '{"tasks":[1,"x",null]}',
    ])
      expect((await post(body)).status, body.slice(0, 40)).toBe(400);
    expect((await post(JSON.stringify({ text: 'x'.repeat(7 * 1_024 * 1_024) }))).status).toBe(413);
  });

  it('answers 404 and 400 in words', async () => {
    const paths = ['/tasks/nobody', '/tasks/%FF', '/batches/none%231%231', `/batches/${'x'.repeat(3_000)}`, '/nothing'];
    for (const path of paths) {
      const response = await fetch(`${flow.stack.addresses.api}${path}`);
      expect([response.status, response.headers.get('content-type')], path).toEqual([404, 'application/problem+json']);
    }
    for (const [method, path] of [
      ['PUT', '/tasks'],
      ['DELETE', '/tasks/x'],
      ['POST', '/batches'],
    ] as const) {
      const response = await fetch(`${flow.stack.addresses.api}${path}`, { method });
      expect([response.status, response.headers.get('content-type')], path).toEqual([405, 'application/problem+json']);
      expect(response.headers.get('allow')).toContain('GET');
    }
    const wrong = [
      '/tasks?target=',
      '/tasks?target=ship&status=odd',
      '/batches',
      '/targets?limit=0',
      '/targets?operation=none',
      '/batches?target=ship/depot=dup&cursor=zzz',
      '/batches?target=ship/depot=dup&cursor=e30',
      '/tasks?target=ship/depot=dup&status=failed&cursor=e30',
      '/tasks?target=ship/depot=dup&cursor=zzz',
      '/targets?cursor=ship.e30',
    ];
    for (const path of wrong) {
      const response = await fetch(`${flow.stack.addresses.api}${path}`);
      expect(response.status, path).toBe(400);
      expect(((await response.json()) as { errors: unknown[] }).errors.length).toBeGreaterThan(0);
    }
  });

  it('finds a batch whose id has every character that an URL could mistake', async () => {
    const depot = 'a/b%2F c#d?e&f~ü+';
    const ids = await flow.send([{ depot }]);
    const [task] = await flow.ended(ids);
    const batch = (await (
      await fetch(`${flow.stack.addresses.api}/batches/${encodeURIComponent(String(task?.batchId))}`)
    ).json()) as object;
    expect(batch).toMatchObject({ id: task?.batchId, members: ids });
    const byTarget = (await (
      await fetch(`${flow.stack.addresses.api}/batches?${new URLSearchParams({ target: String(task?.target) })}`)
    ).json()) as { batches: object[] };
    expect(byTarget.batches).toMatchObject([{ id: task?.batchId, status: 'succeeded', size: 1 }]);
  });

  it('flushes nothing that is no Target', async () => {
    const flush = (target: unknown) =>
      fetch(`${flow.stack.addresses.api}/targets/flush`, { method: 'POST', body: JSON.stringify({ target }) });
    for (const odd of [undefined, 7, '', 'ship/depot=\ud800', `ship/depot=${'é'.repeat(300)}`])
      expect((await flush(odd)).status, String(odd)).toBe(400);
    expect((await flush('ship/depot=nobody-ever')).status).toBe(404);
  });

  it('takes characters beyond the first 65,536, in values and in payloads', async () => {
    const response = await post({ operation: 'ship', payload: { depot: '\u{1f69a}', text: '\u{1f600}' } });
    expect(response.status).toBe(202);
    const [task] = await flow.ended(((await response.json()) as { ids: string[] }).ids);
    expect(task).toMatchObject({
      status: 'succeeded',
      target: 'ship/depot=%F0%9F%9A%9A',
      payload: { text: '\u{1f600}' },
    });
  });

  it('lists Targets page by page', async () => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await (
        await fetch(
          `${flow.stack.addresses.api}/targets?${new URLSearchParams({ limit: '2', ...(cursor ? { cursor } : {}) })}`,
        )
      ).json()) as { targets: { target: string }[]; cursor?: string };
      found.push(...page.targets.map(({ target }) => target));
      cursor = page.cursor;
    } while (cursor);
    expect(found).toContain('ship/depot=MUC');
    expect(new Set(found).size).toBe(found.length);
  });

  it('answers nobody but callers on this machine', async () => {
    const { port } = new URL(flow.stack.addresses.api);
    const { request } = await import('node:http');
    const statusWith = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: '/v1/targets', headers }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on('error', reject)
          .end();
      });
    expect(await statusWith({})).toBe(200);
    expect(await statusWith({ host: `localhost:${port}` })).toBe(200);
    expect(await statusWith({ origin: `http://localhost:${port}` })).toBe(200);
    expect(await statusWith({ host: 'rebound.example' })).toBe(403);
    expect(await statusWith({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusWith({ origin: 'null' })).toBe(403);
  });
});
