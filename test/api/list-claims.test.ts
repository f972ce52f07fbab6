import { describe, expect, it } from 'vitest';
import { NOW } from '../factories/factories.ts';
import { startedLists } from './list-kit.ts';

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();
const jobsFrom = (first: number, count: number, deliveries = 1) =>
  Array.from({ length: count }, (_, n) => ({ token: first + n, deliveries, payload: { depot: 'MUC', n: first + n } }));

const claimed = async (count = 10, jobs = 25) => {
  const started = startedLists();
  await started.holding(jobs);
  const claim = (fields: object = {}) => started.ask('/f/claims', { count, leaseSeconds: 60, ...fields });
  const { claimId } = await claim({ claimId: 'mine' });
  return { ...started, claim, mine: `/f/claims/${claimId}` };
};

describe('claiming jobs', () => {
  it('leases the next jobs, and the same ones for the same id', async () => {
    const { ask, holding } = startedLists();
    await holding(25);
    const claim = (fields: object) => ask('/f/claims', { count: 10, leaseSeconds: 60, ...fields });
    const first = await claim({ claimId: 'a' });
    expect(first).toEqual({
      code: 200,
      claimId: expect.stringMatching(/^a\.0\.10\.[\w-]{6}$/),
      jobs: jobsFrom(0, 10),
      expiresAt: iso(NOW + MINUTE),
      availableAgainAt: iso(NOW + 2 * MINUTE),
    });
    expect(await claim({ claimId: first.claimId }), 'the claimId of the answer').toEqual(first);
    expect(await claim({ claimId: 'a', count: 3 })).toEqual(first);
    expect(await claim({})).toMatchObject({ jobs: jobsFrom(10, 10) });
    expect(await claim({ count: 1_000 })).toMatchObject({ jobs: jobsFrom(20, 5) });
    expect(await claim({})).toEqual({ code: 200, jobs: [], status: 'open' });
    expect(await ask('/f')).toMatchObject({ total: 25, available: 0, leased: 25, started: 0, done: 0 });
  });

  it('returns payloads byte by byte', async () => {
    const { ask, request } = startedLists();
    await ask('', { id: 'f' });
    const payloads = ['{ "n": 12345678901234567890,  "a": 1.0 }', '{"10":1,"9":"\\u00fc\\ud83d","a":{"b":[ ]}}'];
    await request('/f/jobs', `{"jobs":[${payloads.map((payload) => `{ "payload" : ${payload} }`).join(' , ')}]}`);
    const response = await request('/f/claims', { count: 2, leaseSeconds: 60 });
    expect(response.headers.get('content-type')).toBe('application/json');
    const text = await response.text();
    expect(JSON.parse(text).jobs).toHaveLength(2);
    for (const payload of payloads) expect(text).toContain(`"payload":${payload}}`);
  });

  it('returns fresh jobs before expired ones, without those that are done', async () => {
    const { ask, claim, mine, kit } = await claimed();
    await ask(`${mine}/complete`, { jobs: [{ token: 0 }, { token: 9, status: 'failed' }] });
    kit.now += 2.5 * MINUTE;
    expect(await ask('/f')).toMatchObject({ available: 23, leased: 0, done: 2, succeeded: 1, failed: 1 });
    expect(await claim()).toMatchObject({ jobs: jobsFrom(10, 10) });
    expect(await claim({ count: 15 })).toMatchObject({ jobs: jobsFrom(20, 5) });
    expect(await claim(), 'suspect jobs in smaller numbers').toMatchObject({ jobs: jobsFrom(1, 6, 2) });
    expect(await ask('/f')).toMatchObject({ available: 2, leased: 21, done: 2 });
  });

  it('returns no jobs once all are done, and is refused after a cancel', async () => {
    const { ask, claim, mine } = await claimed(10, 10);
    await ask('/f/seal', {});
    await ask(`${mine}/complete`, {});
    expect(await claim()).toEqual({ code: 200, jobs: [], status: 'complete' });
    const { ask: askOther, claim: claimOther, mine: his } = await claimed();
    await askOther('/f/cancel', {});
    const detail = 'list f is cancelled: its jobs can no longer be claimed';
    expect(await claimOther()).toMatchObject({ code: 409, detail });
    expect(await claimOther({ claimId: 'mine' }), 'jobs handed out before').toMatchObject({
      jobs: jobsFrom(0, 10),
    });
    expect(await askOther(`${his}/complete`, {})).toMatchObject({ code: 200 });
  });

  it('answers 503 with retry-after if a list has as many claims as it can have', async () => {
    const { ask, holding, request, stored, kit, tables } = startedLists();
    await holding(100);
    for (let n = 0; n < 64; n += 1) await ask('/f/claims', { count: 1, leaseSeconds: 60, claimId: `c${n}` });
    expect(await ask('/f/claims', { count: 1, leaseSeconds: 60, claimId: 'more' })).toMatchObject({
      jobs: jobsFrom(64, 1),
    });
    const list = await stored();
    const [more] = tables.listClaims.values();
    if (!list || !more) throw new Error('the claim has no row of its own');
    const apart = { count: 1_000, until: NOW + MINUTE };
    tables.fanOuts.set(list.id, { ...list, apart } as never);
    kit.lists.claimsApart = async () => Array(1_000).fill(more);
    const busy = await request('/f/claims', { count: 1, leaseSeconds: 60, claimId: 'late' });
    expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('content-type')]).toEqual([
      503,
      '1',
      'application/problem+json',
    ]);
    expect(await busy.json()).toMatchObject({
      title: 'Busy',
      detail: expect.stringMatching(
        /^list f: 1064 claims are under way.*groupage lists break.* with the same token or claimId$/,
      ),
    });
    expect(await ask('/f/claims', { count: 1, leaseSeconds: 60, claimId: 'c7' })).toMatchObject({
      jobs: jobsFrom(7, 1),
    });
  });

  it('is refused with all problems, and nothing is claimed', async () => {
    const { ask, holding } = startedLists();
    await holding(3);
    const count = { path: 'count', reason: 'must be a whole number from 1 to 1000' };
    const lease = { path: 'leaseSeconds', reason: 'must be a whole number from 1 to 43200' };
    const id = { path: 'claimId', reason: expect.stringContaining('1 to 64 characters') };
    const holder = { path: 'holder', reason: 'must be a text of 1 to 32 visible ASCII characters' };
    const one = { count: 1, leaseSeconds: 60 };
    for (const [body, ...errors] of [
      [{}, count, lease],
      [{ ...one, count: 0 }, count],
      [{ ...one, count: 1_001 }, count],
      [{ ...one, count: '1' }, count],
      [{ ...one, leaseSeconds: 0 }, lease],
      [{ ...one, leaseSeconds: 43_201 }, lease],
      [{ ...one, leaseSeconds: 0.5 }, lease],
      [{ ...one, claimId: '' }, id],
      [{ ...one, claimId: null }, id],
      [{ ...one, claimId: 'a'.repeat(65) }, id],
      [{ ...one, claimId: 'a.0.3.abcde' }, id],
      [{ ...one, claimId: 'a.0.abcdef' }, id],
      [{ ...one, holder: '' }, holder],
      [{ ...one, holder: 'x'.repeat(33) }, holder],
      [{ ...one, holder: ' x' }, holder],
      [{ ...one, holder: 'Zürich' }, holder],
      [{ ...one, holder: 'a\nb' }, holder],
      [{ ...one, holder: 7 }, holder],
      [
        { ...one, claimid: 'a' },
        { path: 'claimid', reason: 'is unknown; known are count, leaseSeconds, claimId, holder' },
      ],
    ] as const)
      expect([body, await ask('/f/claims', body)]).toMatchObject([body, { code: 400, errors }]);
    const other = { code: 409, detail: 'the claim belongs to another list than f' };
    expect(await ask('/f/claims', { ...one, claimId: 'a.0.3.abcdef' })).toMatchObject(other);
    expect(await ask('/f')).toMatchObject({ available: 3, leased: 0 });
  });
});

