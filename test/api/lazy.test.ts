/** The API that loads its sections lazily answers as the whole API does. */
import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { lazyApi } from '../../src/api/lazy.ts';
import { aConfig } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const both = async (change: object = {}) => {
  const kit = stepKit(await memoryStores(), aConfig());
  const failures: unknown[] = [];
  const deps = { ...kit, newId: () => 'new', onError: (cause: unknown) => failures.push(cause), ...change };
  const ask = (make: typeof api) => {
    const app = make(deps);
    return async (method: string, path: string, body?: string) => {
      const response = await app.request(path, { method, ...(body === undefined ? {} : { body }) });
      const { status, headers } = response;
      return { status, allow: headers.get('allow'), type: headers.get('content-type'), text: await response.text() };
    };
  };
  return { whole: ask(api), parts: ask(lazyApi), routes: api(deps).routes, failures };
};

it('the lazy API answers as the whole API on every route and method, and elsewhere', async () => {
  const { whole, parts, routes } = await both();
  const paths = new Set(routes.map(({ path }) => path.replace(/:\w+(?:\{.+?\})?/g, 'x')));
  expect(paths.size).toBeGreaterThan(35);
  const odd = [
    '/',
    '/v1',
    '/v1/',
    '/v2/tasks',
    '/v1/nothing',
    '/v1/tasks/',
    '/v1/toString',
    '/v1/%74asks/x',
    '/v1/tasksx',
  ];
  for (const path of [...paths, ...odd].filter((each) => !each.includes('*')))
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      const body = method === 'GET' ? undefined : '{"odd":1}';
      const asked = [await whole(method, path, body), await parts(method, path, body)];
      expect(asked[1], `${method} ${path}`).toEqual(asked[0]);
    }
});

it('the lazy API answers as the whole API to a task, and to a too large body', async () => {
  const { whole, parts } = await both();
  const task = JSON.stringify({ id: 't-1', operation: 'ship', payload: { depot: 'MUC' } });
  const answers = [await whole('POST', '/v1/tasks', task), await parts('POST', '/v1/tasks', task)];
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 202, text: '{"ids":["t-1"]}' });
  const large = 'x'.repeat(6 * 1_024 * 1_024 + 1);
  expect((await parts('POST', '/v1/tasks', large)).status).toBe(413);
});

it('the lazy API reports a failure once, and its answer hides the cause', async () => {
  const broken = { backlogs: { read: () => Promise.reject(new Error('secret')) } };
  const { parts, failures } = await both({ backlogs: new Proxy(broken, { get: () => broken.backlogs.read }) });
  const { status, text } = await parts('GET', '/v1/queues');
  expect(status).toBe(500);
  expect(text).not.toContain('secret');
  expect(failures).toHaveLength(1);
});
