/** A failed task gets another run: by a message to the register queue, which anybody may send twice. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskId } from '../../src/batching/ids.ts';
import { printRedrive } from '../../src/batching/redrive.ts';
import { setting } from '../../src/environment.ts';
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

const rowOf = async (Id: string): Promise<Record<string, unknown>> => {
  const key = { TableName: setting(flow.backend.settings, 'taskTable'), Key: { Id }, ConsistentRead: true };
  return (await flow.backend.clients.dynamodb.send(new GetCommand(key))).Item ?? {};
};

describe('a redriven task', () => {
  it.each([
    ['small', 'depot'],
    ['large', 'x'.repeat(100_000)],
  ])('with a %s payload goes down once more, as it was sent, in a batch of its own', async (size, text) => {
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

  it('that waits expires as little as any other, nor does its payload', async () => {
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

  it('that is not there is refused with the reason', async () => {
    await redrive('nobody-knows-me', 1);
    const refused = await eventually(async () =>
      (await flow.rejected()).find(({ body }) => body.includes('nobody-knows-me')),
    );
    expect(refused.errors).toMatchObject([{ path: 'id', reason: expect.stringMatching(/^there is no task/) }]);
  });
});
