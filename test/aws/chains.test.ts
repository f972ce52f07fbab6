/** Which messages continue a chain of Lambda's loop detection, and which begin a new one (docs/decisions/0035). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { aPolicy, batchId, operationName, target, token } from '../factories/factories.ts';
import { type Job, ROOT, startFunctions } from './loop-detection.ts';

type Functions = Awaited<ReturnType<typeof startFunctions>>;
let started: Functions | undefined;
afterEach(() => started?.stop());

const start = async (fields: Partial<Operation>, job: Job): Promise<Functions> => {
  started = await startFunctions({ batch: aPolicy({ maxSize: 1, maxWait: 0 }), ...fields }, job);
  return started;
};
const task = (id: string, depot = 'MUC') => ({ id, operation: 'ship', payload: { depot } });
const many = (count: number, depotOf = (_: number): string => 'MUC') =>
  Array.from({ length: count }, (_, n) => task(`task-${n}`, depotOf(n)));
const endedIn = ({ deps }: Functions, status: string): number =>
  deps.events.filter((event) => event.event === 'finished' && event.status === status).length;

/** Reports its batch over the batch queue, as a job that runs for longer. */
const reporting: Job = async ({ batchId }, send) => {
  await send('batch', { batchId });
  return { pending: true };
};

describe('a function that reports its batches is never in its own chain', () => {
  it.each<[string, Partial<Operation['concurrency']>, (n: number) => string]>([
    ['with one batch at a time for a Target', { perTarget: 1 }, () => 'MUC'],
    ['with one batch at a time for the operation', { total: 1 }, (n) => `depot-${n % 5}`],
    ['with both caps', { perTarget: 1, total: 1 }, (n) => `depot-${n % 5}`],
  ])('%s', async (_, caps, depotOf) => {
    const functions = await start({ concurrency: { perTarget: null, total: null, ...caps } }, reporting);
    for (const each of many(40, depotOf)) await functions.put('register', each);
    await functions.deliver(2_000);
    expect(endedIn(functions, 'succeeded')).toBe(40);
    expect(functions.jobCounts).toEqual(Array.from({ length: 40 }, () => 1));
  });
});

describe('a function that registers a task for itself without end', () => {
  it('is stopped by Lambda', async () => {
    let made = 0;
    const functions = await start({}, async (_, send) => {
      made += 1;
      await send('register', task(`task-${made}`));
      return {};
    });
    await functions.put('register', task('task-0'));
    await functions.deliver(500);
    expect(functions.jobCounts).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
    expect(endedIn(functions, 'succeeded')).toBe(16);
    const postponed = functions.deps.events.filter(({ event }) => event === 'postponed');
    expect(postponed.length).toBeGreaterThan(0);
    expect(postponed[0]).toMatchObject({
      reason: expect.stringMatching(/RecursiveInvocationException.*set RecursiveLoop to Allow on it/),
    });
  });
});

/** The messages, and whether each continues a chain. */
const shown = ({ all }: Functions): string[] => [
  ...new Set(
    all.map(({ queue, body, trace }) => {
      const { hint, f, b } = JSON.parse(body);
      const kind = [
        ...(hint ? ['hint'] : []),
        ...(f === undefined || hint ? [] : [`guard ${f}`]),
        ...(b === undefined ? [] : ['batch']),
      ];
      return `${queue} ${kind.join(' ')}: ${/Lineage/.test(trace) ? 'continues' : 'begins'}`;
    }),
  ),
];

describe('a message', () => {
  it('for the tasks that caused it continues the chain', async () => {
    let calls = 0;
    const functions = await start({}, async () => {
      calls += 1;
      return calls === 1 ? { results: [{ id: 'task-0', status: 'retry' }] } : {};
    });
    await functions.put('register', task('task-0'));
    await functions.deliver(50);
    expect(calls).toBe(2);
    expect(shown(functions)).toEqual([
      'register : begins',
      'elect : continues',
      'group guard 1: continues',
      'batch batch: continues',
    ]);
    // The rest of the header stays.
    expect(
      functions.all.slice(1).every(({ trace }) => trace.startsWith('Root=1-5759e988-bd862e3fe1be46a994272793;')),
    ).toBe(true);
  });

  it('for the next leader begins a chain, and its hint continues one', async () => {
    const functions = await start({ batch: aPolicy({ maxSize: 2, maxWait: 2_000_000 }) }, async () => ({}));
    await functions.put('register', task('task-0'));
    await functions.deliver(3);
    expect(shown(functions)).toEqual([
      'register : begins',
      'elect : continues',
      'group guard 1: continues',
      'group guard 2: begins',
    ]);
    functions.deps.chance = 0;
    await functions.put('register', task('task-1'));
    await functions.deliver(1);
    expect(shown(functions)).toContain('group hint: continues');
  });

  it('that wakes others or is for the next leader begins a chain', async () => {
    const { deps, all } = await start({}, async () => ({}));
    const { queues } = deps;
    const ship = operationName('ship');
    const [where, batch] = [target('ship/depot=MUC'), batchId('ship/depot=MUC#1#1')];
    const guard = { target: where, fence: 1, token: token('guard') };
    vi.stubEnv('_X_AMZN_TRACE_ID', `${ROOT};Lineage=1:jobs:3|1:batch:5`);
    const traceOf = async (send: () => Promise<void>): Promise<string | undefined> => {
      await send();
      return all.at(-1)?.trace;
    };
    for (const send of [
      () => queues.elect([{ kind: 'elect', target: where, wake: 1 }]),
      () => queues.elect([{ kind: 'elect', target: where, resume: 'pause' }]),
      () => queues.resume({ kind: 'resume', operation: ship, resume: 'pause' }, 0),
      () => queues.batch({ kind: 'due', batchId: batch, woken: true }, 0),
      () => queues.group(guard, 0, 'new'),
    ])
      expect(await traceOf(send)).toBe(ROOT);
    for (const send of [
      () => queues.register(['{}']),
      () => queues.elect([{ kind: 'elect', target: where }]),
      () => queues.group(guard, 0),
      () => queues.group({ ...guard, hint: true }, 0),
      () => queues.batch({ kind: 'due', batchId: batch }, 0),
      () => queues.batch({ kind: 'completion', batchId: batch, results: null }, 0),
    ])
      expect(await traceOf(send)).toBe(`${ROOT};Lineage=1:jobs:3|1:batch:5`);
  });
});
