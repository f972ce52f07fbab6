import { describe, expect, it } from 'vitest';
import { batchIdOf, candidateOf, type TaskId } from '../../src/domain/ids.ts';
import type { Outcome } from '../../src/domain/tasks/task.ts';
import { register } from '../../src/steps/register/register.ts';
import { notify } from '../../src/steps/tasks/notify.ts';
import { NOW, target } from '../factories/factories.ts';
import { type Answer, someJobs, startedLists } from './list-kit.ts';

const MUC = target('ship/depot=MUC');

const claimAll = async (ask: (path: string, body?: unknown) => Promise<Answer>, id: string) => {
  const { claimId } = await ask(`/${id}/claims`, { count: 1_000, leaseSeconds: 60 });
  await ask(`/${id}/claims/${claimId}/complete`, {});
};

describe('triggering a list', () => {
  it('makes tasks of its jobs, and returns how many are left', async () => {
    const { ask, holding, registerAll, kit } = startedLists();
    await holding(100, { operation: 'ship' });
    expect(await ask('/f/triggers', { count: 7, token: 'a' })).toEqual({ code: 200, triggered: 7, left: 93 });
    expect(await ask('/f/triggers', { count: 7, token: 'a' }), 'again').toMatchObject({ triggered: 7, left: 93 });
    expect(await ask('/f/triggers', { percent: 25 })).toMatchObject({ triggered: 25, left: 68 });
    expect(await ask('/f/triggers', { percent: 0.1 })).toMatchObject({ triggered: 1, left: 67 });
    expect(await ask('/f/triggers', { percent: 100 })).toMatchObject({ triggered: 67, left: 0 });
    expect(await ask('/f/triggers', { count: 1 })).toMatchObject({ triggered: 0, left: 0 });
    await registerAll();
    expect(await ask('/f')).toMatchObject({ available: 0, leased: 0, started: 100, done: 0 });
    expect(await kit.tasks.get('f:99' as TaskId)).toMatchObject({ operation: 'ship', fanOutItem: '~f:0:99' });
    expect(kit.sent.rejected).toEqual([]);
  });

  it('is refused with all problems, and nothing is triggered', async () => {
    const { ask, holding, kit } = startedLists();
    await holding(10, { operation: 'ship' });
    const count = { path: 'count', reason: 'must be a whole number from 1 to 1000000000000' };
    const percent = { path: 'percent', reason: 'must be a number above 0, at most 100' };
    const one = {
      path: '',
      reason: 'must have either count (number of jobs) or percent (share of all jobs of the list)',
    };
    const token = { path: 'token', reason: 'must be well-formed text of 1 to 64 characters' };
    for (const [body, ...errors] of [
      [{}, one],
      [{ count: 1, percent: 1 }, one],
      [{ count: 0 }, count],
      [{ count: -1 }, count],
      [{ count: 1.5 }, count],
      [{ count: '1' }, count],
      [{ count: null }, count],
      [{ percent: 0 }, percent],
      [{ percent: 101 }, percent],
      [{ percent: 100.001 }, percent],
      [{ percent: '50' }, percent],
      [{ count: 1, token: '' }, token],
      [
        { count: 0, token: 7, more: 1 },
        { path: 'more', reason: 'is unknown; known are count, percent, token' },
        count,
        token,
      ],
    ] as const)
      expect([body, await ask('/f/triggers', body)]).toMatchObject([body, { code: 400, errors }]);
    expect(kit.sent.registered).toEqual([]);
    expect(await ask('/f')).toMatchObject({ available: 10 });
  });

  it('without an operation, or after its end, is refused', async () => {
    const { ask, holding, kit } = startedLists();
    await holding(3);
    await holding(3, { operation: 'ship' }, 'g');
    await ask('/g/triggers', { count: 1, token: 'before' });
    await ask('/g/cancel', {});
    await holding(0, { operation: 'ship' }, 'h');
    await ask('/h/seal', {});
    const sent = [...kit.sent.registered];
    for (const [id, detail] of [
      ['f', 'list f has no operation, so its jobs cannot become tasks: let workers claim them'],
      ['g', 'list g is cancelled: its jobs can no longer be triggered'],
      ['h', 'list h is complete: its jobs can no longer be triggered'],
    ])
      expect(await ask(`/${id}/triggers`, { count: 1 })).toMatchObject({ code: 409, detail });
    expect(await ask('/g/triggers', { count: 1, token: 'before' }), 'again').toMatchObject({ triggered: 1, left: 0 });
    expect(kit.sent.registered).toEqual(sent);
  });

  it('and adding jobs is refused if its operation is not configured', async () => {
    const { ask, holding, kit } = startedLists();
    await holding(3, { operation: 'ship' });
    Reflect.deleteProperty(kit.config.operations, 'ship');
    const detail =
      'list f has the operation "ship", which is no longer configured: configure it again, or let workers claim the jobs';
    expect(await ask('/f/triggers', { count: 1 })).toMatchObject({ code: 409, detail });
    expect(await ask('/f/jobs', { jobs: someJobs(1) })).toMatchObject({ code: 409, detail });
    expect(kit.sent.registered).toEqual([]);
    expect(await ask('/f')).toMatchObject({ total: 3, available: 3 });
    expect(await ask('/f/claims', { count: 1, leaseSeconds: 60 })).toMatchObject({ jobs: [{ token: 0 }] });
  });
});

