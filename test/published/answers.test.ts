/** Every route of the API, asked for real: what it answers, well or with a problem, is as it is described. */
import { beforeAll, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { completeBatch } from '../../src/batching/complete-batch.ts';
import { electLeader } from '../../src/batching/elect-leader.ts';
import { finishBatch } from '../../src/batching/finish-batch.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import { batchIdOf } from '../../src/batching/ids.ts';
import { register } from '../../src/batching/register.ts';
import { type Config, UnknownOperation } from '../../src/config/resolved.ts';
import { FanOutBusy } from '../../src/fan-out/add-items.ts';
import { PLENTY, type StepKit, stepKit } from '../batching/step-kit.ts';
import { letter } from '../batching/step-suite.ts';
import { memoryStores } from '../contract/stores.ts';
import { aConfig, aPolicy, aRetry, NOW, operationName, target } from '../factories/factories.ts';
import { aNode, fleet, nodeOf, partition } from '../factories/fleets.ts';
import { committed } from './ajv.ts';
import { asDescribed, described, describedRoutes, routesWith } from './documented-api.ts';

const config: Config = {
  ...aConfig(
    {
      batch: aPolicy({ maxSize: 4, maxWait: 60_000 }),
      concurrency: { perTarget: 2, total: 1 },
      retry: aRetry({ immediate: 0 }),
    },
    { operation: operationName('broken'), circuit: { failures: 1, coolDown: 30_000 }, retry: aRetry({ immediate: 0 }) },
  ),
  destinations: { ops: { kind: 'queue', name: 'ops' } },
};
const MUC = 'ship/depot=MUC';
const F = fleet('flights');

/** An API on stores in memory, each of whose answers is held to its description. */
const started = (deps: (kit: StepKit) => Partial<Parameters<typeof api>[0]> = () => ({})) => {
  const kit = stepKit(memoryStores(), config);
  let made = 0;
  const newId = () => {
    made += 1;
    return `new-${made}`;
  };
  const app = api({ ...kit, newId, onError: () => {}, openApi: () => committed('openapi.json'), ...deps(kit) });
  const ask = async (route: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers, ...(text === undefined ? {} : { body: text }) };
    const response = await app.request(`http://api.example/v1${path}`, init);
    const type = response.headers.get('content-type');
    const exchange = {
      method,
      path: `/v1${path}`,
      body: text,
      status: response.status,
      type,
      text: await response.text(),
    };
    seen.add(`${asDescribed(exchange)} ${response.status}`);
    return { status: response.status, ...JSON.parse(exchange.text) };
  };
  /** Sends tasks, and registers them. */
  const send = async (...tasks: readonly object[]) => {
    const { status } = await ask('POST /tasks', {
      tasks: tasks.map((task) => ({ operation: 'ship', payload: { depot: 'MUC' }, ...task })),
    });
    const bodies = kit.sent.registered.splice(0);
    await register(
      kit,
      bodies.map((body, n) => ({ messageId: `message-${n}`, body })),
    );
    return status;
  };
  /** Seals what waits in a Target as its leader's `round`-th batch. */
  const seal = async (where: string, round = 1) => {
    await electLeader(kit, { target: target(where) });
    const batch = batchIdOf(target(where), 1, round);
    await finishBatch(kit, target(where), batch);
    return batch;
  };
  return { kit, ask, send, seal };
};

const seen = new Set<string>();
const part = encodeURIComponent;

beforeAll(async () => {
  await tasksAndBatches();
  await operationsAndTargets();
  await queuesAndDoctor();
  await fanOuts();
  await lists();
  await fleets();
});

