/** Jobs that report later: their batch keeps its slot until each task has a result, or until the deadline. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { printBatch } from '../../src/domain/batches/messages.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { ReceivedCall } from '../factories/downstream.ts';
import { batchId } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { ask } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('later');
});
beforeEach(() => flow.downstream.behave(() => ({ status: 202, body: { pending: true } })));
afterAll(() => flow?.stop());

const toBatchQueue = (MessageBody: string) =>
  flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl: flow.queue('batchQueue'), MessageBody }));
/** Reports the results of a job. */
const report = (id: string, results?: readonly object[]) => toBatchQueue(JSON.stringify({ batchId: id, results }));
const stateOf = async () => (await flow.get('/operations/later')) as { slots: object; waitingTargets: number };

/** Sends tasks to a depot, and waits until their job is pending. @returns their ids, and their batch */
const begin = async (depot: string, count: number) => {
  const ids = await flow.send(Array.from({ length: count }, (_, n) => ({ depot, n })));
  const calls = await eventually(() => {
    const made = flow.calls(depot);
    return made.flatMap(({ items }) => items).length >= count ? made : undefined;
  });
  await isPending(calls[0], count);
  return { ids, batch: calls[0]?.batchId ?? '' };
};
/** Waits until the batch handler has stored that the job is pending. */
const isPending = (call: ReceivedCall | undefined, count: number) =>
  eventually(async () => (await flow.batch(call?.batchId)).pending === count);

describe('a job that reports later', () => {
  it('keeps its slot until each task has a result, in any order', async () => {
    const { ids, batch } = await begin('one', 3);
    const [first = '', second = '', third = ''] = ids;
    const others = await flow.send([{ depot: 'other' }]);
    await eventually(async () => (await stateOf()).waitingTargets === 1);

    for (let times = 0; times < 2; times += 1) {
      await report(batch, [{ id: second, status: 'succeeded', result: { part: 1 } }]);
      expect(await flow.ended([second])).toMatchObject([{ status: 'succeeded', result: { part: 1 } }]);
    }
    // The first result of a task stands.
    await report(batch, [
      { id: second, status: 'failed', error: 'too late' },
      { id: first, status: 'failed', error: { code: 'torn', message: 'it tore' } },
    ]);
    expect(await flow.ended([first, second])).toMatchObject([
      { status: 'failed', error: { code: 'torn', message: 'it tore' } },
      { status: 'succeeded', result: { part: 1 } },
    ]);
    expect(await flow.task(third)).toMatchObject({ status: 'in-progress' });
    expect(await stateOf()).toMatchObject({ slots: { taken: 1, total: 1 }, waitingTargets: 1 });
    expect(flow.calls('other')).toEqual([]);

    await report(batch, [{ id: third, status: 'succeeded' }]);
    await flow.settled([third]);
    expect(flow.calls('one')).toHaveLength(1);
    await eventually(async () => (await flow.batch(batch)).status === 'partly-failed');
    expect(await flow.batch(batch)).toMatchObject({ counts: { succeeded: 2, failed: 1 } });
    // A report without results completes the whole job.
    const [call] = await eventually(() => (flow.calls('other').length > 0 ? flow.calls('other') : undefined));
    await report(call?.batchId ?? '');
    expect(await flow.ended(others)).toMatchObject([{ status: 'succeeded' }]);
    await eventually(async () => (await flow.batch(call?.batchId)).status === 'succeeded');
    await eventually(async () => JSON.stringify((await stateOf()).slots) === '{"taken":0,"total":1}');
  });

  it('with `retry` for one task has only that task called again', async () => {
    const { ids, batch } = await begin('again', 2);
    const [first = '', second = ''] = ids;
    flow.downstream.behave(() => ({ status: 200 }));
    await report(batch, [
      { id: first, status: 'succeeded', result: 1 },
      { id: second, status: 'retry' },
    ]);
    expect(await flow.ended(ids)).toMatchObject([{ result: 1 }, { status: 'succeeded', attempts: 2 }]);
    const asked = flow.calls('again').map(({ items }) => items.map(({ id }) => id).toSorted());
    expect(asked).toEqual([ids.toSorted(), [second]]);
  });

  it('is called again with its open tasks if its deadline passes', async () => {
    const { ids, batch } = await begin('forgotten', 2);
    const [first = '', second = ''] = ids;
    await report(batch, [{ id: first, status: 'succeeded' }]);
    await flow.settled([first]);
    flow.downstream.behave(() => ({
      status: 200,
      body: { results: [{ id: second, status: 'succeeded', result: 2 }] },
    }));
    // Set the deadline, one hour ahead, to the past.
    await flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: setting(flow.backend.settings, 'batchTable'),
        Key: { BatchId: batch },
        UpdateExpression: 'SET RunUntil = :past, Pending.#until = :past',
        ExpressionAttributeNames: { '#until': 'Until' },
        ExpressionAttributeValues: { ':past': Date.now() - 1_000 },
      }),
    );
    await toBatchQueue(printBatch({ kind: 'due', batchId: batchId(batch) }));
    expect(await flow.ended([second])).toMatchObject([{ status: 'succeeded', attempts: 2, result: 2 }]);
    expect(flow.calls('forgotten').map(({ items }) => items.length)).toEqual([2, 1]);
  });

  it('for a batch that is not stored is moved to the rejected queue', async () => {
    await report('later/depot=nowhere#1#1', [{ id: 'x', status: 'succeeded' }]);
    const refused = await eventually(async () => (await flow.rejected()).find(({ body }) => body.includes('nowhere')));
    expect(refused.errors).toEqual([{ path: 'batchId', reason: 'names no batch that is stored' }]);
  });

  it('frees its slot for a Target with tasks, not for one without', async () => {
    const { ids, batch } = await begin('api', 1);
    const cancelled = await flow.send(['x', 'y', 'z'].map((depot) => ({ depot })));
    const live = await flow.send([{ depot: 'live' }]);
    await eventually(async () => (await stateOf()).waitingTargets === 4);
    for (const id of cancelled) expect(await ask(flow, 'DELETE', `/tasks/${id}`)).toMatchObject({ code: 200 });
    flow.downstream.behave(() => ({ status: 200 }));
    const path = `/batches/${encodeURIComponent(batch)}/complete`;
    const results = ids.map((id) => ({ id, status: 'succeeded', result: 'by the API' }));
    expect((await ask(flow, 'POST', path, { results })).code).toBe(202);
    expect(await flow.ended([...ids, ...live])).toMatchObject([{ result: 'by the API' }, { status: 'succeeded' }]);
    await eventually(async () => (await stateOf()).waitingTargets === 0);
    expect(flow.calls().filter(({ items }) => items.some(({ id }) => cancelled.includes(id)))).toEqual([]);
  });
});
