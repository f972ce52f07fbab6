import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const started = async () => {
  const kit = stepKit(await memoryStores(), aConfig({}, { operation: operationName('parcels') }));
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  return {
    kit,
    post: async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
      const response = await app.request(`/v1${path}`, { method: 'POST', body });
      const answer = (await response.json()) as Record<string, unknown>;
      return { ...answer, status: response.status } as typeof answer;
    },
  };
};

it('the API reports each problem in a body with its path', async () => {
  const { kit, post } = await started();
  const task = (id: string, n = 1, operation = 'ship') => ({ id, operation, payload: { depot: 'MUC', n } });
  const other = (index: number) =>
    `is also the id of tasks[${index}], which has a different operation, payload or fanOutItem`;
  const redrive = expect.stringContaining('POST /v1/tasks/redrive');
  for (const [body, errors] of [
    [{ tasks: [1, null] }, ['tasks[0]', 'tasks[1]'].map((path) => ({ path, reason: 'must be a JSON object' }))],
    [{ tasks: [task('a'), task('b'), task('a', 2), task('a')] }, [{ path: 'tasks[2].id', reason: other(0) }]],
    [{ tasks: [task('b'), task('a'), task('a', 1, 'parcels')] }, [{ path: 'tasks[2].id', reason: other(1) }]],
    [{ id: 'b-1', run: 1 }, [{ path: 'run', reason: redrive }]],
    [{ tasks: [task('a'), { run: 1 }] }, [{ path: 'tasks[1].run', reason: redrive }]],
  ] as const)
    expect(await post('/tasks', JSON.stringify(body))).toMatchObject({ status: 400, errors });
  expect(kit.sent.registered).toEqual([]);
  const twice = await post('/tasks', JSON.stringify({ tasks: [task('a'), task('a'), task('b', 2)] }));
  expect(twice).toEqual({ status: 202, ids: ['a', 'a', 'b'] });
});

it('a request holds 1 to 1,000 tasks, or ids to redrive', async () => {
  const { kit, post } = await started();
  const task = { operation: 'ship', payload: { depot: 'MUC' } };
  const many = (count: number, each: object | string) => Array.from({ length: count }, () => each);
  for (const [count, status] of [
    [0, 400],
    [1, 202],
    [1_000, 202],
    [1_001, 400],
  ] as const) {
    kit.sent.registered.length = 0;
    const answer = await post('/tasks', JSON.stringify({ tasks: many(count, task) }));
    expect([count, answer.status, kit.sent.registered.length]).toEqual([count, status, status === 202 ? count : 0]);
    if (status === 400)
      expect(answer.errors).toEqual([{ path: 'tasks', reason: `must have 1 to 1000 elements, not ${count}` }]);
    const redriven = await post('/tasks/redrive', JSON.stringify({ ids: many(count, 'a') }));
    expect([count, redriven.status === 400]).toEqual([count, status === 400]);
  }
});

it('a body that is not UTF-8 is refused, and nothing is stored', async () => {
  const { kit, post } = await started();
  const task = '{"operation":"ship","payload":{"depot":"M\xfcC"}}';
  for (const [path, text] of [
    ['/tasks', task],
    ['/tasks', `{"tasks":[${task}]}`],
    ['/tasks/redrive', '{"target":"ship/depot=M\xfcC"}'],
    ['/targets/flush', '{"target":"ship/depot=M\xfcC"}'],
    ['/operations/ship/pause', '{"target":"ship/depot=M\xfcC"}'],
    ['/dead-letters/elect/redrive', '{"cursor":"\xff"}'],
    ['/fan-outs', '{"userKey":"\xff"}'],
    ['/fan-outs/f/items', '{"count":1,"token":"\xff"}'],
    ['/fan-outs/f/seal', '\xff'],
    ['/fan-outs/acks', '{"items":["\xff"]}'],
  ] as const)
    expect([path, await post(path, new Uint8Array(Buffer.from(text, 'latin1')))]).toEqual([
      path,
      expect.objectContaining({ status: 400, errors: [{ path: '', reason: 'the body is not UTF-8' }] }),
    ]);
  expect(kit.sent.registered).toEqual([]);
  expect(await post('/tasks', `\ufeff${task}`)).toMatchObject({ status: 202 });
});