const tasksAndBatches = async () => {
  const { kit, ask, send, seal } = started();
  expect(await ask('POST /tasks', { operation: 'ship', payload: { depot: 'MUC' }, id: 'one' })).toEqual({
    status: 202,
    ids: ['one'],
  });
  kit.sent.registered.length = 0;
  const wishes = {
    correlationId: 'c',
    priority: 3,
    weight: 2,
    coalesceKey: 'k',
    expiresIn: '10m',
    callback: 'ops',
    fanOutItem: 'f:0:1',
  };
  await send({ id: 'a', ...wishes }, { id: 'b' }, { id: 'c' }, { id: 'd', payload: { depot: 'BER' } });
  await ask('GET /tasks/a');
  await ask(`GET /tasks?target=${MUC}&limit=1`);
  await ask('DELETE /tasks/d');
  await ask('GET /tasks/d');
  const batch = await seal(MUC);
  await ask(`POST /batches/${part(batch)}/complete`, {});
  expect(await ask('DELETE /tasks/a')).toMatchObject({ status: 409 });
  kit.answers = [{ kind: 'unavailable', reason: 'answered 503', quote: 'busy', mayRetryAtOnce: false }];
  await handleBatch(kit, { batchId: batch }, PLENTY);
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 'in-progress', lastReason: 'answered 503: busy' });
  await ask(`GET /batches/${part(batch)}`);
  kit.now += 61_000;
  kit.answers = [{ kind: 'pending' }];
  await handleBatch(kit, { batchId: batch }, PLENTY);
  expect(await ask('GET /tasks/a')).toMatchObject({ waitsFor: { reason: 'job' } });
  await ask(`GET /batches/${part(batch)}`);
  const results = [
    { id: 'a', status: 'succeeded', result: { label: 1 } },
    { id: 'b', status: 'failed', error: { code: 'odd', message: 'task b is odd' } },
    { id: 'c', status: 'failed', error: 'no' },
  ];
  await ask(`POST /batches/${part(batch)}/complete`, { results });
  for (const message of kit.sent.batch.splice(0)) if ('results' in message) await completeBatch(kit, message, PLENTY);
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 'succeeded', result: { label: 1 } });
  expect(await ask('GET /tasks/b')).toMatchObject({ status: 'failed' });
  await ask(`GET /batches/${part(batch)}`);
  await ask(`GET /batches?target=${MUC}&limit=1`);
  expect((await ask('GET /tasks?status=failed&limit=1')).tasks).toHaveLength(1);
  expect((await ask('GET /failures')).groups.length).toBeGreaterThan(0);
  await ask('POST /tasks/redrive', { target: MUC, dryRun: true });
  await ask('POST /tasks/redrive', { ids: ['a', 'b', 'unknown'] });
  await ask('GET /tasks?target=ship/depot=HAM');
  await ask('GET /batches?target=ship/depot=HAM');
  await ask('POST /tasks/redrive', { target: 'ship/depot=HAM' });
};

const operationsAndTargets = async () => {
  const { kit, ask, send, seal } = started();
  await send({ id: 'a' }, { id: 'b', payload: { depot: 'BER' } });
  await ask('POST /targets/flush', { target: MUC });
  await seal(MUC);
  await kit.operations.takeSlot(operationName('ship'), `${MUC}#1#1` as never, 1);
  await kit.operations.enqueue(operationName('ship'), { target: target('ship/depot=BER'), at: NOW, fence: 0 });
  await ask('GET /targets?limit=1');
  await ask('GET /targets?operation=ship&prefix=depot');
  await ask('GET /operations/ship');
  await ask('POST /operations/ship/resume', {});
  await ask('POST /operations/ship/pause', { reason: 'a storm' });
  await ask('POST /operations/ship/pause', '');
  expect(await ask('GET /tasks/b')).toMatchObject({ waitsFor: { reason: 'operation-paused' } });
  await ask('POST /operations/ship/resume', '');
  await ask('POST /operations/ship/resume', { target: MUC });
  await ask('POST /operations/ship/pause', { target: MUC });
  await ask('GET /targets');
  await ask('POST /operations/ship/resume', { target: MUC });
  await kit.operations.pause(operationName('broken'), {
    id: 'p',
    by: 'circuit',
    since: NOW,
    until: NOW + 1,
    reason: 'answered 503',
  });
  await ask('GET /operations');
  await ask('POST /targets/flush', { target: 'ship/depot=HAM' });
  await ask('POST /operations/ship/pause', { target: 'ship/depot=HAM' });
  await ask('POST /operations/ship/resume', { target: 'ship/depot=HAM' });
  const gone = () => Promise.reject(new UnknownOperation('ship'));
  const unconfigured = started(({ locks }) => ({ locks: { ...locks, flush: gone } }));
  await unconfigured.send({ id: 'a' });
  await unconfigured.ask('POST /targets/flush', { target: MUC });
};

