/** The audit trail of the API: what is recorded, in which order, and what is not. */
import { beforeEach, describe, expect, it } from 'vitest';
import { lazyApi } from '../../src/api/lazy.ts';
import type { ApiDeps } from '../../src/api/shared/deps.ts';
import { ACTIONS } from '../../src/domain/audit/entry.ts';
import { CALLS } from '../../tools/contract/openapi.ts';
import { aConfig } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

const SESSION = 'arn:aws:sts::111122223333:assumed-role/OnCall/anna';
const IAM = {
  authorizer: { iam: { userArn: SESSION, callerId: 'AROAEXAMPLE:anna' } },
  http: { sourceIp: '192.0.2.1', userAgent: 'groupage' },
};

let kit: StepKit;
let failures: unknown[];
const ask = async (
  method: string,
  path: string,
  body?: object,
  change: Partial<ApiDeps> = {},
): Promise<Record<string, unknown>> => {
  const app = lazyApi({ ...kit, newId: () => 'new', onError: (cause) => failures.push(cause), ...change });
  const init = { method, ...(body ? { body: JSON.stringify(body) } : {}) };
  const answer = await app.request(`/v1${path}`, init, { event: { requestContext: IAM } });
  const json = (await answer.json()) as Record<string, unknown>;
  return { ...json, status: answer.status };
};
const entries = async (query = '') => (await ask('GET', `/audit${query}`)).entries as Record<string, unknown>[];

beforeEach(async () => {
  kit = stepKit(memoryStores(), aConfig());
  failures = [];
});

describe('an action', () => {
  it('is recorded with its caller, its reason and its outcome', async () => {
    await ask('POST', '/operations/ship/resume?reason=the%20depot%20is%20open');
    expect(await entries()).toEqual([
      {
        at: new Date(kit.now).toISOString(),
        id: 'token-1',
        action: 'resume',
        subject: { operation: 'ship' },
        actor: { id: 'AROAEXAMPLE', name: 'OnCall', arn: SESSION, from: '192.0.2.1', userAgent: 'groupage' },
        reason: 'the depot is open',
        outcome: 'done',
        status: 200,
      },
    ]);
  });

  it('of a pause has the reason of its body', async () => {
    await ask('POST', '/operations/ship/pause', { reason: 'the depot moves' });
    expect(await entries()).toMatchObject([{ action: 'pause', reason: 'the depot moves', outcome: 'done' }]);
    expect(await ask('POST', '/operations/ship/pause?reason=x')).toMatchObject({ status: 400 });
  });

  it.each<[string, string, object | undefined, string, object]>([
    ['POST', '/tasks/redrive', { ids: ['a', 'b'] }, 'redrive', { tasks: 'a, b' }],
    [
      'POST',
      '/tasks/redrive',
      { ids: Array.from('abcdefghijkl') },
      'redrive',
      { tasks: 'a, b, c, d, e, f, g, h, i, j and 2 more' },
    ],
    ['POST', '/tasks/redrive', { target: 'ship/depot=MUC' }, 'redrive', { target: 'ship/depot=MUC' }],
    ['DELETE', '/tasks/order-7', undefined, 'cancel', { task: 'order-7' }],
    ['POST', '/batches/ship%2Fa%231%231/complete', {}, 'complete', { batch: 'ship/a#1#1' }],
    ['POST', '/targets/flush', { target: 'ship/depot=MUC' }, 'flush', { target: 'ship/depot=MUC' }],
    [
      'POST',
      '/operations/ship/pause',
      { target: 'ship/depot=MUC' },
      'pause',
      { operation: 'ship', target: 'ship/depot=MUC' },
    ],
    ['POST', '/dead-letters/register/redrive', {}, 'redrive', { queue: 'register' }],
    ['POST', '/doctor/targets', undefined, 'repair', {}],
    ['POST', '/doctor/targets?operation=ship&limit=5', undefined, 'repair', { operation: 'ship' }],
    ['POST', '/doctor/batches?target=ship%2Fdepot=MUC', undefined, 'repair', { target: 'ship/depot=MUC' }],
    ['DELETE', '/fan-outs/f', undefined, 'delete', { fanOut: 'f' }],
    ['DELETE', '/lists/l', undefined, 'delete', { list: 'l' }],
    ['POST', '/lists/l/cancel', undefined, 'cancel', { list: 'l' }],
    ['DELETE', '/lists/l/claims/worker-3', undefined, 'break', { list: 'l', claim: 'worker-3' }],
    ['POST', '/fleets/f/separate-checkpoints', undefined, 'separate', { fleet: 'f' }],
    ['POST', '/fleets/f/nodes/n/drain', { draining: false }, 'drain', { fleet: 'f', node: 'n', draining: 'false' }],
    ['POST', '/fleets/f/partitions/p/move', { to: null }, 'move', { fleet: 'f', partition: 'p', to: 'any node' }],
  ])('%s %s %o is recorded as %s of %o', async (method, path, body, action, subject) => {
    await ask(method, path, body);
    expect((await entries()).map((each) => [each.action, each.subject])).toEqual([[action, subject]]);
  });

  it('has an entry before it does anything', async () => {
    let before: Record<string, unknown>[] = [];
    const pause: StepKit['operations']['pause'] = async (...args) => {
      before = await entries();
      return kit.operations.pause(...args);
    };
    await ask('POST', '/operations/ship/pause', {}, { operations: { ...kit.operations, pause } });
    expect(before).toMatchObject([{ action: 'pause', outcome: 'unknown' }]);
    expect(before[0]).not.toHaveProperty('status');
    expect(await entries()).toMatchObject([{ action: 'pause', outcome: 'done' }]);
  });

  it('is not taken if its entry cannot be stored', async () => {
    const audit = { ...kit.audit, begin: () => Promise.reject(new Error('no table')) };
    expect(await ask('POST', '/operations/ship/pause', {}, { audit })).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/^the audit trail could not be written, so nothing was done/),
    });
    expect((await kit.operations.read('ship' as never)).paused).toBeUndefined();
    expect(failures).toEqual([new Error('no table')]);
  });

  it('has an unknown outcome if that could not be stored, and its answer stands', async () => {
    const audit = { ...kit.audit, end: () => Promise.reject(new Error('throttled')) };
    expect((await ask('POST', '/operations/ship/pause', {}, { audit })).status).toBe(200);
    expect(await entries()).toMatchObject([{ action: 'pause', outcome: 'unknown' }]);
    expect(failures).toEqual([new Error('throttled')]);
  });

  it('that was refused or failed says so', async () => {
    await ask('POST', '/targets/flush', { target: 7, reason: 8 });
    expect(await entries()).toMatchObject([{ action: 'flush', subject: {}, outcome: 'refused', status: 400 }]);
    kit.now += 1;
    await ask('DELETE', '/tasks/unknown');
    const tasks = { ...kit.tasks, get: () => Promise.reject(new Error('broken')) };
    kit.now += 1;
    await ask('DELETE', '/tasks/broken', undefined, { tasks });
    expect((await entries()).map(({ outcome, status }) => [outcome, status])).toEqual([
      ['failed', 500],
      ['refused', 404],
      ['refused', 400],
    ]);
  });
});

