/** Tests each row of the table of changes in docs/how-to/operate.md: how a change of configuration affects waiting tasks. */
import { expect, it } from 'vitest';
import type { BatchMessage } from '../../src/domain/batches/messages.ts';
import { type Operation, UnknownOperation } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import type { Target, TaskId } from '../../src/domain/ids.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { mergingDownstream } from '../../src/steps/merge/merging-downstream.ts';
import { register } from '../../src/steps/register/register.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { aConfig, aPolicy, aRetry, id, target } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { depot, kit, suite } from './step-suite.ts';

const DAY = 24 * 3_600_000;

suite('a configuration change', () => {
  /** The same kit with other settings of its operation. */
  const under = (operation: Partial<Operation>): StepKit => ({
    ...kit,
    config: aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 60_000 }), ...operation }),
    ...(operation.merge ? { downstreamOf: () => merging(kit, operation.merge?.keys ?? '') } : {}),
  });
  const taskIds = (count: number, from = 0): TaskId[] =>
    Array.from({ length: count }, (_, n) => id(`${depot}-${from + n}`));
  const send = (deps: StepKit, count: number, payload: object = {}, from = 0, fields: object = {}) =>
    register(
      deps,
      taskIds(count, from).map((task) => ({
        messageId: `of-${task}`,
        body: JSON.stringify({ operation: 'ship', id: task, payload: { depot, area: 'north', ...payload }, ...fields }),
        sentAt: kit.now,
      })),
    );
  /** Leads Targets until none is due within a minute, and handles their batches. */
  const work = async (deps: StepKit): Promise<void> => {
    const { elect, group: guards, batch } = kit.sent;
    for (let round = 0; elect.length + guards.length + batch.length > 0; round += 1) {
      if (round > 100) throw new Error('the steps send messages without end');
      for (const message of elect.splice(0)) await electLeader(deps, message);
      for (const { delay, ...message } of guards.splice(0)) {
        kit.now += delay * SECOND;
        await group(deps, message, PLENTY);
      }
      for (const { delay: _, ...message } of batch.splice(0)) await handleBatch(deps, message as BatchMessage, PLENTY);
    }
  };
  const ended = async (ids: readonly TaskId[]) => (await kit.tasks.all(ids)).map(({ state }) => state);
  const statuses = async (ids: readonly TaskId[]) => (await ended(ids)).map(({ status }) => status);
  const sizes = () => kit.calls.map(({ items }) => items.length);

  it('of `target` gives only later tasks the new Target', async () => {
    await send(under({ keys: ['depot'] }), 2);
    const next = under({ keys: ['depot', 'area'], shards: 1 });
    await send(next, 2, {}, 2);
    await work(next);
    expect(await statuses(taskIds(4))).toEqual(Array(4).fill('succeeded'));
    expect(new Map(kit.calls.map((call) => [call.target, call.items.map((item) => item.id)]))).toEqual(
      new Map<Target, TaskId[]>([
        [target(`ship/depot=${depot}`), taskIds(2)],
        [target(`ship/depot=${depot}/area=north`), taskIds(2, 2)],
      ]),
    );
  });

  it('of `batch` puts waiting tasks into batches of the new size', async () => {
    await send(under({ batch: aPolicy({ maxSize: 100, maxWait: 60_000 }) }), 6);
    await work(under({ batch: aPolicy({ maxSize: 2, maxWait: 60_000 }) }));
    expect(sizes()).toEqual([2, 2, 2]);
  });

  it('of `batch` sends a waiting task alone if it exceeds the limits', async () => {
    await send(under({}), 1, { text: 'x'.repeat(500) }, 0, { weight: 9 });
    await send(under({}), 2, {}, 1);
    await work(under({ batch: aPolicy({ maxSize: 4, maxBytes: 200, maxWeight: 2, maxWait: 60_000 }) }));
    expect(await statuses(taskIds(3))).toEqual(Array(3).fill('succeeded'));
    expect(kit.calls.find(({ items }) => items.some((item) => item.id === `${depot}-0`))?.items).toHaveLength(1);
  });

  const KEYS = ['inputs[].id', 'scenes[].name'] as const;
  const inputs = { inputs: [{ id: 'a' }, { id: 'b' }] };
  const scenes = { scenes: [{ name: 'b' }, { name: 'c' }] };
  const merged = (keys: string): Partial<Operation> => ({
    merge: { keys },
    concurrency: { perTarget: 1, total: null },
  });

  it('of `merge.keys` reads waiting tasks by the keys they were sent with', async () => {
    await send(under(merged(KEYS[0])), 1, inputs);
    const next = under(merged(KEYS[1]));
    await send(next, 1, scenes, 1);
    await work(next);
    expect(await statuses(taskIds(2))).toEqual(['succeeded', 'succeeded']);
    expect(kit.calls.map((call) => call.inputs)).toEqual([['{"id":"a"}', '{"name":"b"}', '{"name":"c"}']]);
  });

  it('that adds `merge` fails only waiting tasks that have no inputs', async () => {
    await send(under({}), 1, inputs);
    await send(under({}), 1, {}, 1);
    const next = under(merged(KEYS[0]));
    await work(next);
    expect(await ended(taskIds(2))).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', error: { code: 'inputs-unreadable', retriable: true } },
    ]);
    expect(kit.calls.map((call) => call.inputs)).toEqual([['{"id":"a"}', '{"id":"b"}']]);
  });

  it('that removes `merge` sends waiting tasks as they were registered', async () => {
    await send(under(merged(KEYS[0])), 2, inputs);
    await work(under({}));
    expect(await statuses(taskIds(2))).toEqual(['succeeded', 'succeeded']);
    expect(kit.calls.map((call) => [call.inputs, call.items.length])).toEqual([[undefined, 2]]);
  });

  it('of `keepTasks` applies to tasks that end after it', async () => {
    const keeps: number[] = [];
    const finish: StepKit['tasks']['finish'] = (results, batch) => {
      keeps.push(batch.keep);
      return kit.tasks.finish(results, batch);
    };
    await send(under({ keepTasks: 30 * DAY }), 1);
    const next = under({ keepTasks: DAY });
    await work({ ...next, tasks: { ...kit.tasks, finish } });
    expect(keeps).toEqual([DAY]);
  });

  it('of `retry` applies to a batch that waits for its next attempt', async () => {
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    const withAttempts = (maxAttempts: number) =>
      under({ circuit: null, retry: aRetry({ immediate: 0, maxAttempts }) });
    await send(withAttempts(5), 1);
    // The second attempt's message is not delivered.
    const queues: StepKit['queues'] = {
      ...kit.queues,
      batch: async (message, delay) => void (kit.calls.length === 0 && kit.sent.batch.push({ ...message, delay })),
    };
    await work({ ...withAttempts(5), queues });
    expect(kit.calls).toHaveLength(1);
    const batchId = (kit.calls[0] as Call).batchId;
    kit.now += 3_600_000;
    await handleBatch(withAttempts(1), { kind: 'due', batchId }, PLENTY);
    expect(kit.calls).toHaveLength(1);
    expect(await ended(taskIds(1))).toMatchObject([{ status: 'failed', error: { code: 'attempts-exhausted' } }]);
  });

  it('of `callbacks` applies to waiting tasks when they end', async () => {
    await send(under({ callbacks: { succeeded: null, failed: null } }), 1);
    const next = under({ callbacks: { succeeded: 'ops', failed: null } });
    await work({ ...next, config: { ...next.config, destinations: { ops: { kind: 'queue', name: 'ops' } } } });
    expect(kit.sent.callbacks.map(({ to }) => to)).toEqual(['ops']);
  });

  it('that removes an operation makes its messages come back', async () => {
    await send(under({}), 2);
    const without = { ...kit, config: { ...kit.config, operations: {} } };
    const [message] = kit.sent.elect;
    if (!message) throw new Error('no elect message was sent');
    await expect(electLeader(without, message)).rejects.toThrow(UnknownOperation);
    await work(under({}));
    expect(await statuses(taskIds(2))).toEqual(['succeeded', 'succeeded']);
  });
});

const merging = (kit: StepKit, keys: string) =>
  mergingDownstream(
    {
      call: async (call) => {
        kit.calls.push(call);
        return { kind: 'all-succeeded' };
      },
    },
    {
      keys,
      keepTasks: DAY,
      processed: memoryProcessed(emptyTables(), openGate),
      machine: kit.machine,
      report: () => {},
    },
  );