const queuesAndDoctor = async () => {
  const { kit, ask, send, seal } = started();
  kit.letters.batch = [letter('{}', 1), letter('{"b":"x"}', 2)];
  await ask('GET /queues');
  await ask('GET /dead-letters');
  await ask('POST /dead-letters/batch/redrive', { dryRun: true });
  await ask('POST /dead-letters/batch/redrive', '');
  await ask('POST /dead-letters/none/redrive', '');
  await send({ id: 'a' }, { id: 'b', payload: { depot: 'BER' } });
  await seal(MUC);
  kit.now += 86_400_000;
  expect((await ask('GET /doctor/targets')).findings.length).toBeGreaterThan(0);
  expect((await ask(`GET /doctor/batches?target=${MUC}`)).findings.length).toBeGreaterThan(0);
  await ask('POST /doctor/targets?limit=1', '');
  await ask('POST /doctor/targets', {});
  await ask(`POST /doctor/batches?target=${MUC}`, '');
};

const fanOuts = async () => {
  const { ask } = started();
  const opening = { id: 'f', userKey: 'k', callback: 'ops', failFast: { share: 0.5 } };
  await ask('POST /fan-outs', opening);
  await ask('POST /fan-outs', opening);
  await ask('POST /fan-outs', { id: 'f' });
  await ask('POST /fan-outs', '');
  await ask('POST /fan-outs/f/items', { count: 3, token: 't' });
  await ask('POST /fan-outs/f/items', { count: 4, token: 't' });
  await ask('POST /fan-outs/acks', { items: ['f:0:0', { item: 'f:0:1', outcome: 'failed' }, 'g:0:0'] });
  await ask('GET /fan-outs/f');
  await ask('GET /fan-outs/f/failed');
  await ask('POST /fan-outs/f/seal', '');
  expect(await ask('POST /fan-outs/acks', { items: [{ item: 'f:0:2' }] })).toMatchObject({
    fanOuts: [{ complete: true, userKey: 'k' }],
  });
  await ask('GET /fan-outs/f');
  await ask('GET /fan-outs?limit=1');
  await ask('DELETE /fan-outs/new-1');
  await ask('GET /fan-outs');
  await ask('POST /fan-outs/new-1/seal', {});
  const waiting = started(neverSent);
  await waiting.ask('POST /fan-outs', { id: 'f', callback: 'ops' });
  await waiting.ask('POST /fan-outs/f/seal', '');
  await waiting.ask('DELETE /fan-outs/f');
  const busy = started((kit) => ({
    fanOuts: { ...kit.fanOuts, reserve: () => Promise.reject(new FanOutBusy('f' as never)) },
  }));
  await busy.ask('POST /fan-outs', { id: 'f' });
  await busy.ask('POST /fan-outs/f/items', { count: 1 });
};

/** The event of an end stays on its way. */
const neverSent = (kit: StepKit) => ({ fanOuts: { ...kit.fanOuts, forgetEvent: async () => {} } });

