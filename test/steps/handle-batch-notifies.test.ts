import { expect, it } from 'vitest';
import { batchIdOf } from '../../src/domain/ids.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { aConfig, aPolicy, id, NOW } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { depot, kit, led, suite, where } from './step-suite.ts';

suite('the batch handler', () => {
  const sealed = async (count: number): Promise<ReturnType<typeof batchIdOf>> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };
  const kitWithCallbacks = (callbacks: { failed: string | null; succeeded: string | null }): StepKit => ({
    ...kit,
    config: {
      ...aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), callbacks }),
      destinations: { ops: { kind: 'queue', name: 'ops' } },
    },
  });
  const events = () =>
    kit.sent.callbacks.map(({ to, event }) => [to, (JSON.parse(event) as { id: string }).id] as const);

  it('sends callbacks of ended tasks before it goes on (H5)', async () => {
    const batch = await sealed(2);
    kit.answers = [{ kind: 'results', items: new Map([[id(`${depot}-0`), { status: 'succeeded' }]]), foreign: 0 }];
    await handleBatch(kitWithCallbacks({ failed: null, succeeded: 'ops' }), { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('in-progress');
    expect(events()).toEqual([['ops', `${depot}-0.${NOW}`]]);
  });

  it('sends callbacks of tasks that ended before a crash, with equal ids (H3)', async () => {
    const batch = await sealed(1);
    const listening = kitWithCallbacks({ failed: null, succeeded: 'ops' });
    const callbacks = async (): Promise<never> => {
      throw new Error('SQS is down');
    };
    const down = { ...listening, queues: { ...kit.queues, callbacks } };
    await handleBatch(down, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'not-stored', cause: 'Error: SQS is down' }));
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state.status).toBe('succeeded');
    kit.now = NOW + 1_000_000;
    await handleBatch(listening, { kind: 'due', batchId: batch }, PLENTY);
    expect(events()).toEqual([['ops', `${depot}-0.${NOW}`]]);
    expect([kit.calls.length, (await kit.batches.get(batch))?.status]).toEqual([1, 'succeeded']);
  });

  it('reads no tasks if no callback is configured for their outcome', async () => {
    const batch = await sealed(2);
    const all: StepKit['tasks']['all'] = async () => {
      throw new Error('no callback is configured');
    };
    const listening = kitWithCallbacks({ failed: 'ops', succeeded: null });
    await handleBatch({ ...listening, tasks: { ...kit.tasks, all } }, { kind: 'due', batchId: batch }, PLENTY);
    expect([(await kit.batches.get(batch))?.status, events()]).toEqual(['succeeded', []]);
  });
});
