import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { deadLetter } from '../steps/step-suite.ts';

const started = async () => {
  const kit = stepKit(await memoryStores());
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  return {
    kit,
    ask: (method: string, path: string, body?: string) => app.request(`/v1${path}`, { method, ...(body && { body }) }),
  };
};

it('every call refuses an unknown query parameter by name, and does nothing', async () => {
  const { kit, ask } = await started();
  for (const [method, path] of [
    ['POST', '/tasks'],
    ['GET', '/tasks?target=ship'],
    ['GET', '/tasks/known'],
    ['DELETE', '/tasks/known'],
    ['POST', '/tasks/redrive'],
    ['GET', '/operations'],
    ['GET', '/operations/ship'],
    ['POST', '/operations/ship/pause'],
    ['POST', '/operations/ship/resume'],
    ['GET', '/batches?target=ship'],
    ['GET', '/batches/known'],
    ['GET', '/targets?operation=ship'],
    ['POST', '/targets/flush'],
    ['GET', '/failures'],
    ['GET', '/queues'],
    ['GET', '/dead-letters'],
    ['POST', '/dead-letters/elect/redrive'],
    ['GET', '/doctor/targets'],
    ['POST', '/doctor/targets'],
    ['GET', '/doctor/batches?target=ship'],
    ['POST', '/doctor/batches?target=ship'],
    ['POST', '/fan-outs'],
    ['POST', '/fan-outs/acks'],
    ['GET', '/fan-outs'],
    ['GET', '/lists'],
    ['GET', '/fan-outs/known'],
    ['DELETE', '/fan-outs/known'],
    ['GET', '/fan-outs/known/failed'],
    ['GET', '/fan-outs/known/items?status=pending'],
    ['POST', '/fan-outs/known/items'],
    ['POST', '/fan-outs/known/seal'],
  ] as const) {
    const response = await ask(method, `${path}${path.includes('?') ? '&' : '?'}oddly=1`);
    const { errors } = (await response.json()) as { errors: unknown };
    expect([method, path, response.status, errors]).toEqual([
      method,
      path,
      400,
      [
        {
          path: 'oddly',
          reason: expect.stringMatching(/^is not a query parameter: (known are|this call has no query parameters)/),
        },
      ],
    ]);
  }
  expect(kit.sent).toMatchObject({ registered: [], elect: [], revived: [] });
});

it('a dry run in a wrong place is refused, and nothing is done', async () => {
  const { kit, ask } = await started();
  const flush = await ask('POST', '/targets/flush', '{"target":"ship/depot=MUC","dryRun":true}');
  expect([flush.status, await flush.json()]).toMatchObject([400, { errors: [{ path: 'dryRun' }] }]);
  kit.letters.elect = [deadLetter('{"target":"ship/depot=MUC"}')];
  expect((await ask('POST', '/dead-letters/elect/redrive?dryRun=true')).status).toBe(400);
  expect(kit.sent.revived).toEqual([]);
});

it('a limit parameter accepts only plain digits', async () => {
  const { ask } = await started();
  for (const limit of ['1e1', '0x10', '1.0', '%2B5', '%205', '05', '0', '', '101', '10000', '-1', '5%0a'])
    for (const path of [
      '/targets?',
      '/doctor/targets?',
      '/tasks?target=ship&',
      '/batches?target=ship&',
      '/fan-outs?',
      '/lists?',
    ]) {
      const answer = await ask('GET', `${path}limit=${limit}`);
      expect([path, limit, answer.status, await answer.json()]).toMatchObject([
        path,
        limit,
        400,
        { errors: [{ path: 'limit' }] },
      ]);
    }
  for (const limit of ['1', '100']) expect((await ask('GET', `/targets?limit=${limit}`)).status).toBe(200);
});

it("a path without the version is answered 404 with the API's prefix", async () => {
  const app = api({ ...stepKit(await memoryStores()), newId: () => 'new', onError: () => {} });
  for (const [path, words] of [
    ['/tasks', 'there is no GET /tasks (the API is under /v1)'],
    ['/v1', 'there is no GET /v1 (the API is under /v1)'],
    ['/v1/task', 'there is no GET /v1/task'],
  ] as const) {
    const response = await app.request(path);
    expect([response.status, await response.json()]).toMatchObject([404, { detail: words }]);
  }
});
