import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiError, type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

let api: FakeApi;
beforeAll(async () => {
  api = await fakeApi();
});
afterAll(() => api.close());

const run = (...args: string[]) => groupage(tmpdir(), ['limits', ...args, '--api', api.url]);
/** The cells of each row. Empty cells leave no trace. */
const cells = (out: string): string[][] =>
  out
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

it('groupage limits lists what each limit allows, and the operations that name it', async () => {
  api.answer({
    'GET /limits': {
      limits: [
        {
          limit: 'vendor',
          operations: ['ship', 'label'],
          calls: 5,
          weight: 90_000,
          perSeconds: 60,
          burst: 2,
          key: ['account', 'shop'],
          concurrency: { calls: 2 },
        },
        { limit: 'origin', operations: [], calls: 1, perSeconds: 1, burst: 1, key: 'target' },
        { limit: 'rate:label', operations: ['label'], calls: 1, perSeconds: 2.5, burst: 1 },
        { limit: 'slow', operations: ['ship'], calls: 2, perSeconds: 600, burst: 1 },
      ],
    },
  });
  const { code, out } = await run();
  expect([code, cells(out)]).toEqual([
    0,
    [
      ['LIMIT', 'STARTS', 'IN PROGRESS', 'FOR EACH', 'OPERATIONS'],
      ['vendor', '5 calls, weight 90,000 a minute', '2 calls', 'account, shop', 'ship, label'],
      ['origin', '1 call a second', 'Target'],
      ['rate:label', '1 call in 2.5 s', 'label'],
      ['slow', '2 calls in 10 min', 'ship'],
    ],
  ]);
  api.answer({ 'GET /limits': { limits: [] } });
  expect(await run()).toMatchObject({ code: 0, out: 'no limits are configured\n' });
});

it('groupage limits NAME shows what is used, when the next call may start, and who waits', async () => {
  const since = new Date(Date.now() - 180_000).toISOString();
  const next = [{ target: 'ship/account=17', batchId: 'ship/account=17#1#1', since, weight: 3 }];
  api.answer({
    'GET /limits/vendor': {
      buckets: [
        {
          key: 'account=17',
          nextAt: new Date(Date.now() + 40_000).toISOString(),
          calls: { used: 5, allowed: 5 },
          weight: { used: 1_200, allowed: 90_000 },
          inProgress: { used: 1, allowed: 2 },
          planned: 7,
          waiting: 100,
          waitingIsAtLeast: true,
          next,
        },
        { part: 3, inProgress: { used: 2, allowed: 2 }, waiting: 0, next: [] },
      ],
    },
  });
  const { code, out } = await run('vendor', '--key', 'account=1');
  expect(code).toBe(0);
  expect(api.asked[0]).toContain('/limits/vendor?key=account%3D1&limit=51');
  expect(cells(out).slice(1)).toEqual([
    [
      'account=17',
      '5 of 5',
      '1,200 of 90,000',
      '1 of 2',
      expect.stringMatching(/^in \d+ s$/),
      '7',
      'at least 100',
      '3 min',
      'ship/account=17#1#1',
    ],
    ['part 3', '2 of 2', 'after a call ends', '0'],
  ]);
  api.answer({ 'GET /limits/vendor': { buckets: [] } });
  expect((await run('vendor')).out).toContain('no call has counted under the limit vendor for 7 days');
});

it('groupage limits refuses an unknown limit, and a key without a limit', async () => {
  api.answer({ 'GET /limits/none': new ApiError(404, { status: 404, detail: 'the limit "none" is not configured' }) });
  expect(await run('none')).toMatchObject({
    code: 1,
    err: expect.stringContaining('the limit "none" is not configured'),
  });
  expect(await run('--key', 'account=17')).toMatchObject({
    code: 2,
    err: expect.stringContaining('groupage limits NAME --key'),
  });
});
