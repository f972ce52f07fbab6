import { beforeEach, expect, it } from 'vitest';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import type { Position } from '../../src/domain/fan-outs/tree.ts';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { Outcome } from '../../src/domain/tasks/task.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { cancel, settle, settlementsOf } from '../../src/steps/tasks/settle.ts';
import { registeredCandidate as candidate, id, NOW, token } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { depot, kit, kitWith, message, suite, where } from './step-suite.ts';

const FAILED: Outcome = { status: 'failed', error: { code: 'bad', message: 'no such depot', retriable: false } };
const DOWN = async (): Promise<never> => {
  throw new Error('DynamoDB is down');
};

suite('a fan-out task', () => {
  let fanOut: FanOutId;
  beforeEach(async () => {
    // These tests are about acks. A stage that warns accepts items without tokens, and redrives of any sender.
    kit.mode = 'warn';
    fanOut = fanOutId(`f-${depot}`) as FanOutId;
    await kit.fanOuts.open({ id: fanOut, createdAt: NOW }, NOW + 120_000);
    await addItems(kit, fanOut, 4, token('add-1'));
  });

  const item = (index: number) => ({ fanOutItem: `${fanOut}:0:${index}` });
  const slots = async () => (await kit.fanOuts.node(fanOut, { level: 0, n: 0 }))?.slots;
  /** The kit in which every end of a task sends a callback. */
  const kitWithCallbacks = (): StepKit =>
    kitWith(
      { callbacks: { failed: 'ops', succeeded: 'ops' } },
      { destinations: { ops: { kind: 'queue', name: 'ops' } } },
    );
  /** Records the group of each ack that a step writes. */
  const counted = (deps: StepKit): { deps: StepKit; acks: Position[] } => {
    const acks: Position[] = [];
    const ack: StepKit['fanOuts']['ack'] = (name, position, written) => {
      acks.push(position);
      return kit.fanOuts.ack(name, position, written);
    };
    return { deps: { ...deps, fanOuts: { ...kit.fanOuts, ack } }, acks };
  };
  /** Registers a task for each, and seals their batch. */
  const sealed = async (...extras: readonly object[]): Promise<BatchId> => {
    await register(
      kit,
      extras.map((extra, n) => message(n, extra)),
    );
    await electLeader(kit, { kind: 'elect', target: where });
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    return batchIdOf(where, 1, 1);
  };
  const answer = (...outcomes: readonly (Outcome | undefined)[]): StepKit['answers'] => [
    {
      kind: 'results',
      items: new Map(outcomes.flatMap((outcome, n) => (outcome ? [[id(`${depot}-${n}`), outcome]] : []))),
      foreign: 0,
    },
  ];

  it('is acked in one write with the others of its batch and group, with no read', async () => {
    const batch = await sealed(item(0), item(1), item(3));
    kit.answers = answer({ status: 'succeeded' }, FAILED, { status: 'succeeded' });
    const { deps, acks } = counted({ ...kit, tasks: { ...kit.tasks, all: DOWN } });
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect(await slots()).toEqual([true, false, null, true]);
    expect(acks).toEqual([{ level: 0, n: 0 }]);
    expect((await kit.batches.get(batch))?.status).toBe('partly-failed');
    expect(kit.events.map(({ event }) => event)).not.toContain('unknown-items');
  });

  it('is acked before the rest of its batch has ended (H5)', async () => {
    const batch = await sealed(item(0), item(1));
    kit.answers = answer({ status: 'succeeded' }, undefined);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('in-progress');
    expect(await slots()).toEqual([true, null, null, null]);
  });

  it('is acked before its callback is sent', async () => {
    const batch = await sealed(item(0));
    const deps = kitWithCallbacks();
    await handleBatch({ ...deps, fanOuts: { ...kit.fanOuts, ack: DOWN } }, { kind: 'due', batchId: batch }, PLENTY);
    const notStored = { event: 'not-stored', cause: 'Error: DynamoDB is down' };
    expect(kit.events).toContainEqual(expect.objectContaining(notStored));
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state.status).toBe('succeeded');
    expect([kit.sent.callbacks, await slots()]).toEqual([[], [null, null, null, null]]);
    kit.now = NOW + 1_000_000;
    // The next invocation finds the stored result and makes no call (H3).
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.length, kit.sent.callbacks.length, await slots()]).toEqual([1, 1, [true, null, null, null]]);
  });

  it('ends even if its fan-out or item does not exist', async () => {
    const batch = await sealed(item(9), { fanOutItem: 'nobody:0:0' }, item(2));
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
    expect(await slots()).toEqual([null, null, true, null]);
    const unknown = kit.events.filter(({ event }) => event === 'unknown-items');
    expect(unknown).toEqual([
      { event: 'unknown-items', items: 2, first: expect.stringMatching(`^(${fanOut}:0:9|nobody:0:0)$`) },
    ]);
  });

  it('completes its sealed fan-out when it is the last to end', async () => {
    await seal(kit, fanOut);
    const batch = await sealed(item(0), item(1), item(2));
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.fanOuts.read(fanOut))?.status).toBe('sealed');
    await register(kit, [message(3, item(3))]);
    await cancel(kit, id(`${depot}-3`));
    expect(await kit.fanOuts.read(fanOut)).toMatchObject({ status: 'complete', ended: { failed: 1 } });
  });

  it('is acked before its waiting row is deleted if it is settled or cancelled', async () => {
    const requests = [
      { ...item(0), expiresIn: '1s' },
      { ...item(1), coalesceKey: 'k' },
      { ...item(2), coalesceKey: 'k' },
    ];
    for (const [n, request] of [...requests, item(3)].entries()) {
      await register(kit, [message(n, request)]);
      kit.now += 10;
    }
    kit.now = NOW + 2_000;
    const rows = await kit.waiting.first(where, 9);
    const settled = settlementsOf(rows, kit.now);
    await expect(settle({ ...kit, fanOuts: { ...kit.fanOuts, ack: DOWN } }, where, settled)).rejects.toThrow();
    expect(await kit.waiting.first(where, 9)).toHaveLength(4);
    const { deps, acks } = counted(kit);
    await settle(deps, where, settled);
    expect(acks).toHaveLength(1);
    await cancel(kit, id(`${depot}-3`));
    expect(await slots()).toEqual([false, true, null, false]);
    expect(await kit.waiting.first(where, 9)).toHaveLength(1);
  });

  it('is acked by a repeated registration if the first ack failed (R1+)', async () => {
    await register(kit, [message(0, item(0))]);
    const down = { ...kit, fanOuts: { ...kit.fanOuts, ack: DOWN } };
    await expect(cancel(down, id(`${depot}-0`))).rejects.toThrow();
    expect(await slots()).toEqual([null, null, null, null]);
    await register(kit, [message(0, item(0))]);
    expect(await slots()).toEqual([false, null, null, null]);
  });

  it('keeps its item; a registration with another item is refused', async () => {
    await register(kit, [message(0, item(0)), message(0, item(1)), message(0)]);
    await register(kit, [message(0, item(0)), message(0, item(2)), message(1)]);
    await register(kit, [message(1, item(3))]);
    const reason = expect.stringContaining('was registered before with another operation, payload or fanOutItem');
    expect(kit.sent.rejected.map(({ body, problems }) => [JSON.parse(body).fanOutItem, problems])).toEqual(
      [1, 2, 3].map((index) => [item(index).fanOutItem, [{ path: 'id', reason }]]),
    );
    await cancel(kit, id(`${depot}-0`));
    expect(await slots()).toEqual([false, null, null, null]);
  });

  it('is a failed item until a redrive, which writes a missing ack', async () => {
    const batch = await sealed(item(0));
    kit.answers = answer(FAILED);
    const down = { ...kit, fanOuts: { ...kit.fanOuts, ack: DOWN } };
    await handleBatch(down, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'not-stored', batchId: batch }));
    const redrive = { messageId: `${depot}-redrive`, body: printRedrive({ id: id(`${depot}-0`), run: 1 }) };
    await expect(register(down, [redrive])).rejects.toThrow();
    expect((await kit.tasks.get(id(`${depot}-0`)))?.run).toBe(NOW);
    await register(kit, [redrive]);
    expect(await slots()).toEqual([false, null, null, null]);
    kit.answers = [{ kind: 'all-succeeded' }];
    await kit.tasks.claim([candidate(`${depot}-0`, 2)], batchIdOf(where, 7, 1));
    await settleAsSucceeded();
    expect(await slots()).toEqual([true, null, null, null]);
  });

  /** Forms the second run's batch directly: this test needs no leader. */
  const settleAsSucceeded = async (): Promise<void> => {
    const batch = batchIdOf(where, 7, 1);
    const now = kit.now;
    const formed = await kit.batches.form({
      id: batch,
      target: where,
      sealedBy: 'waited',
      candidates: [candidate(`${depot}-0`, 2)],
      oldestAt: now,
      createdAt: now,
    });
    await kit.batches.seal(formed, [], now, 3_600_000);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state.status).toBe('succeeded');
  };

  it('is not acked again by a redrive if its batch has finished', async () => {
    const batch = await sealed(item(0));
    kit.answers = answer(FAILED);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('failed');
    const { deps, acks } = counted(kit);
    await register(deps, [{ messageId: 'm', body: printRedrive({ id: id(`${depot}-0`), run: 1 }) }]);
    expect([acks, (await kit.tasks.get(id(`${depot}-0`)))?.run]).toEqual([[], NOW + 1]);
  });
});
