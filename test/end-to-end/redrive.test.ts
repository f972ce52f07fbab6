/** A redrive is a message to the register queue, which may arrive twice. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setting } from '../../src/domain/deployed/environment.ts';
import { taskId } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

const redrive = async (id: string, run: number): Promise<void> => {
  const name = taskId(id);
  if (!name) throw new Error(`no task is called ${id}`);
  const body = printRedrive({ id: name, run });
  for (let times = 0; times < 2; times += 1)
    await flow.backend.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: flow.queue('registerQueue'), MessageBody: body }),
    );
};

/** The API's answer to a redrive. */
const ask = async (body: unknown): Promise<{ status: number; answer: Record<string, unknown> }> => {
  const response = await flow.backend.api('/tasks/redrive', { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
};

/** Tasks of a depot that failed because the downstream refused them. */
const failedTasks = async (depot: string, count: number): Promise<string[]> => {
  flow.downstream.behave(() => ({ status: 422 }));
  const ids = await flow.send(Array.from({ length: count }, (_, n) => ({ depot, n })));
  await flow.ended(ids);
  flow.downstream.behave(() => ({ status: 200 }));
  return ids;
};

const succeedInRun2 = async (ids: readonly string[]): Promise<void> => {
  for (const id of ids)
    await eventually(async () => {
      const task = await flow.task(id);
      return task?.run === 2 && task.status === 'succeeded';
    });
};

const rowOf = async (Id: string): Promise<Record<string, unknown>> => {
  const key = { TableName: setting(flow.backend.settings, 'taskTable'), Key: { Id }, ConsistentRead: true };
  return (await flow.backend.clients.dynamodb.send(new GetCommand(key))).Item ?? {};
};

describe('a redriven task', () => {
  it.each([
    ['small', 'depot'],
    ['large', 'x'.repeat(100_000)],
  ])('with a %s payload is called once more, unchanged, in a batch of its own', async (size, text) => {
    const depot = `redriven-${size}`;
    flow.downstream.behave(() => ({ status: 422 }));
    const payload = { depot, text };
    const [id = ''] = await flow.send([payload]);
    const [failed] = await flow.ended([id]);
    expect(failed).toMatchObject({ status: 'failed', run: 1, error: { code: 'refused' } });
    flow.downstream.behave(() => ({ status: 200, body: { results: [{ id, status: 'succeeded', result: 'mended' }] } }));

    await redrive(id, 1);

    const redriven = await eventually(async () => {
      const task = await flow.task(id);
      return task?.status === 'succeeded' ? task : undefined;
    });
    expect(redriven).toMatchObject({ run: 2, result: 'mended', payload });
    expect(redriven.batchId).not.toBe(failed?.batchId);
    expect(await flow.batch(failed?.batchId)).toMatchObject({ status: 'failed', counts: { failed: 1 }, members: [id] });
    expect(flow.calls(depot).map(({ items }) => items)).toEqual([[{ id, payload }], [{ id, payload }]]);
  });

  it('and its payload do not expire while the task waits', async () => {
    const patient = flow.of('patient');
    flow.downstream.behave(() => ({ status: 422 }));
    const [id = ''] = await patient.send([{ depot: 'kept', text: 'x'.repeat(10_000) }]);
    await eventually(() => patient.task(id));
    const flush = { method: 'POST', body: JSON.stringify({ target: patient.target('kept') }) };
    await flow.backend.api('/targets/flush', flush);
    await patient.ended([id]);
    const expiries = async (): Promise<unknown[]> => {
      const { PayloadHash, ExpiresAt } = await rowOf(id);
      return [ExpiresAt, (await rowOf(`${id}#payload#${PayloadHash}`)).ExpiresAt];
    };
    expect(await expiries()).toEqual([expect.any(Number), expect.any(Number)]);
    await redrive(id, 1);
    await eventually(async () => (await patient.task(id))?.status === 'created');
    await eventually(async () => (await expiries()).every((each) => each === undefined));
    await flow.backend.api('/targets/flush', flush);
    await patient.ended([id]);
    expect(await expiries()).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it('that does not exist is refused with the reason', async () => {
    await redrive('nobody-knows-me', 1);
    const refused = await eventually(async () =>
      (await flow.rejected()).find(({ body }) => body.includes('nobody-knows-me')),
    );
    expect(refused.errors).toMatchObject([{ path: 'id', reason: expect.stringMatching(/^there is no task/) }]);
  });
});

describe('a redrive through the API', () => {
  it('runs failed tasks again by id, and says why it skips the others', async () => {
    const [failed = ''] = await failedTasks('asked', 1);
    const [fine = ''] = await flow.send([{ depot: 'asked' }]);
    await flow.ended([fine]);
    const ids = [failed, fine, 'never-sent', failed];
    const skipped = [
      { id: fine, reason: 'it has succeeded' },
      { id: 'never-sent', reason: expect.stringMatching(/^there is no task never-sent/) },
    ];
    const dry = await ask({ ids, dryRun: true });
    expect(dry).toEqual({ status: 200, answer: { dryRun: true, redriven: 1, skipped } });
    expect(await flow.task(failed)).toMatchObject({ status: 'failed', run: 1 });
    expect(await ask({ ids })).toEqual({ status: 202, answer: { redriven: 1, skipped } });
    await succeedInRun2([failed]);
  });

  it('that is repeated runs the task once more, not twice', async () => {
    const [id = ''] = await failedTasks('asked-twice', 1);
    for (let times = 0; times < 2; times += 1) expect((await ask({ ids: [id] })).status).toBe(202);
    await succeedInRun2([id]);
    const { answer } = await ask({ ids: [id] });
    expect(answer).toEqual({ redriven: 0, skipped: [{ id, reason: 'it has succeeded' }] });
    expect(flow.calls('asked-twice')).toHaveLength(2);
  });

  it('runs all failed tasks of a Target again', async () => {
    const ids = await failedTasks('all-of-it', 12);
    const target = flow.target('all-of-it');
    // The index of failed tasks is eventually consistent.
    const dry = () => ask({ target, dryRun: true });
    await eventually(async () => (await dry()).answer.redriven === ids.length);
    expect(await ask({ target })).toEqual({ status: 202, answer: { redriven: ids.length, skipped: [] } });
    await succeedInRun2(ids);
    await eventually(async () => (await dry()).answer.redriven === 0);
    expect((await dry()).answer).toEqual({ dryRun: true, redriven: 0, skipped: [] });
  });

  it.each([
    ['nothing', {}, ['']],
    ['both', { ids: ['a'], target: 'ship' }, ['']],
    ['no list', { ids: 'a' }, ['ids']],
    ['an empty list', { ids: [] }, ['ids']],
    ['too many', { ids: Array.from({ length: 1_001 }, (_, n) => `t-${n}`) }, ['ids']],
    ['invalid ids', { ids: ['a', '-', 7] }, ['ids[1]', 'ids[2]']],
    ['no Target', { target: 7 }, ['target']],
    ['a cursor without a Target', { ids: ['a'], cursor: 'x' }, ['cursor']],
    ['an invalid cursor', { target: 'ship/depot=x', cursor: 7 }, ['cursor']],
    ['a cursor of another list', { target: 'ship/depot=x', cursor: 'e30' }, ['cursor']],
    ['dryRun as a text', { ids: ['a'], dryRun: 'yes' }, ['dryRun']],
    ['dryRun misspelt', { ids: ['a'], dryrun: true }, ['dryrun']],
  ])('is refused with the path of each problem: %s', async (_, body, paths) => {
    const { status, answer } = await ask(body);
    expect([status, (answer.errors as { path: string }[]).map(({ path }) => path)]).toEqual([400, paths]);
  });
});
