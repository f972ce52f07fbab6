import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

describe('the HTTP API', () => {
  const post = (body: unknown) =>
    flow.backend.api('/tasks', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('answers 400 with every error, and registers no task, if one task is invalid', async () => {
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

  it('serves its OpenAPI document, which names the URL of the API', async () => {
    const { openapi, servers, paths } = (await flow.get('/openapi.json')) as {
      openapi: string;
      servers: { url: string }[];
      paths: Record<string, unknown>;
    };
    expect([openapi, servers]).toEqual(['3.1.0', [{ url: expect.stringMatching(/^https?:\/\/.+\/v1$/) }]]);
    expect(Object.keys(paths)).toContain('/tasks/{id}');
  });

  it('refuses bodies that hold no tasks, too many tasks or too many bytes', async () => {
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

  it('answers 404, 405 and 400 with a problem document', async () => {
    const paths = [
      '/tasks/nobody',
      '/tasks/%FF',
      '/batches/none%231%231',
      '/batches?target=ship/depot=typo',
      `/batches/${'x'.repeat(3_000)}`,
      '/nothing',
    ];
    for (const path of paths) {
      const response = await flow.backend.api(path);
      expect([response.status, response.headers.get('content-type')], path).toEqual([404, 'application/problem+json']);
    }
    for (const [method, path] of [
      ['PUT', '/tasks'],
      ['PUT', '/tasks/x'],
      ['POST', '/batches'],
    ] as const) {
      const response = await flow.backend.api(path, { method });
      expect([response.status, response.headers.get('content-type')], path).toEqual([405, 'application/problem+json']);
      expect(response.headers.get('allow')).toContain('GET');
    }
    const wrong = [
      '/tasks?target=',
      '/tasks?target=ship&status=odd',
      '/batches?which=odd',
      '/batches?which=under-way',
      '/targets?limit=0',
      '/targets?operation=none',
      '/batches?target=ship/depot=dup&cursor=zzz',
      '/batches?target=ship/depot=dup&cursor=e30',
      '/tasks?target=ship/depot=dup&status=failed&cursor=e30',
      '/tasks?target=ship/depot=dup&cursor=zzz',
      '/targets?cursor=ship.e30',
    ];
    for (const path of wrong) {
      const response = await flow.backend.api(path);
      expect(response.status, path).toBe(400);
      expect(((await response.json()) as { errors: unknown[] }).errors.length).toBeGreaterThan(0);
    }
  });

  it('answers 400 if the cursor was not made by the API', async () => {
    const target = 'ship/depot=dup';
    const made = {
      '/tasks': ['{"Target":"T","Entry":1}', '{"Target":"T","Entry":"wait#","x":1}'],
      '/tasks?status=failed': [
        '{"Id":1,"FailedTarget":"T","FinishedAt":1}',
        '{"Id":"a","FailedTarget":"T","FinishedAt":"1"}',
      ],
      '/batches': [
        '{"BatchId":1,"Target":"T","SealedAt":1}',
        '{"BatchId":"","Target":"T","SealedAt":1}',
        `{"BatchId":"${'b'.repeat(3_000)}","Target":"T","SealedAt":1}`,
        '{"BatchId":"b","Target":"T","SealedAt":1e400}',
        '{"BatchId":"b","Target":"T","SealedAt":9007199254740993}',
        '{"BatchId":"b","Target":"other","SealedAt":1}',
        '{"BatchId":"b","Target":"T","__proto__":1}',
        '[]',
        `{"BatchId":${'['.repeat(2_000)}`,
      ],
    };
    for (const [path, keys] of Object.entries(made))
      for (const key of keys) {
        const cursor = Buffer.from(key.replace('"T"', JSON.stringify(target))).toString('base64url');
        const response = await flow.backend.api(
          `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ target, cursor })}`,
        );
        expect([response.status, response.headers.get('content-type')], key).toEqual([400, 'application/problem+json']);
      }
  });

  it('lists the first 1,000 errors and counts the rest', async () => {
    const keys = Array.from({ length: 40_000 }, (_, n) => `"${n}":0`).join(',');
    const response = await post(`{"tasks":[{${keys}},{"operation":"none"}]}`);
    const text = await response.text();
    expect([response.status, text.length < 500_000]).toEqual([400, true]);
    // The unknown fields count, and in each of the two tasks the missing and wrong fields.
    expect(JSON.parse(text)).toMatchObject({ errors: { length: 1_000 }, errorsInAll: 40_004 });
  });

  it('answers 400 if a task does not fit into an SQS message', async () => {
    const good = '"operation":"ship","payload":{"depot":"api"}';
    const twice = `{"payload":"${'\ufffe'.repeat(250_000)}",${good}}`;
    for (const body of [`{${good}${' '.repeat(1_200_000)}}`, twice, `{"tasks":[${twice}]}`])
      expect((await post(body)).status, body.slice(0, 40)).toBe(400);
  });

  it('answers 400 to a flush of an invalid Target, and 404 if the Target is unknown', async () => {
    const flush = (target: unknown) =>
      flow.backend.api('/targets/flush', { method: 'POST', body: JSON.stringify({ target }) });
    for (const odd of [undefined, 7, '', 'ship/depot=\ud800', `ship/depot=${'é'.repeat(300)}`])
      expect((await flush(odd)).status, String(odd)).toBe(400);
    expect((await flush('ship/depot=nobody-ever')).status).toBe(404);
  });

  it('passes on U+FFFE and U+FFFF as escapes, because SQS refuses them', async () => {
    const response = await post(
      '{"operation":"ship","payload":{"depot":"odd", "a\ufffe":"\uffff \ufffd \\uffff", "n":1.0}}',
    );
    expect(response.status).toBe(202);
    const [task] = await flow.ended(((await response.json()) as { ids: string[] }).ids);
    expect(task?.payload).toEqual({ depot: 'odd', 'a\ufffe': '\uffff \ufffd \uffff', n: 1 });
    const [call] = flow.calls('odd');
    expect(call?.text).toContain('{"depot":"odd", "a\\ufffe":"\\uffff \ufffd \\uffff", "n":1.0}');
  });

  it('accepts characters beyond U+FFFF in values and payloads', async () => {
    const response = await post({ operation: 'ship', payload: { depot: '\u{1f69a}', text: '\u{1f600}' } });
    expect(response.status).toBe(202);
    const [task] = await flow.ended(((await response.json()) as { ids: string[] }).ids);
    expect(task).toMatchObject({
      status: 'succeeded',
      target: 'ship/depot=%F0%9F%9A%9A',
      payload: { text: '\u{1f600}' },
    });
  });

  it('lists the batches of a Target', async () => {
    const [task] = await flow.ended(await flow.send([{ depot: 'listed' }]));
    const { batches } = await flow.get(`/batches?${new URLSearchParams({ target: String(task?.target) })}`);
    expect(batches).toMatchObject([{ id: task?.batchId, size: 1, sealedBy: 'waited' }]);
  });

  it('lists Targets page by page', async () => {
    const depots = ['page-1', 'page-2', 'page-3'];
    await flow.ended(await flow.send(depots.map((depot) => ({ depot }))));
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await flow.get(
        `/targets?${new URLSearchParams({ operation: 'ship', limit: '2', ...(cursor ? { cursor } : {}) })}`,
      )) as { targets: { target: string }[]; cursor?: string };
      found.push(...page.targets.map(({ target }) => target));
      cursor = page.cursor;
    } while (cursor);
    expect(found).toEqual(expect.arrayContaining(depots.map(flow.target)));
    expect(new Set(found).size).toBe(found.length);
  });
});