const lists = async () => {
  const { ask } = started();
  const opening = { id: 'l', operation: 'ship', name: 'n', callback: 'ops' };
  await ask('POST /lists', opening);
  await ask('POST /lists', opening);
  await ask('POST /lists', { id: 'l' });
  const jobs = Array.from({ length: 9 }, (_, n) => ({ payload: { depot: 'MUC', n } }));
  await ask('POST /lists/l/jobs', { jobs, token: 't' });
  await ask('POST /lists/l/jobs', { jobs: jobs.slice(1), token: 't' });
  const { claimId } = await ask('POST /lists/l/claims', { count: 4, leaseSeconds: 60, claimId: 'mine' });
  const claim = `/lists/l/claims/${claimId}`;
  await ask(`PUT ${claim}`, { leaseSeconds: 90 });
  await ask(`POST ${claim}/complete`, {
    jobs: [
      { token: 0, result: [1] },
      { token: 1, status: 'failed', error: { code: 'c', message: 'm' } },
    ],
  });
  await ask('POST /lists/l/triggers', { count: 2, token: 'm' });
  await ask('POST /lists/l/triggers', { percent: 10 });
  await ask('GET /lists/l');
  await ask('GET /lists/l/jobs?from=0&limit=5');
  await ask('GET /lists/l/jobs');
  await ask(`POST ${claim}/release`, '');
  await ask(`PUT ${claim}`, { leaseSeconds: 90 });
  await ask(`POST ${claim}/complete`, '');
  await ask('POST /lists/l/seal', '');
  await ask('POST /lists', { id: 'other' });
  for (const [route, body] of [
    [`PUT /lists/other/claims/${claimId}`, { leaseSeconds: 1 }],
    [`POST /lists/other/claims/${claimId}/complete`, {}],
    [`POST /lists/other/claims/${claimId}/release`, {}],
  ] as const)
    expect(await ask(route, body)).toMatchObject({ status: 409 });
  expect(await ask('POST /lists/other/claims', { count: 1, leaseSeconds: 1 })).toMatchObject({
    jobs: [],
    status: 'open',
  });
  await ask('POST /lists/other/triggers', { count: 1 });
  await ask('POST /lists/other/cancel', '');
  await ask('POST /lists/other/seal', '');
  await ask('POST /lists/other/claims', { count: 1, leaseSeconds: 1 });
  await ask('GET /lists?limit=1');
  await ask('POST /lists', { id: 'empty', callback: 'ops' });
  await ask('POST /lists/empty/seal', '');
  await ask('POST /lists/empty/cancel', '');
  await ask('DELETE /lists/l');
  await ask('DELETE /lists/l');
  await ask('GET /lists');
  const waiting = started(neverSent);
  await waiting.ask('POST /lists', { id: 'l', callback: 'ops' });
  await waiting.ask('POST /lists/l/seal', '');
  await waiting.ask('DELETE /lists/l');
};

const fleets = async () => {
  const { kit, ask } = started();
  for (const key of ['a', 'b', 'b@2']) await kit.fleets.join(F, aNode({ key: nodeOf(key) }));
  await kit.fleets.take(F, { partition: partition('p'), fence: 0 }, nodeOf('a'), NOW);
  await ask('GET /fleets');
  await ask('GET /fleets/flights');
  await ask('POST /fleets/flights/nodes/a/drain', { draining: true });
  await ask('POST /fleets/flights/nodes/b/drain', { draining: true });
  await ask('POST /fleets/flights/partitions/p/move', { to: 'a' });
  await ask('POST /fleets/flights/partitions/p/move', { to: null });
  await ask('POST /fleets/flights/partitions/p/move', { to: 'b' });
  await ask('GET /openapi.json');
};

/** What others are asked for: 400 and 413 of every route, 500 and 503 of whoever fails. */
const ELSEWHERE = / (?:400|413|500|503)$/;

it('every route has answered well, and with each of its problems', async () => {
  const { ask } = started();
  // Where a name in the path is that of nothing.
  for (const [route, { requestBody }] of routesWith('404')) {
    const [media] = Object.values(requestBody?.content ?? {});
    const body = route.startsWith('GET') ? undefined : (media?.example ?? '');
    expect([route, await ask(route.replaceAll(/[{}]/g, ''), body)]).toEqual([
      route,
      expect.objectContaining({ status: 404 }),
    ]);
  }
  const all = described().map(({ operation, status }) => `${operation} ${status}`);
  expect(all.filter((each) => !ELSEWHERE.test(each) && !seen.has(each))).toEqual([]);
  expect(all.filter((each) => each.endsWith(' 503') && seen.has(each))).not.toEqual([]);
});

it('every route refuses what it does not know, and a body that is too large', async () => {
  const { ask } = started();
  for (const route of describedRoutes()) {
    const path = route.replace(' /v1', ' ').replaceAll(/[{}]/g, '');
    expect([route, await ask(`${path}?odd=1`)]).toEqual([route, expect.objectContaining({ status: 400 })]);
    if (/^(?:POST|PUT)/.test(route))
      expect([route, await ask(path, '{}', { 'content-length': '9000000' })]).toEqual([
        route,
        expect.objectContaining({ status: 413 }),
      ]);
  }
});

it('a failure of ours is a problem like any other', async () => {
  const { ask } = started((kit) => ({ tasks: { ...kit.tasks, get: () => Promise.reject(new Error('down')) } }));
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 500, title: 'Internal error' });
});

it('the description names the address at which it was asked for', async () => {
  const { servers, paths, status } = await started().ask('GET /openapi.json');
  expect([status, servers]).toEqual([200, [{ url: 'http://api.example/v1' }]]);
  expect(paths).toEqual(committed('openapi.json').paths);
});
