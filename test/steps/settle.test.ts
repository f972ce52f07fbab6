import { expect, it } from 'vitest';
import type { Waiting } from '../../src/domain/batches/policy.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { Settlement } from '../../src/domain/tasks/task.ts';
import { register } from '../../src/steps/register/register.ts';
import { cancel, settle, settlementsOf } from '../../src/steps/tasks/settle.ts';
import { aConfig, aPolicy, batchId, registeredCandidate as candidate, id, NOW } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { depot, kit, message, registered, suite, where } from './step-suite.ts';

const EXPIRED: Settlement = { status: 'failed', error: { code: 'expired', message: 'late', retriable: true } };

const listening = (): StepKit => ({
  ...kit,
  config: {
    ...aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), callbacks: { failed: 'ops', succeeded: 'ops' } }),
    destinations: { ops: { kind: 'queue', name: 'ops' } },
  },
});
const sentCallbacks = () => kit.sent.callbacks.map(({ event }) => (JSON.parse(event) as { id: string }).id);
const rows = () => kit.waiting.first(where, 99);
const fails = (what: string) => async (): Promise<never> => {
  throw new Error(what);
};
const state = async (task: TaskId) => (await kit.tasks.get(task))?.state;

suite('the settle step', () => {
  const settled = async (deps: StepKit, as: Settlement = EXPIRED) =>
    settle(
      deps,
      where,
      (await rows()).map((row) => ({ row, as })),
    );

  it('ends waiting tasks, sends callbacks, and deletes rows, in this order', async () => {
    const [task] = (await registered(2)) as [TaskId];
    await expect(settled({ ...listening(), queues: { ...kit.queues, callbacks: fails('no queue') } })).rejects.toThrow(
      'no queue',
    );
    expect(await state(task)).toMatchObject({ status: 'failed', error: { code: 'expired' }, attempts: 0 });
    expect(await rows()).toHaveLength(2);
    await expect(
      settled({ ...listening(), waiting: { ...kit.waiting, remove: fails('throttled') } }),
    ).rejects.toThrow();
    expect(sentCallbacks()).toEqual([`${task}.${NOW}`, `${depot}-1.${NOW}`]);
    await settled(listening());
    expect(await rows()).toEqual([]);
    expect(sentCallbacks()).toHaveLength(4);
  });

  it('reports each task once, with the reason of its end', async () => {
    await registered(2);
    const all = await rows();
    const as: Settlement = { status: 'succeeded', supersededBy: id('newer') };
    for (const _ of ['once', 'again'])
      await settle(
        kit,
        where,
        all.map((row, n) => ({ row, as: n === 0 ? as : EXPIRED })),
      );
    const settlings = kit.events.filter(({ event }) => event === 'settled');
    expect(settlings).toMatchObject([
      { how: 'superseded', tasks: 1, target: where },
      { how: 'expired', tasks: 1, target: where },
    ]);
  });

  it('ignores a task that a batch has or that is in another run', async () => {
    const [task] = (await registered(1)) as [TaskId];
    const old = await rows();
    await kit.tasks.claim([candidate(task)], batchId('b#1#1'));
    await settled(listening());
    expect(await state(task)).toEqual({ status: 'batched', batchId: 'b#1#1' });
    expect(sentCallbacks()).toEqual([]);
    const error = { code: 'bad', message: 'bad', retriable: true };
    const finishing = { id: batchId('b#1#1'), target: where, attempts: 1, at: NOW, keep: 1_000 };
    await kit.tasks.finish([{ id: task, outcome: { status: 'failed', error } }], finishing);
    const again = () =>
      settle(
        listening(),
        where,
        old.map((row) => ({ row, as: EXPIRED })),
      );
    // The handler of the task's batch sends that callback.
    await again();
    expect(sentCallbacks()).toEqual([]);
    const failed = await kit.tasks.get(task);
    await kit.tasks.redrive(failed ? [failed] : [], NOW + 1);
    await again();
    expect(await kit.tasks.get(task)).toMatchObject({ run: NOW + 1, state: { status: 'created' } });
    expect(sentCallbacks()).toEqual([]);
  });

  it('supersedes all but the newest task of a key, in any order', async () => {
    await register(
      kit,
      [2, 0, 1].map((n) => message(n, { coalesceKey: 'k' })),
    );
    const keyed = await rows();
    for (const inAnyOrder of [keyed, keyed.toReversed()])
      expect(settlementsOf(inAnyOrder, NOW).map(({ row, as }) => [row.candidate, as])).toEqual(
        expect.arrayContaining(
          [0, 1].map((n) => [candidate(`${depot}-${n}`), { status: 'succeeded', supersededBy: `${depot}-2` }]),
        ),
      );
  });

  it('compares sent times, whatever the time of registration or redrive', async () => {
    const [old, late, newest] = [
      message(0, { coalesceKey: 'k' }),
      message(1, { coalesceKey: 'k' }),
      message(2, { coalesceKey: 'k' }),
    ];
    await register(kit, [{ ...old, sentAt: NOW - 3_000 }]);
    await kit.tasks.claim([candidate(`${depot}-0`)], batchId('b#1#1'));
    const error = { code: 'bad', message: 'bad', retriable: true };
    const finishing = { id: batchId('b#1#1'), target: where, attempts: 1, at: NOW, keep: 1_000 };
    await kit.tasks.finish([{ id: id(`${depot}-0`), outcome: { status: 'failed', error } }], finishing);
    await register(kit, [{ ...newest, sentAt: NOW - 1_000 }]);
    kit.now += 5_000;
    // One task is delivered late, and the other one is redriven.
    await register(kit, [
      { ...late, sentAt: NOW - 2_000 },
      { messageId: 'again', body: printRedrive({ id: id(`${depot}-0`), run: 1 }), sentAt: NOW + 5_000 },
    ]);
    const waiting = await rows();
    const by = { status: 'succeeded', supersededBy: `${depot}-2` };
    expect(new Map(settlementsOf(waiting, kit.now).map(({ row, as }) => [row.candidate.split('#')[0], as]))).toEqual(
      new Map([
        [`${depot}-0`, by],
        [`${depot}-1`, by],
      ]),
    );
  });

  it('treats a row of an earlier run of a task as older', async () => {
    await register(kit, [{ ...message(0, { coalesceKey: 'k' }), sentAt: NOW - 3_000 }]);
    const [row] = (await rows()) as [Waiting];
    const later = { ...row, candidate: `${depot}-0#${NOW + 1}` as Waiting['candidate'], at: NOW + 1 };
    for (const inAnyOrder of [
      [row, later],
      [later, row],
    ])
      expect(settlementsOf(inAnyOrder, NOW).map((each) => each.row)).toEqual([row]);
  });

  it('prefers the higher version; rows of the earlier release compare by time', async () => {
    await register(kit, [
      { ...message(0, { coalesceKey: 'k', version: 7 }), sentAt: NOW - 9_000 },
      { ...message(1, { coalesceKey: 'k', version: 6 }), sentAt: NOW },
    ]);
    const keyed = await rows();
    expect(settlementsOf(keyed, NOW).map(({ as }) => as)).toEqual([
      { status: 'succeeded', supersededBy: `${depot}-0` },
    ]);
    const before = keyed.map(({ age: _, ...row }) => row);
    expect(settlementsOf(before, NOW).map(({ as }) => as)).toEqual([
      { status: 'succeeded', supersededBy: `${depot}-1` },
    ]);
  });

  it('ends expired tasks as expired; they supersede no other task', async () => {
    await register(kit, [
      message(0, { coalesceKey: 'k' }),
      message(1, { coalesceKey: 'k', expiresIn: '1s' }),
      message(2, { coalesceKey: 'other', expiresIn: '1s' }),
      message(3, { coalesceKey: 'other' }),
    ]);
    const waiting = await rows();
    expect(settlementsOf(waiting, NOW + 999).map(({ as }) => as.status)).toEqual(['succeeded', 'succeeded']);
    expect(settlementsOf(waiting, NOW + 1_000).map(({ row, as }) => [row.candidate, as.status])).toEqual([
      [candidate(`${depot}-1`), 'failed'],
      [candidate(`${depot}-2`), 'failed'],
    ]);
  });

  it('is repeated by the register function for a settled task (R1)', async () => {
    await registered(1);
    await expect(
      settled({ ...listening(), queues: { ...kit.queues, callbacks: fails('no queue') } }),
    ).rejects.toThrow();
    await register(listening(), [message(0)]);
    expect(sentCallbacks()).toEqual([`${depot}-0.${NOW}`]);
    expect(await rows()).toEqual([]);
    expect(kit.sent.rejected).toEqual([]);
  });
});

