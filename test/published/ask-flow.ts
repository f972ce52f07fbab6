/** Calls every route of tasks, batches, Targets, operations and queues. */
import { expect } from 'vitest';
import { UnknownOperation } from '../../src/domain/config/resolved.ts';
import { NEW_BUCKET } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { completeBatch } from '../../src/steps/call/complete-batch.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { batchId, NOW, operationName, target } from '../factories/factories.ts';
import { PLENTY } from '../steps/step-kit.ts';
import { deadLetter, refused } from '../steps/step-suite.ts';
import { MUC, started } from './asked-api.ts';

const part = encodeURIComponent;

export const tasksAndBatches = async () => {
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
  kit.mode = 'enforce';
  expect(await ask('POST /tasks', { operation: 'ship', payload: { depot: 'MUC' }, fanOutItem: 'f:0:1' })).toMatchObject(
    { status: 403 },
  );
  kit.mode = 'warn';
  await ask('GET /tasks/a');
  await ask(`GET /tasks?target=${MUC}&limit=1`);
  await ask('DELETE /tasks/d');
  await ask('GET /tasks/d');
  const batch = await seal(MUC);
  await ask(`POST /batches/${part(batch)}/complete`, {});
  expect(await ask('DELETE /tasks/a')).toMatchObject({ status: 409 });
  kit.answers = [{ kind: 'unavailable', reason: 'answered 503', quote: 'busy', mayRetryAtOnce: false }];
  await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 'in-progress', lastReason: 'answered 503: busy' });
  await ask(`GET /batches/${part(batch)}`);
  kit.now += 61_000;
  kit.answers = [{ kind: 'pending' }];
  await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
  expect(await ask('GET /tasks/a')).toMatchObject({ waitsFor: { reason: 'job' } });
  await ask(`GET /batches/${part(batch)}`);
  const results = [
    { id: 'a', status: 'succeeded', result: { label: 1 } },
    { id: 'b', status: 'failed', error: { code: 'odd', message: 'task b is odd' } },
    { id: 'c', status: 'failed', error: ['no'] },
  ];
  await ask(`POST /batches/${part(batch)}/complete`, { results });
  for (const message of kit.sent.batch.splice(0))
    if (message.kind === 'completion') await completeBatch(kit, message, PLENTY);
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

export const operationsAndTargets = async () => {
  const { kit, ask, send, seal } = started();
  await send({ id: 'a' }, { id: 'b', payload: { depot: 'BER' } });
  await ask('POST /targets/flush', { target: MUC });
  await seal(MUC);
  await kit.operations.takeSlot(operationName('ship'), `${MUC}#1#1` as never, 1);
  await kit.operations.enqueue(operationName('ship'), { target: target('ship/depot=BER'), at: NOW, fence: 0 });
  await ask('GET /targets?limit=1');
  await ask('GET /targets?operation=ship&prefix=depot');
  await ask('GET /operations/ship');
  await ask('GET /operations/ship/configuration');
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

export const limits = async () => {
  const { kit, ask } = started();
  const [bucket, full] = ['limit:vendor#depot=MUC', 'limit:vendor#depot=BER'] as [BucketId, BucketId];
  const lease = { id: 'lease', weight: 40, until: NOW + 60_000 };
  const pace = { calls: 5, weight: 100, per: 60_000, burst: 2 };
  const line = { since: NOW, pace, callsAt: NOW, weightAt: NOW, starts: [{ at: NOW, calls: 1, weight: 40 }] };
  await kit.buckets.write(bucket, 0, { ...NEW_BUCKET, line, leases: [lease] });
  await kit.buckets.write(full, 0, { ...NEW_BUCKET, line, leases: [lease, { ...lease, id: 'other' }] });
  const row = { operation: operationName('broken'), target: target('broken/depot=BER'), since: NOW, weight: 9 };
  await kit.buckets.enqueue(full, { ...row, entry: 'a#1', batch: { id: batchId('broken/depot=BER#1#1'), attempt: 1 } });
  for (let n = 0; n < 100; n += 1) await kit.buckets.enqueue(full, { ...row, entry: `f#${n}` });
  await ask('GET /limits');
  await ask('GET /limits/vendor');
  await ask('GET /limits/vendor?limit=1');
  await ask('GET /limits/vendor?key=depot%3DB');
  await ask('GET /limits/vendor?limit=0');
  await ask('GET /limits/none');
};

export const queuesAndDoctor = async () => {
  const { kit, ask, send, seal } = started();
  kit.letters.batch = [deadLetter('{}', 1), deadLetter('{"b":"x"}', 2)];
  await ask('GET /queues');
  await ask('GET /doctor/destinations');
  await ask('GET /doctor/removed');
  await ask('GET /dead-letters');
  await ask('POST /dead-letters/batch/redrive', { dryRun: true });
  await ask('POST /dead-letters/batch/redrive', '');
  await ask('POST /dead-letters/none/redrive', '');
  await ask('POST /dead-letters/batch/redrive', { ids: ['letter-1'] });
  kit.letters.rejected = [refused('{}', 1), refused(`{"operation":"ship","payload":"${'x'.repeat(20_000)}"}`, 2)];
  await ask('GET /dead-letters/rejected/messages');
  await ask('GET /dead-letters/rejected/messages?limit=1');
  await ask('GET /dead-letters/none/messages');
  await ask('POST /dead-letters/rejected/redrive', { ids: ['letter-1'] });
  await ask('POST /dead-letters/rejected/discard', { ids: ['letter-1', 'x'], dryRun: true });
  await ask('POST /dead-letters/rejected/discard', { ids: ['letter-1', 'x'] });
  await ask('POST /dead-letters/rejected/discard', { all: true });
  await ask('POST /dead-letters/batch/discard', { all: true });
  await ask('POST /dead-letters/none/discard', { all: true });
  await send({ id: 'a' }, { id: 'b', payload: { depot: 'BER' } });
  await seal(MUC);
  kit.now += 86_400_000;
  expect((await ask('GET /doctor/targets')).findings.length).toBeGreaterThan(0);
  expect((await ask(`GET /doctor/batches?target=${MUC}`)).findings.length).toBeGreaterThan(0);
  await ask('POST /doctor/targets?limit=1', '');
  await ask('POST /doctor/targets', {});
  await ask(`POST /doctor/batches?target=${MUC}`, '');
};
