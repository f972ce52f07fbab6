import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const started = async () => {
  const kit = stepKit(await memoryStores(), aConfig({}, { operation: operationName('parcels') }));
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  return {
    kit,
    post: async (
      path: string,
      body: string | Uint8Array<ArrayBuffer>,
      type = 'application/json',
      event?: { readonly isBase64Encoded: boolean },
    ) => {
      const headers = { 'content-type': type };
      const response = await app.request(`/v1${path}`, { method: 'POST', headers, body }, { event });
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

describe('a body may take 6,200,000 bytes in an event', () => {
  /** Tasks with texts of a character as it stands in JSON. They have at most `bytes` bytes. */
  const tasksOf = (character: string, bytes: number): string => {
    const text = character.repeat(100_000 / Buffer.byteLength(character));
    const count = Math.floor(bytes / 100_100);
    const tasks = Array.from(
      { length: count },
      () => `{"operation":"ship","payload":{"depot":"MUC","text":"${text}"}}`,
    );
    return `{"tasks":[${tasks.join(',')}]}`;
  };
  /** Bytes of the event of a function URL, with headers as long as those of a signed request. */
  const eventOf = (body: string, isBase64Encoded: boolean): number =>
    Buffer.byteLength(
      JSON.stringify({
        version: '2.0',
        rawPath: '/v1/tasks',
        headers: { 'x-amz-security-token': 'x'.repeat(4_000), authorization: 'x'.repeat(1_000) },
        requestContext: { http: { method: 'POST', path: '/v1/tasks' } },
        body: isBase64Encoded ? Buffer.from(body).toString('base64') : body,
        isBase64Encoded,
      }),
    );
  const LAMBDA_MAX = 6_291_456;
  const STRING = 'each quotation mark, backslash and line break counts twice';

  it.each([
    ['letters', 'x', 6_100_000, 6_400_000],
    ['letters of three bytes', '漢', 6_100_000, 6_400_000],
    ['quotation marks', '\\"', 3_000_000, 3_200_000],
    ['escapes', '\\u0001', 5_000_000, 5_600_000],
  ])('with %s', async (_, character, fits, tooLarge) => {
    const { kit, post } = await started();
    const accepted = tasksOf(character, fits);
    expect(await post('/tasks', accepted)).toMatchObject({ status: 202 });
    expect(eventOf(accepted, false)).toBeLessThan(LAMBDA_MAX);
    const { length } = kit.sent.registered;
    const refused = tasksOf(character, tooLarge);
    expect(await post('/tasks', refused)).toMatchObject({ status: 413, detail: expect.stringContaining(STRING) });
    expect(kit.sent.registered).toHaveLength(length);
  });

  it('with line breaks between its tokens', async () => {
    const { post } = await started();
    const task = '{"tasks":[{"operation":"ship","payload":{"depot":"MUC"}}]}';
    const spaced = (space: string, bytes: number) => `${task}${space.repeat(bytes - task.length)}`;
    const quotes = task.split('"').length - 1 + 2;
    expect(await post('/tasks', spaced(' ', 6_200_000 - quotes))).toMatchObject({ status: 202 });
    expect(await post('/tasks', spaced(' ', 6_200_001 - quotes))).toMatchObject({ status: 413 });
    expect(await post('/tasks', spaced('\n', 3_200_000))).toMatchObject({ status: 413 });
  });

  it('in base64, if its type is not JSON', async () => {
    const { post } = await started();
    const [accepted, refused] = [tasksOf('x', 4_600_000), tasksOf('x', 4_800_000)];
    for (const type of ['application/octet-stream', 'application/x-www-form-urlencoded']) {
      expect(await post('/tasks', accepted, type)).toMatchObject({ status: 202 });
      const answer = await post('/tasks', refused, type);
      expect(answer).toMatchObject({
        status: 413,
        detail: expect.stringContaining('set content-type: application/json'),
      });
    }
    expect(eventOf(accepted, true)).toBeLessThan(LAMBDA_MAX);
    expect(await post('/tasks', refused)).toMatchObject({ status: 202 });
  });

  it('as its event says, whatever its type', async () => {
    const { post } = await started();
    const body = tasksOf('x', 4_800_000);
    // A REST API passes on every body as text.
    const type = 'application/octet-stream';
    expect(await post('/tasks', body, type, { isBase64Encoded: false })).toMatchObject({ status: 202 });
    expect(await post('/tasks', body, type, { isBase64Encoded: true })).toMatchObject({ status: 413 });
  });
});
