import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { whatFor } from '../../src/api/tasks/waits-for.ts';
import { type Lock, NO_LOCK } from '../../src/domain/batches/lock.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { LimitName } from '../../src/domain/ids.ts';
import { granted } from '../../src/domain/limits/bucket.ts';
import { bucketsOf, type Counted } from '../../src/domain/limits/limits.ts';
import { entryOf } from '../../src/domain/limits/queue.ts';
import { NEW_OPERATION, type OperationState, type Pause, slotOf } from '../../src/domain/operations/slots.ts';
import {
  aConfig,
  aPolicy,
  aPostponed,
  aStart,
  aTask,
  batchId,
  candidate,
  NOW,
  operationName,
  target,
  id as taskId,
  token,
} from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const since = '2026-01-01T00:00:00.000Z';
const pause: Pause = { id: 'p', by: 'person', since: NOW, reason: 'fog' };
const batch = batchId('ship/depot=MUC#1#1');
const caps = { batch: aPolicy({ maxWait: 1_000 }), concurrency: { perTarget: 1, total: 1 } };
const full = { ...NEW_OPERATION, inFlight: [slotOf(target('ship/depot=JFK'), 1, 1)], taken: 1 };
const empty = { ...NEW_OPERATION, taken: 0 };
const held = { ...NO_LOCK, holder: token('t'), lockedUntil: NOW + 45_000 };

it.each([
  [
    'an open circuit, until its next attempt',
    NO_LOCK,
    { ...empty, paused: { ...pause, by: 'circuit', until: NOW + 1_000, reason: 'answered 503' } },
    'circuit-open',
    `its operation, whose circuit is open since ${since} until 2026-01-01T00:00:01.000Z (answered 503)`,
  ],
  [
    'a pause of its operation, even if its Target is paused too',
    { ...NO_LOCK, paused: pause },
    { ...empty, paused: pause },
    'operation-paused',
    `its operation, paused since ${since} (fog)`,
  ],
  [
    'a pause of its Target',
    { ...held, paused: { ...pause, reason: undefined } },
    full,
    'target-paused',
    `its Target, paused since ${since}`,
  ],
  [
    'the open batch to be sealed',
    { ...held, openBatch: batch, inFlight: [batch] },
    full,
    'open-batch',
    `batch ${batch}`,
  ],
  [
    'a free slot of its Target',
    { ...held, inFlight: [batch] },
    full,
    'room-in-target',
    `1 of 1 batches are in progress (${batch})`,
  ],
  ['a free slot of its operation', { ...NO_LOCK, blocked: NOW }, full, 'room-in-operation', ': 1 of 1 slots are taken'],
  [
    'a slot that is free already',
    { ...NO_LOCK, blocked: NOW },
    empty,
    'room-in-operation',
    'a free slot of its operation',
  ],
  ['its batch to fill', held, full, 'batch-to-fill', '2026-01-01T00:00:01.000Z'],
  ['a leader', { ...held, lockedUntil: NOW - 1 }, full, 'leader', 'groupage doctor'],
] as const)('a waiting task shows that it waits for %s', (_, lock, state, reason, text) => {
  expect(whatFor(aTask(), caps, lock as Lock, state as OperationState & { taken: number }, NOW)).toEqual({
    reason,
    text: expect.stringContaining(text),
  });
});

it('a task in a batch shows that it waits for its pending job, or for the end of a pause', async () => {
  const kit = stepKit(await memoryStores());
  const app = api({ ...kit, newId: () => 'new', onError: console.error });
  const ask = async (id: string) => (await (await app.request(`/v1/tasks/${id}`)).json()) as Record<string, unknown>;
  const members = [candidate('task-1'), candidate('task-2')];
  const task = aTask();
  await kit.tasks.insert([task, aTask({ id: taskId('task-2') })]);
  const forming = {
    id: batch,
    target: task.target,
    sealedBy: 'waited',
    candidates: members,
    oldestAt: NOW,
    createdAt: NOW,
  } as const;
  await kit.tasks.claim(members, batch);
  await kit.batches.seal(await kit.batches.form(forming), [], NOW, 1_000);
  expect(await ask('task-1')).not.toHaveProperty('waitsFor');
  const circuit = { ...pause, by: 'circuit', until: NOW + 30_000, reason: 'answered 503' } as const;
  await kit.operations.pause(task.operation, circuit);
  expect(await ask('task-1')).toMatchObject({ status: 'batched', waitsFor: { reason: 'circuit-open' } });
  await kit.batches.start(batch, aStart(1, NOW, NOW + 60_000));
  expect(await ask('task-1')).not.toHaveProperty('waitsFor');
  const pending = { ids: [task.id], until: NOW + 90_000 };
  await kit.batches.postpone(batch, 1, aPostponed(NOW + 50, { open: [taskId('task-2')], pending }));
  expect(await ask('task-1')).toMatchObject({
    status: 'in-progress',
    waitsFor: { reason: 'job', text: expect.stringContaining('2026-01-01T00:01:30.000Z') },
  });
  expect(await ask('task-2')).toMatchObject({ status: 'in-progress', waitsFor: { reason: 'circuit-open' } });
  kit.now = NOW + 30_000;
  expect(await ask('task-2')).not.toHaveProperty('waitsFor');
  await kit.locks.pause(task.target, pause);
  expect(await ask('task-2')).toMatchObject({ waitsFor: { reason: 'target-paused' } });
});

