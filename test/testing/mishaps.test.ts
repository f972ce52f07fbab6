import { describe, expect, it } from 'vitest';
import type { Mishap } from '../../src/testing/index.ts';
import { parcelBed, shipments } from './parcels.ts';

const statuses = (bed: ReturnType<typeof parcelBed>) => bed.tasks.map(({ status }) => status);

describe('a mishap', () => {
  it.each<[string, Extract<Mishap<'ship'>, { downstream: 'ship' }>, string]>([
    ['status 503', { downstream: 'ship', answers: { status: 503 } }, 'answered 503'],
    ['a Response', { downstream: 'ship', answers: new Response('', { status: 502 }) }, 'answered 502'],
    ['nothing', { downstream: 'ship', answers: 'timeout' }, 'no answer within 10000 ms'],
    ['a network error', { downstream: 'ship', answers: 'network-error' }, 'no answer: connection refused'],
    ['a function', { downstream: 'ship', answers: ({ attempt }) => ({ status: 500 + attempt }) }, 'answered 501'],
  ])('of the downstream, an answer of %s, occurs twice and then ends', async (_, mishap, reason) => {
    const bed = parcelBed({
      downstreams: {
        ship: ({ items }) => ({ results: items.map(({ id }) => ({ id, status: 'succeeded', result: 1 })) }),
      },
    });
    const injected = bed.inject({ ...mishap, times: 2 });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(injected.happened).toBe(2);
    expect(bed.calls.map(({ answer }) => answer)).toEqual([
      reason,
      mishap.answers instanceof Function ? 'answered 502' : reason,
      'results',
    ]);
    expect(bed.task('p0')).toMatchObject({ status: 'succeeded', attempts: 3 });
  });

  it('that loses an answer makes the downstream work twice under one idempotency key', async () => {
    let done = 0;
    const bed = parcelBed({
      downstreams: {
        ship: () => {
          done += 1;
        },
      },
    });
    bed.inject({ downstream: 'ship', answers: 'reply-lost' });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(done).toBe(2);
    expect(new Set(bed.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(bed.calls.map(({ answer }) => answer)).toEqual(['no answer: connection reset', 'all-succeeded']);
  });

  it('with a time span occurs in every call within it', async () => {
    const bed = parcelBed(
      {},
      { circuit: null, retry: { minDelay: '1s', maxDelay: '10s', maxAttempts: 20, immediate: 0 } },
    );
    const outage = bed.inject({ downstream: 'ship', answers: { status: 503 }, for: '1m' });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(outage.happened).toBeGreaterThan(2);
    expect(bed.calls.filter(({ at }) => at.getTime() - Date.UTC(2026) < 60_000)).toHaveLength(outage.happened);
    expect(statuses(bed)).toEqual(['succeeded']);
  });

  it('ends when the test stops it', async () => {
    const bed = parcelBed();
    const injected = bed.inject({ downstream: 'ship', answers: { status: 503 }, times: 100 });
    await bed.sendAll(shipments(1));
    await bed.advance('1s');
    injected.stop();
    await bed.settle();
    expect([injected.happened, ...statuses(bed)]).toEqual([1, 'succeeded']);
  });

  it.each<Mishap>([
    { crash: 'register' },
    { crash: 'register', after: 'tasks-waiting' },
    { crash: 'register', after: 'leader-asked-for' },
    { crash: 'elect' },
    { crash: 'elect', after: 'lock-taken' },
    { crash: 'group' },
    { crash: 'group', after: 'batch-opened' },
    { crash: 'group', after: 'batch-formed' },
    { crash: 'group', after: 'batch-sealed' },
    { crash: 'group', after: 'batch-sent' },
    { crash: 'batch', after: 'attempt-started' },
    { crash: 'batch', after: 'results-written' },
    { crash: 'batch', after: 'batch-finished' },
    { loseReply: 'register' },
    { loseReply: 'elect', after: 'lock-taken' },
    { loseReply: 'group', after: 'batch-opened' },
    { loseReply: 'group' },
    { loseReply: 'batch', after: 'attempt-started' },
    { loseReply: 'batch', after: 'results-written' },
    { throttle: 'task' },
    { throttle: 'batch-lock' },
    { throttle: 'batch' },
    { throttle: 'task', for: '30s' },
    { throttle: 'batch-lock', for: '3m' },
    { duplicate: 'register' },
    { duplicate: 'elect', after: '10s' },
    { duplicate: 'group', after: 500, times: 3 },
    { duplicate: 'batch' },
    { duplicate: 'callback', after: '1m' },
    { delay: 'register', by: '5m' },
    { delay: 'elect', by: '90s' },
    { delay: 'group', by: '5m' },
    { delay: 'batch', by: 1 },
    { destination: 'ops', times: 7 },
  ])('does no harm to tasks: %j', async (mishap) => {
    const bed = parcelBed();
    const injected = bed.inject(mishap as Mishap<'ship'>);
    await bed.sendAll(shipments(12));
    await bed.settle();
    expect(injected.happened).toBeGreaterThan(0);
    expect(statuses(bed)).toEqual(Array(12).fill('succeeded'));
    expect(bed.batches.flatMap(({ members }) => members).sort()).toEqual(bed.tasks.map(({ id }) => id).sort());
    expect(new Set(bed.callbacks.map(({ event }) => event.id)).size).toBe(12);
  });

  it('that crashes the batch handler after its call repeats the call under the same key', async () => {
    const bed = parcelBed();
    bed.inject({ crash: 'batch' });
    await bed.sendAll(shipments(3));
    await bed.settle();
    expect(bed.calls).toHaveLength(2);
    expect(new Set(bed.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(statuses(bed)).toEqual(Array(3).fill('succeeded'));
  });

  it('that crashes a function five times makes a dead letter to redrive', async () => {
    const bed = parcelBed();
    bed.inject({ crash: 'register', times: 5 });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(bed.events).toContainEqual(expect.objectContaining({ event: 'revived', queue: 'register' }));
    expect(statuses(bed)).toEqual(['succeeded']);
  });

  it('that duplicates messages for a span delivers each of them twice', async () => {
    const bed = parcelBed();
    const injected = bed.inject({ duplicate: 'register', for: '10m' });
    await bed.sendAll(shipments(3));
    await bed.settle();
    expect(injected.happened).toBe(3);
    expect(statuses(bed)).toEqual(Array(3).fill('succeeded'));
  });

  it('of an execution is its output or its error, never a status', async () => {
    const machine = { kind: 'step-functions', stateMachine: 'parcels' } as const;
    const bed = parcelBed({}, { downstream: machine });
    bed.inject({ downstream: 'ship', answers: { results: [{ id: 'p0', status: 'failed', error: 'too heavy' }] } });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(bed.task('p0')).toMatchObject({ status: 'failed', error: { message: 'too heavy' } });
    for (const downstream of [machine, { kind: 'queue', name: 'parcels' } as const]) {
      const other = parcelBed({}, { downstream });
      other.inject({ downstream: 'ship', answers: { status: 503 } });
      await other.sendAll(shipments(1));
      await expect(other.settle()).rejects.toThrow('only an HTTP downstream answers with a status');
    }
  });

  it('does not occur after calm()', async () => {
    const bed = parcelBed();
    const injected = bed.inject({ throttle: 'task', for: '1d' });
    bed.calm();
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect([injected.happened, ...statuses(bed)]).toEqual([0, 'succeeded']);
  });
});

it.each<[string, object]>([
  ['there is no operation "shop"; use one of: ship', { downstream: 'shop', answers: 'timeout' }],
  ['there is no destination "opps"; use one of: ops', { destination: 'opps' }],
  ['there is no table "tasks"; use one of: task, batch-lock, batch, fan-out, list', { throttle: 'tasks' }],
  ['there is no function "groups"; use one of: register, elect, group, batch', { crash: 'groups' }],
  ['there is no moment of the function group "called"', { crash: 'group', after: 'called' }],
  ['there is no moment of the function batch "claimed"', { loseReply: 'batch', after: 'claimed' }],
  ['there is no queue "elected"', { delay: 'elected', by: '1s' }],
  ['"soon" is not a duration', { delay: 'elect', by: 'soon' }],
  ['"soon" is not a duration', { duplicate: 'elect', after: 'soon' }],
  ['"soon" is not a duration', { crash: 'elect', for: 'soon' }],
  ['times must be a whole number from 1', { crash: 'elect', times: 0 }],
  ['there is no answer "503"', { downstream: 'ship', answers: '503' }],
  ['answers must be an answer, a function that returns one, or one of timeout', { downstream: 'ship' }],
  ['is not a mishap: see the type Mishap', { crashes: 'elect' }],
])('an impossible mishap is refused: %s', (message, mishap) => {
  expect(() => parcelBed().inject(mishap as Mishap<'ship'>)).toThrow(message);
});
