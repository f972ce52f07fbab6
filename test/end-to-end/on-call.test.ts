/** The questions of a person on call, through the whole flow and with the real permissions of each function. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

/** All pages of a list. The stack may be shared, so there may be rows that this file did not create. */
const all = async (key: 'tasks' | 'fanOuts' | 'lists', path: string): Promise<{ id: string }[]> => {
  const found: { id: string }[] = [];
  for (let cursor = ''; ; ) {
    const page = (await flow.get(`${path}&limit=2${cursor}`)) as Record<typeof key, { id: string }[]>;
    found.push(...page[key]);
    const { cursor: next } = page as { cursor?: string };
    if (next === undefined) return found;
    cursor = `&${new URLSearchParams({ cursor: next })}`;
  }
};

describe('Targets', () => {
  it('are found by a prefix of their values', async () => {
    await flow.ended(await flow.send([{ depot: 'searched-1' }, { depot: 'searched-2' }]));
    const { targets } = await flow.get('/targets?operation=ship&prefix=depot%3Dsearched-');
    expect(targets).toMatchObject(['searched-1', 'searched-2'].map((depot) => ({ target: flow.target(depot) })));
  });
});

describe('failed tasks', () => {
  it('are found across Targets by their cause, and are redriven as a group', async () => {
    flow.downstream.behave(({ target }) =>
      target.includes('failing') ? { status: 422, body: { error: `no room in ${target}` } } : { status: 200 },
    );
    const sent = await flow.send([{ depot: 'failing-1' }, { depot: 'failing-2' }]);
    await flow.ended(sent);
    // The index is eventually consistent.
    const group = await eventually(async () => {
      const { groups } = (await flow.get('/failures?operation=ship')) as { groups: { ids: string[]; tasks: number }[] };
      return groups.find(({ ids, tasks }) => tasks === 2 && sent.every((id) => ids.includes(id)));
    });
    expect(group).toMatchObject({
      code: 'refused',
      cause: 'answered 422: {"error":"no room in …"}',
      message: expect.stringContaining('failing-'),
      targets: 2,
    });
    expect((await all('tasks', '/tasks?status=failed')).map(({ id }) => id)).toEqual(expect.arrayContaining(sent));
    flow.downstream.behave(() => ({ status: 200 }));
    const body = JSON.stringify({ ids: group.ids });
    expect((await flow.backend.api('/tasks/redrive', { method: 'POST', body })).status).toBe(202);
    await eventually(async () => {
      const { groups } = (await flow.get('/failures')) as { groups: { ids: string[] }[] };
      return !groups.some(({ ids }) => ids.some((id) => sent.includes(id)));
    });
  });
});

describe('a task between two attempts', () => {
  it("shows the downstream's last answer, and so does its batch", async () => {
    let answers = 0;
    flow.downstream.behave(({ target }) => {
      if (!target.includes('later')) return { status: 200 };
      answers += 1;
      return answers === 1 ? { status: 503, body: 'no room', headers: { 'retry-after': '3' } } : { status: 200 };
    });
    const [id = ''] = await flow.send([{ depot: 'later' }]);
    const reason = 'answered 503: no room';
    const task = await eventually(async () => {
      const found = await flow.task(id);
      return found?.lastReason === undefined ? undefined : found;
    });
    expect(task).toMatchObject({ status: 'in-progress', lastReason: reason });
    const [ended] = await flow.ended([id]);
    expect(ended).not.toHaveProperty('lastReason');
    // The handler writes the results of the tasks first, and the end of the batch after them.
    const batch = await eventually(async () => {
      const found = await flow.batch(ended?.batchId);
      return found?.status === 'succeeded' ? found : undefined;
    });
    expect(batch).toMatchObject({ lastAttempt: { endedAt: expect.any(String), reason } });
  });
});

describe('fan-outs and lists', () => {
  it('are listed page by page, each kind apart; invalid cursors answer 400', async () => {
    const open = (path: string, body: object) => flow.backend.api(path, { method: 'POST', body: JSON.stringify(body) });
    for (const n of [1, 2, 3]) {
      await open('/fan-outs', { id: `on-call-${n}`, userKey: `key-${n}` });
      await open('/lists', { id: `on-call-${n}`, name: `name-${n}` });
    }
    const listed = async (key: 'fanOuts' | 'lists', path: string) =>
      (await all(key, path)).filter(({ id }) => id.startsWith('on-call-')).toSorted((a, b) => a.id.localeCompare(b.id));
    const shared = { status: 'open', total: 0, createdAt: expect.any(String) };
    await expect
      .poll(() => listed('fanOuts', '/fan-outs?'), { timeout: 60_000 })
      .toEqual([1, 2, 3].map((n) => ({ id: `on-call-${n}`, ...shared, userKey: `key-${n}` })));
    await expect
      .poll(() => listed('lists', '/lists?'), { timeout: 60_000 })
      .toEqual([1, 2, 3].map((n) => ({ id: `on-call-${n}`, ...shared, name: `name-${n}` })));
    for (const path of ['/fan-outs', '/lists'])
      for (const cursor of ['x', '', '.', 'e30', btoa('{"Id":"a","Patrol":"patrol-9","CheckAt":1}')])
        expect((await flow.backend.api(`${path}?cursor=${cursor}`)).status, `${path} ${cursor}`).toBe(400);
  });
});

describe('an answer of the API', () => {
  it('has a header with the read units that it consumed', async () => {
    const { headers } = await flow.backend.api('/tasks/nobody');
    expect(Number(headers.get('groupage-read-units'))).toBeGreaterThan(0);
    expect((await flow.backend.api('/queues')).headers.get('groupage-read-units')).toBe('0');
  });
});

describe('the queues', () => {
  it('are listed in one answer, each with its counts', async () => {
    await flow.ended(await flow.send([{ depot: 'queues' }]));
    const { queues, rejected } = (await flow.get('/queues')) as { queues: { queue: string }[]; rejected: number };
    expect(queues.map(({ queue }) => queue)).toEqual(['register', 'elect', 'group', 'batch', 'callback']);
    const counts = { waiting: expect.any(Number), inFlight: expect.any(Number), delayed: expect.any(Number) };
    for (const each of queues) expect(each).toEqual({ queue: each.queue, ...counts, deadLetters: expect.any(Number) });
    expect(rejected).toEqual(expect.any(Number));
  });
});
