/** The Allow header of each path lists the methods of the OpenAPI contract. */
import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

const app = api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} });
const routes = app.routes.filter(({ path }) => !path.includes('*'));
const patterns = [...new Set(routes.map(({ path }) => path))];

it('every path answers other methods with 405, and allows those of the contract', async () => {
  expect(patterns.length).toBeGreaterThan(35);
  for (const pattern of patterns) {
    const path = pattern.replaceAll(/:\w+(?:\{\S+?\}(?=\/|$))?/g, 'known');
    const its = METHODS.filter((method) => routes.some((each) => each.path === pattern && each.method === method));
    const answers = await Promise.all(
      METHODS.map(async (method) => ({ method, answer: await app.request(path, { method }) })),
    );
    const refused = answers.filter(({ answer }) => answer.status === 405);
    expect([path, refused.filter(({ method }) => its.includes(method))]).toEqual([path, []]);
    for (const { method, answer } of refused)
      expect([path, method, answer.headers.get('allow')]).toEqual([path, method, its.join(', ')]);
    // HEAD is answered where GET is. Allow leaves HEAD out.
    const isRefused = (method: string) => refused.some((each) => each.method === method);
    expect([path, isRefused('HEAD')]).toEqual([path, isRefused('GET')]);
  }
});

it('a fixed path takes precedence over a path with an id', async () => {
  const allowed = async (path: string) => (await app.request(path, { method: 'PATCH' })).headers.get('allow');
  // `redrive` is a valid task id, and `acks` a valid fan-out id. The id of a batch contains slashes.
  expect(await allowed('/v1/tasks/redrive')).toBe('POST');
  expect(await allowed('/v1/fan-outs/acks')).toBe('POST');
  expect(await allowed('/v1/batches/known/complete')).toBe('POST');
  expect(await allowed('/v1/tasks/known')).toBe('GET, DELETE');
  expect(await allowed('/v1/targets/flush')).toBe('POST');
  expect(await allowed('/v1/doctor/targets')).toBe('GET, POST');
  expect(await allowed('/v1/doctor')).toBeNull();
  expect((await app.request('/v1/tasks/redrive')).status).toBe(404);
});