describe('added jobs', () => {
  it('with an operation are refused if they are no valid tasks', async () => {
    const { ask, tables } = startedLists();
    await ask('', { id: 'f', operation: 'ship' });
    const large = { depot: 'MUC', text: 'x'.repeat(262_144) };
    const jobs = [{}, { depot: 'MUC' }, { depot: 7.5 }, { depot: { a: 1 } }, large].map((payload) => ({ payload }));
    const depot = (n: number) => ({ path: `jobs[${n}].payload.depot`, reason: expect.any(String) });
    const size = {
      path: 'jobs[4].payload',
      reason: expect.stringMatching(/^has 262169 bytes; at most 262144 are allowed/),
    };
    const answer = await ask('/f/jobs', { jobs });
    expect(answer).toMatchObject({ code: 400 });
    expect(answer.errors).toEqual([depot(0), depot(3), size]);
    expect(await ask('/f/jobs', { jobs: [{ payload: { depot: 'MUC', text: 'x'.repeat(600_000) } }] })).toMatchObject({
      code: 400,
      errors: [{ path: 'jobs[0].payload', reason: expect.stringContaining('a message may have at most 500000') }],
    });
    expect(await ask('/f')).toMatchObject({ total: 0 });
    expect(tables.listAppends.size).toBe(0);
    expect(await ask('/f/jobs', { jobs: someJobs(1) })).toMatchObject({ code: 200, total: 1 });
  });

  it('without an operation have 256 KB at most', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    const sized = (bytes: number) => ({ payload: { x: 'ü'.repeat((bytes - 8) / 2) } });
    const reason = 'has 262146 bytes; at most 262144 are allowed: store the payload elsewhere and send a reference';
    expect(await ask('/f/jobs', { jobs: [sized(262_144), sized(262_146)] })).toMatchObject({
      code: 400,
      errors: [{ path: 'jobs[1].payload', reason }],
    });
    expect(await ask('/f/jobs', { jobs: [sized(262_144)] })).toMatchObject({ total: 1 });
  });

  it('with many problems get a short answer', async () => {
    const { ask, request } = startedLists();
    await ask('', { id: 'f', operation: 'ship' });
    const wrong = await request('/f/jobs', {
      jobs: Array.from({ length: 1_000 }, () => ({ payload: { x: 'y'.repeat(3_000) }, a: 1, b: 1 })),
    });
    const text = await wrong.text();
    expect(wrong.status).toBe(400);
    expect(JSON.parse(text).errors).toHaveLength(1_000);
    expect(JSON.parse(text).errorsInAll).toBe(3_000);
    expect(text.length).toBeLessThan(200_000);
  });
});

