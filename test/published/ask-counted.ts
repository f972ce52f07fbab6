/** Calls every route of fan-outs, deferred lists and fleets. */
import { expect } from 'vitest';
import { FanOutBusy } from '../../src/steps/contention.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, fleet, nodeOf, partition } from '../factories/fleets.ts';
import { neverSent, started } from './asked-api.ts';

const F = fleet('flights');

export const fanOuts = async () => {
  const { ask } = started();
  const opening = { id: 'f', userKey: 'k', callback: 'ops', failFast: { share: 0.5 }, notifyFirstFailure: true };
  await ask('POST /fan-outs', opening);
  await ask('POST /fan-outs', opening);
  await ask('POST /fan-outs', { id: 'f' });
  await ask('POST /fan-outs', '');
  await ask('POST /fan-outs/f/items', { count: 3, token: 't' });
  await ask('POST /fan-outs/f/items', { count: 4, token: 't' });
  await ask('POST /fan-outs/acks', { items: ['f:0:0', { item: 'f:0:1', outcome: 'failed' }, 'g:0:0'] });
  await ask('GET /fan-outs/f');
  await ask('GET /fan-outs/f/failed');
  await ask('GET /fan-outs/f/items?status=pending&limit=1');
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

export const lists = async () => {
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
  await ask('GET /lists/l/claims');
  await ask('POST /lists/l/claims', { count: 1, leaseSeconds: 60, claimId: 'gone', holder: 'worker-3' });
  await ask('DELETE /lists/l/claims/gone');
  await ask('DELETE /lists/l/claims/gone');
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
    [`DELETE /lists/other/claims/${claimId}`, undefined],
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

export const fleets = async () => {
  const { kit, ask } = started();
  for (const key of ['a', 'b', 'b@2']) await kit.fleets.join(F, aNode({ key: nodeOf(key) }));
  await kit.fleets.take(F, { partition: partition('p'), fence: 0 }, nodeOf('a'), NOW);
  await ask('GET /fleets');
  await ask('GET /fleets/flights');
  await ask('GET /fleets/flights/partitions/p');
  await ask('GET /fleets/flights/partitions/unheard-of');
  await ask('POST /fleets/flights/separate-checkpoints', '');
  await ask('POST /fleets/flights/nodes/a/drain', { draining: true });
  await ask('POST /fleets/flights/nodes/b/drain', { draining: true });
  await ask('POST /fleets/flights/partitions/p/move', { to: 'a' });
  await ask('POST /fleets/flights/partitions/p/move', { to: null });
  await ask('POST /fleets/flights/partitions/p/move', { to: 'b' });
  const settled = started();
  await settled.kit.fleets.join(F, aNode({ key: nodeOf('a'), readsApart: true }));
  await settled.ask('POST /fleets/flights/separate-checkpoints', '');
  await ask('GET /openapi.json');
};