describe('a claim', () => {
  it('can be renewed, and completed in part', async () => {
    const { ask, mine, kit } = await claimed();
    kit.now += MINUTE / 2;
    expect(await ask(mine, { leaseSeconds: 60 }, 'PUT')).toEqual({
      code: 200,
      expiresAt: iso(NOW + 1.5 * MINUTE),
      availableAgainAt: iso(NOW + 2.5 * MINUTE),
    });
    expect(await ask(`${mine}/complete`, { jobs: [{ token: 3 }] })).toEqual({ code: 200, complete: false });
    expect(await ask('/f')).toMatchObject({ available: 15, leased: 9, done: 1, succeeded: 1 });
  });

  it('that is released makes its jobs available again', async () => {
    const { ask, mine } = await claimed();
    expect(await ask(`${mine}/release`, {})).toMatchObject({ code: 200, released: 10, failed: 0 });
    expect(await ask(`${mine}/release`, undefined, 'POST')).toMatchObject({ code: 200, released: 0, failed: 0 });
    expect(await ask('/f')).toMatchObject({ available: 25, leased: 0, done: 0, started: 0 });
  });

  it('that completes the last job completes the list, once', async () => {
    const { ask, mine, told } = await claimed(10, 10);
    expect(await ask(`${mine}/complete`, { jobs: jobsFrom(0, 9).map(({ token }) => ({ token })) })).toMatchObject({
      complete: false,
    });
    await ask('/f/seal', {});
    const last = { jobs: [{ token: 9, status: 'failed', error: { code: 'broken', message: 'It broke.' } }] };
    expect(await ask(`${mine}/complete`, last)).toEqual({ code: 200, complete: true });
    expect(await ask(`${mine}/complete`, last), 'again').toEqual({ code: 200, complete: true });
    expect(told()).toMatchObject([
      {
        id: `f.${NOW}.completed`,
        type: 'groupage.list.completed',
        data: { id: 'f', total: 10, succeeded: 9, failed: 1 },
      },
    ]);
    expect(await ask('/f')).toMatchObject({
      status: 'complete',
      available: 0,
      leased: 0,
      started: 0,
      done: 10,
      failed: 1,
      endedAt: iso(NOW),
    });
  });

  it('that was lost is answered 409, and its results do not count', async () => {
    const { ask, claim, mine, kit } = await claimed();
    kit.now += 2.5 * MINUTE;
    await claim({ count: 15 });
    expect(await claim({ claimId: 'other' })).toMatchObject({ jobs: jobsFrom(0, 6, 2) });
    const handle = mine.split('/').at(-1);
    const lost = {
      code: 409,
      detail: `claim "${handle}" does not have these jobs of list f: there is no such claim, or its jobs were released, have ended, or were claimed by another worker after its lease ended, or the claim was broken`,
    };
    expect(await ask(mine, { leaseSeconds: 60 }, 'PUT')).toMatchObject(lost);
    expect(await ask(`${mine}/complete`, {})).toMatchObject(lost);
    expect(await ask(`${mine}/complete`, { jobs: [{ token: 3 }] })).toMatchObject(lost);
    expect(await ask(`${mine}/release`, {})).toMatchObject({ code: 200, released: 0, failed: 0 });
    expect(await ask('/f')).toMatchObject({ leased: 21, done: 0 });
  });

  it('is addressed by its handle, in its own list', async () => {
    const { ask, holding, mine } = await claimed();
    await holding(25, {}, 'g');
    await ask('/g/claims', { count: 10, leaseSeconds: 60, claimId: 'mine' });
    const handle = mine.split('/').at(-1) as string;
    for (const [path, body, method] of [
      ['', { leaseSeconds: 60 }, 'PUT'],
      ['/complete', {}, 'POST'],
      ['/complete', { jobs: [{ token: 3 }] }, 'POST'],
      ['/release', {}, 'POST'],
    ] as const) {
      const detail = 'the claim belongs to another list than g';
      expect(await ask(`/g/claims/${handle}${path}`, body, method)).toMatchObject({ code: 409, detail });
      for (const none of [
        'mine.0.10',
        `${handle}x`,
        handle.replace('.0.10', '.00.10'),
        handle.replace('.0.10', '.0.0'),
        '%F0%9F%98%80',
      ])
        expect([none, await ask(`/f/claims/${none}${path}`, body, method)]).toMatchObject([
          none,
          { code: 404, detail: expect.stringMatching(/^list f has no claim ".*use the claimId/) },
        ]);
    }
    for (const id of ['f', 'g']) expect(await ask(`/${id}`)).toMatchObject({ leased: 10, done: 0 });
  });

  it('stays unchanged if it is renewed with an invalid body', async () => {
    const { ask, mine, kit } = await claimed();
    const lease = { path: 'leaseSeconds', reason: 'must be a whole number from 1 to 43200' };
    for (const [body, ...errors] of [
      [{}, lease],
      [{ leaseSeconds: 43_201 }, lease],
      [
        { leaseSeconds: 60, count: 1 },
        { path: 'count', reason: 'is unknown; known are leaseSeconds' },
      ],
    ] as const)
      expect(await ask(mine, body, 'PUT')).toMatchObject({ code: 400, errors });
    expect(await ask(`${mine}/release`, { jobs: [] })).toMatchObject({ code: 400, errors: [{ path: 'jobs' }] });
    kit.now += 2.5 * MINUTE;
    expect(await ask('/f')).toMatchObject({ available: 25 });
  });

  it('stays unchanged if it is completed with an invalid body', async () => {
    const { ask, claim, tables } = await claimed(10, 25);
    const { claimId } = await claim({ claimId: 'next' });
    const complete = (body: object) => ask(`/f/claims/${claimId}/complete`, body);
    const list = {
      path: 'jobs',
      reason: 'must be a list of 1 to 10 jobs, the number that the claim has; leave it out if all succeeded',
    };
    const token = (n: number) => ({
      path: `jobs[${n}].token`,
      reason: 'must be the token of a job of this claim: a whole number from 10 to 19',
    });
    const one = (fields: object, ...errors: readonly { path: string; reason?: unknown }[]) =>
      [
        { jobs: [{ token: 10, ...fields }] },
        ...errors.map(({ path, reason = expect.any(String) }) => ({ path: `jobs[0].${path}`, reason })),
      ] as const;
    const failed = { status: 'failed' };
    for (const [body, ...errors] of [
      [{ status: 'failed' }, { path: 'status', reason: 'is unknown; known are jobs' }],
      [{ jobs: null }, list],
      [{ jobs: [] }, list],
      [{ jobs: Array.from({ length: 11 }, (_, n) => ({ token: 10 + n })), more: 1 }, { path: 'more' }, list],
      [
        { jobs: [{ token: 9 }, { token: 20 }, { token: '10' }, {}, 10, { token: 10.5 }] },
        token(0),
        token(1),
        token(2),
        token(3),
        { path: 'jobs[4]' },
        token(5),
      ],
      [
        { jobs: [{ token: 10 }, { token: 11 }, { token: 10 }] },
        { path: 'jobs[2].token', reason: 'is also the token of jobs[0]: list each job once' },
      ],
      one(
        { status: 'lost', by: 'me' },
        { path: 'by', reason: 'is unknown; known are token, status, result, error' },
        { path: 'status' },
      ),
      one(
        { ...failed, result: 1 },
        { path: 'result', reason: 'is allowed only with "status": "succeeded": a failed job has an error' },
      ),
      one({ error: { code: 'c', message: 'm' } }, { path: 'error', reason: 'is allowed only with "status": "failed"' }),
      one({ ...failed, error: 'broken' }, { path: 'error', reason: 'must be {"code": "…", "message": "…"}' }),
      one({ ...failed, error: {} }, { path: 'error.code' }, { path: 'error.message' }),
      one(
        { ...failed, error: { code: '', message: 'x'.repeat(4_097), at: 1 } },
        { path: 'error.at' },
        { path: 'error.code' },
        { path: 'error.message' },
      ),
      one(
        { result: 'x'.repeat(262_143) },
        { path: 'result', reason: expect.stringMatching(/^has 262145 bytes; at most 262144/) },
      ),
    ])
      expect([body, await complete(body)]).toMatchObject([body, { code: 400, errors }]);
    expect(await ask('/f')).toMatchObject({ leased: 20, done: 0 });
    expect(tables.listResults.size).toBe(0);
  });
});