describe('nothing is recorded', () => {
  it.each<[string, string, string, object?]>([
    ['of a dry run', 'POST', '/tasks/redrive', { ids: ['a'], dryRun: true }],
    ['of a dry run of dead letters', 'POST', '/dead-letters/register/redrive', { dryRun: true }],
    ['of a reason with a line break', 'DELETE', '/tasks/a?reason=a%0Ab'],
    ['of a reason that is too long', 'DELETE', `/tasks/a?reason=${'x'.repeat(201)}`],
    ['of an empty reason', 'DELETE', '/tasks/a?reason='],
    ['of a service that sends tasks', 'POST', '/tasks', { operation: 'ship', payload: { depot: 'MUC' } }],
    ['of a service that opens a fan-out', 'POST', '/fan-outs', {}],
    ['of a read', 'GET', '/doctor/targets'],
  ])('%s', async (_, method, path, body) => {
    await ask(method, path, body);
    expect(await entries()).toEqual([]);
  });

  it('of a caller whose right is too small', async () => {
    const limits = new Map([['111122223333:role/oncall', 'read' as const]]);
    expect((await ask('POST', '/operations/ship/pause', {}, { limits })).status).toBe(403);
    expect(await entries()).toEqual([]);
  });
});

it('every call of the right operate is recorded, except seals', () => {
  const unrecorded = CALLS.filter(({ right, audit }) => right === 'operate' && !audit).map(({ id }) => id);
  // A service seals each fan-out and list that it has filled.
  expect(unrecorded).toEqual(['sealFanOut', 'sealList']);
  expect(CALLS.filter(({ right, audit }) => right !== 'operate' && audit)).toEqual([]);
  expect(new Set(CALLS.flatMap(({ audit }) => audit ?? []))).toEqual(new Set(Object.keys(ACTIONS)));
});

describe('the list', () => {
  it('begins with the newest entry, in pages, and by day', async () => {
    for (const [name, at] of [
      ['one', '2026-11-26T23:59:59Z'],
      ['two', '2026-11-27T00:00:00Z'],
      ['three', '2026-11-27T09:00:00Z'],
    ] as const) {
      kit.now = Date.parse(at);
      await ask('DELETE', `/tasks/${name}`);
    }
    const tasksOf = (page: Record<string, unknown>) =>
      (page.entries as { subject: { task: string } }[]).map(({ subject }) => subject.task);
    const first = await ask('GET', '/audit?limit=2');
    expect(tasksOf(first)).toEqual(['three', 'two']);
    const second = await ask('GET', `/audit?limit=2&cursor=${encodeURIComponent(String(first.cursor))}`);
    expect([tasksOf(second), second.cursor]).toEqual([['one'], undefined]);
    expect(tasksOf(await ask('GET', '/audit?day=2026-11-26'))).toEqual(['one']);
    for (const query of ['day=2026-02-30', 'day=today', 'day=', 'limit=0', 'cursor=x', 'odd=1'])
      expect([query, (await ask('GET', `/audit?${query}`)).status]).toEqual([query, 400]);
  });

  it('shows subjects of 600 bytes at most, and no long text hides a short one', async () => {
    const wide = '€'.repeat(600);
    const path = `/fleets/${encodeURIComponent(wide)}/partitions/${encodeURIComponent(wide)}/move`;
    await ask('POST', path, { to: 'node-7', target: 7, operation: [wide], ids: [wide, { wide }] });
    const [entry] = (await entries()) as { subject: Record<string, string> }[];
    expect(entry?.subject).toEqual({
      to: 'node-7',
      fleet: '€'.repeat(66),
      partition: '€'.repeat(66),
      tasks: '€'.repeat(66),
    });
  });

  it('shows long subjects cut', async () => {
    await ask('DELETE', `/tasks/${'x'.repeat(2_000)}`);
    const [entry] = (await entries()) as { subject: { task: string } }[];
    expect(entry?.subject.task).toBe('x'.repeat(600));
  });
});