suite('a cancel', () => {
  it('ends a waiting task, sends its callback and deletes its row; it is idempotent', async () => {
    const [task, other] = (await registered(2)) as [TaskId, TaskId];
    expect(await cancel(listening(), task)).toMatchObject({
      is: 'cancelled',
      task: { state: { status: 'failed', error: { code: 'cancelled' }, finishedAt: NOW } },
    });
    expect((await rows()).map((row) => row.candidate)).toEqual([candidate(other)]);
    expect(sentCallbacks()).toEqual([`${task}.${NOW}`]);
    expect((await cancel(listening(), task))?.is).toBe('cancelled');
    expect((await kit.tasks.get(other))?.state.status).toBe('created');
  });

  it('finishes an earlier cancel that stopped halfway', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await expect(cancel({ ...kit, waiting: { ...kit.waiting, remove: fails('throttled') } }, task)).rejects.toThrow();
    expect(await rows()).toHaveLength(1);
    expect((await cancel(kit, task))?.is).toBe('cancelled');
    expect(await rows()).toEqual([]);
  });

  it('ignores a task that a batch has or had, or that ended otherwise', async () => {
    const [batched, expired] = (await registered(2)) as [TaskId, TaskId];
    await kit.tasks.claim([candidate(batched)], batchId('b#1#1'));
    await settle(
      kit,
      where,
      (await rows()).filter((row) => row.candidate === candidate(expired)).map((row) => ({ row, as: EXPIRED })),
    );
    for (const task of [batched, expired]) expect((await cancel(kit, task))?.is).toBe('under-way');
    expect((await state(batched))?.status).toBe('batched');
    expect(await state(expired)).toMatchObject({ error: { code: 'expired' } });
  });

  it('ignores a task without a waiting row, whose payload may not be stored', async () => {
    const [task] = (await registered(1)) as [TaskId];
    await kit.waiting.remove(
      where,
      (await rows()).map(({ entry }) => entry),
    );
    expect(await cancel(kit, task)).toMatchObject({ is: 'registering', task: { state: { status: 'created' } } });
    expect((await state(task))?.status).toBe('created');
  });

  it('returns nothing for an unknown task', async () => {
    expect(await cancel(kit, id('unknown'))).toBeUndefined();
  });
});