describe('jobs', () => {
  it('are listed page by page with their states', async () => {
    const { ask, holding, kit, registerAll } = startedLists();
    await holding(12, { operation: 'ship' });
    await ask('/f/triggers', { count: 2 });
    await registerAll();
    const { claimId } = await ask('/f/claims', { count: 5, leaseSeconds: 60 });
    const error = { code: 'broken', message: 'It broke.' };
    const jobs = [{ token: 2, result: { a: 1 } }, { token: 3, status: 'failed', error }, { token: 4 }];
    await ask(`/f/claims/${claimId}/complete`, { jobs });
    await ask('/f/claims', { count: 1, leaseSeconds: 1, claimId: 'left' });
    kit.now += 61_500;
    expect(await ask('/f')).toMatchObject({ started: 2, leased: 2, available: 5, done: 3, failed: 1 });
    const shown = [
      { status: 'started', task: 'f:0' },
      { status: 'started', task: 'f:1' },
      { status: 'succeeded', result: { a: 1 } },
      { status: 'failed', error },
      { status: 'succeeded' },
      { status: 'leased', deliveries: 1 },
      { status: 'leased', deliveries: 1 },
      { status: 'waiting', deliveries: 1 },
      ...Array.from({ length: 4 }, () => ({ status: 'waiting' })),
    ].map((job, n) => ({ token: n, payload: { depot: 'MUC', n }, ...job }));
    expect(await ask('/f/jobs')).toEqual({ code: 200, jobs: shown });
    expect(await ask('/f/jobs?limit=5')).toEqual({ code: 200, jobs: shown.slice(0, 5), next: 5 });
    expect(await ask('/f/jobs?limit=5&from=5')).toEqual({ code: 200, jobs: shown.slice(5, 10), next: 10 });
    expect(await ask('/f/jobs?limit=5&from=10')).toEqual({ code: 200, jobs: shown.slice(10) });
    expect(await ask('/f/jobs?from=12')).toEqual({ code: 200, jobs: [] });
    expect(await ask('/f/jobs?from=999999999999')).toEqual({ code: 200, jobs: [] });
  });

  it('show the results of their tasks, if these ended the jobs', async () => {
    const { ask, request, holding, registerAll, kit } = startedLists();
    await holding(4, { operation: 'ship' });
    await ask('/f/triggers', { count: 4 });
    await registerAll();
    const batch = { id: batchIdOf(MUC, 1, 1), target: MUC, attempts: 1, keep: 1_000 };
    const end = async (n: number, outcome: Outcome, run = NOW) => {
      const id = `f:${n}` as TaskId;
      await kit.tasks.claim([candidateOf(id, run)], batch.id);
      await kit.tasks.finish([{ id, outcome }], { ...batch, at: NOW });
      await notify(kit, await kit.tasks.all([id]));
    };
    await end(0, { status: 'succeeded', result: '{"n": 1.0}' });
    await end(1, { status: 'failed', error: { code: 'c', message: 'm', retriable: false } });
    await end(2, { status: 'failed', error: { code: 'c', message: 'm', retriable: true } });
    await kit.tasks.redrive(await kit.tasks.all(['f:2' as TaskId]), NOW);
    await end(2, { status: 'succeeded', result: '"late"' }, NOW + 1);
    expect(await kit.tasks.get('f:2' as TaskId)).toMatchObject({ state: { status: 'succeeded' } });
    // A task of another producer with the id of a job.
    await holding(1, { operation: 'ship' }, 'g');
    await register(kit, [{ messageId: 'm', body: '{"operation":"ship","id":"g:0","payload":{"depot":"MUC"}}' }]);
    await claimAll(ask, 'g');
    const text = await (await request('/f/jobs')).text();
    expect(text).toContain(',"task":"f:0","result":{"n": 1.0}}');
    expect(JSON.parse(text).jobs).toEqual([
      { token: 0, status: 'succeeded', payload: { depot: 'MUC', n: 0 }, task: 'f:0', result: { n: 1 } },
      { token: 1, status: 'failed', payload: { depot: 'MUC', n: 1 }, task: 'f:1', error: { code: 'c', message: 'm' } },
      {
        token: 2,
        status: 'failed',
        payload: { depot: 'MUC', n: 2 },
        task: 'f:2',
        redrivenAt: new Date(NOW).toISOString(),
      },
      { token: 3, status: 'started', payload: { depot: 'MUC', n: 3 }, task: 'f:3' },
    ]);
    expect(await ask('/g/jobs')).toEqual({
      code: 200,
      jobs: [{ token: 0, status: 'succeeded', payload: { depot: 'MUC', n: 0 } }],
    });
  });

  it('show no result that came late with another outcome', async () => {
    const { ask, kit, stored, trackerOf } = startedLists();
    await ask('', { id: 'f' });
    await ask('/f/jobs', { jobs: someJobs(1) });
    const { id } = (await stored()) ?? {};
    await kit.lists.putResults('f' as never, [{ token: 0, outcome: 'succeeded', result: '1' }]);
    await kit.fanOuts.putNode(trackerOf(), { level: 0, n: 0 }, { slots: new Map([[0, false]]), failed: 1, at: NOW });
    expect([id, await ask('/f/jobs')]).toEqual([
      trackerOf(),
      { code: 200, jobs: [{ token: 0, status: 'failed', payload: { depot: 'MUC', n: 0 } }] },
    ]);
  });

  it.each([
    ['fill a page up to the size of an answer', 'x'.repeat(250_000)],
    ['fill a page with fewer if they have quotes of two bytes', '"'.repeat(125_000)],
  ])('%s', async (_name, x) => {
    const { ask, request } = startedLists();
    await ask('', { id: 'f' });
    const large = { x };
    for (const _ of [1, 2, 3, 4])
      await ask('/f/jobs', { jobs: Array.from({ length: 10 }, () => ({ payload: large })) });
    const claimed = await ask('/f/claims', { count: 40, leaseSeconds: 60 });
    const own = claimed.jobs as { token: number }[];
    expect(own.length).toBeLessThan(20);
    await ask(`/f/claims/${claimed.claimId}/complete`, { jobs: own.map(({ token }) => ({ token, result: large })) });
    const seen: number[] = [];
    for (let next: unknown = 0; next !== undefined; ) {
      const text = await (await request(`/f/jobs?limit=500&from=${next}`)).text();
      expect(JSON.stringify(text).length).toBeLessThan(4_200_000);
      const page = JSON.parse(text);
      expect(page.jobs.length).toBeGreaterThan(0);
      seen.push(...page.jobs.map(({ token }: { token: number }) => token));
      next = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  it('are listed by valid numbers only', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    const from = { path: 'from', reason: 'must be a whole number, 0 or more' };
    const limit = { path: 'limit', reason: 'must be a whole number from 1 to 500' };
    for (const [query, ...errors] of [
      ['from=-1', from],
      ['from=', from],
      ['from=1e3', from],
      ['from=9999999999999', from],
      ['limit=0', limit],
      ['limit=501', limit],
      ['limit=x&from=x', from, limit],
      ['cursor=1', { path: 'cursor', reason: 'is not a query parameter: known are from, limit, status' }],
    ] as const)
      expect([query, await ask(`/f/jobs?${query}`)]).toMatchObject([query, { code: 400, errors }]);
  });
});