it('a task waits for a free slot of its operation if its batch gave up its slot', async () => {
  const kit = stepKit(await memoryStores(), aConfig({ concurrency: { perTarget: null, total: 1 } }));
  const app = api({ ...kit, newId: () => 'new', onError: console.error });
  const ask = async () => (await (await app.request('/v1/tasks/task-1')).json()) as Record<string, unknown>;
  const task = aTask();
  const members = [candidate('task-1')];
  const forming = {
    target: task.target,
    sealedBy: 'waited',
    candidates: members,
    oldestAt: NOW,
    createdAt: NOW,
  } as const;
  await kit.tasks.insert([task]);
  await kit.tasks.claim(members, batch);
  await kit.batches.seal(await kit.batches.form({ id: batch, ...forming }), [], NOW, 1_000);
  const slot = slotOf(task.target, 1, 1);
  await kit.operations.takeSlot(task.operation, slot, 1);
  expect(await ask()).not.toHaveProperty('waitsFor');
  await kit.operations.freeSlot(task.operation, slot);
  await kit.operations.takeSlot(task.operation, slotOf(target('ship/depot=JFK'), 1, 1), 1);
  expect(await ask()).toMatchObject({
    status: 'batched',
    waitsFor: { reason: 'room-in-operation', text: expect.stringContaining('1 of 1 slots are taken') },
  });
});

it('a task waits for a limit, for about as long as the calls before its own take', async () => {
  const vendor = {
    calls: 1,
    weight: null,
    per: 10_000,
    burst: 1,
    key: ['depot'],
    concurrency: { calls: null, weight: null },
  };
  const limited = { ...aConfig({ limits: ['vendor' as LimitName] }), limits: { vendor } };
  const kit = stepKit(await memoryStores(), limited);
  const app = api({ ...kit, newId: () => 'new', onError: console.error });
  const ask = async (id: string) => (await (await app.request(`/v1/tasks/${id}`)).json()) as Record<string, unknown>;
  const task = { ...aTask(), run: 1, payloadApart: false, state: { status: 'created' } } as const;
  const [own] = bucketsOf(limited, operationFor(limited, task.operation), task.target) as [Counted];
  await kit.tasks.insert([task]);
  await kit.waiting.put([task]);
  await kit.locks.acquire(task.target, {
    token: token('t'),
    fence: 1,
    seen: { fence: 0 },
    now: NOW,
    until: NOW + 900_000,
  });
  const row = { operation: task.operation, target: task.target, since: NOW, weight: 1 };
  const another = { ...row, batch: { id: batchId('ship/depot=MUC#0#1'), attempt: 1 } };
  await kit.buckets.enqueue(own.bucket, { ...another, entry: entryOf('again', 1, NOW, token('a')) });
  await kit.buckets.enqueue(own.bucket, {
    ...row,
    entry: entryOf('fresh', 1, NOW, token('b')),
    leader: { token: token('t'), round: 1 },
  });
  expect(await ask('task-1')).toMatchObject({
    status: 'created',
    waitsFor: {
      reason: 'limit',
      limit: 'vendor',
      text: 'the limit vendor (depot=MUC): its next call may start in about 11 s, after 1 other call',
    },
  });
  // Both have left the queue, and were promised a start.
  const seen = await kit.buckets.read(own.bucket);
  const asked = { bucket: own.bucket, allows: own.allows, weight: 1 };
  const { line } = granted(seen, asked, NOW + 30_000, { id: '', until: NOW }, NOW).bucket;
  const passed = { again: 'a~', fresh: 'f~' };
  await kit.buckets.write(own.bucket, seen.turn, { ...seen, ...(line ? { line } : {}), passed });
  expect(await ask('task-1')).toMatchObject({ waitsFor: { reason: 'batch-to-fill' } });
  kit.now += 5_000;
  expect(await ask('task-1')).toMatchObject({
    waitsFor: {
      reason: 'limit',
      limit: 'vendor',
      text: expect.stringMatching(
        /^the limit vendor \(depot=MUC\): the start of its call is reserved, in at most \d+ s$/,
      ),
    },
  });
});

it('waitsFor is shown for a single task, and only while it waits', async () => {
  const kit = stepKit(await memoryStores());
  const ask = async (path: string, config = kit.config) => {
    const app = api({ ...kit, config, newId: () => 'new', onError: console.error });
    return (await (await app.request(`/v1${path}`)).json()) as Record<string, unknown>;
  };
  const task = { ...aTask(), run: 1, payloadApart: false, state: { status: 'created' } } as const;
  await kit.tasks.insert([task]);
  await kit.waiting.put([task]);
  await kit.locks.pause(task.target, pause);
  expect(await ask('/tasks/task-1')).toMatchObject({ waitsFor: { reason: 'target-paused' } });
  expect(await ask('/tasks/task-1', aConfig({ operation: operationName('parcels') }))).toMatchObject({
    waitsFor: { reason: 'operation-unknown', text: expect.stringContaining('"ship"') },
  });
  const { tasks } = (await ask(`/tasks?target=${task.target}`)) as { tasks: object[] };
  expect(tasks).toHaveLength(1);
  expect(tasks[0]).not.toHaveProperty('waitsFor');
  await kit.tasks.claim([candidate('task-1')], batch);
  expect(await ask('/tasks/task-1')).not.toHaveProperty('waitsFor');
});
