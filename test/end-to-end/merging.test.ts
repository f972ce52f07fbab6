import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';
import { ask } from './together.ts';

/** A merged call, as the downstream receives it. */
interface MergedCall {
  readonly inputs: readonly { readonly id: string; readonly version?: number }[];
  readonly items: readonly { readonly id: string }[];
}

/** Sorts by id: SQS keeps no order, and a batch has its tasks in the order of their registration. */
const byId = <Some extends { readonly id: string }>(some: readonly Some[]): Some[] =>
  some.toSorted((a, b) => a.id.localeCompare(b.id));

describe('merged requests', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow('merging');
  });
  afterEach(() => flow.downstream.behave(() => ({ status: 200 })));
  afterAll(() => flow?.stop());

  /** Sends three requests, which fill a job, or one, which is flushed. @returns the ended tasks */
  const send = async (depot: string, requests: readonly string[][]) => {
    const ids = await flow.send(requests.map((keys) => ({ depot, inputs: keys.map((key) => ({ id: key })) })));
    if (ids.length === 1)
      await eventually(async () => {
        await flow.backend.api('/targets/flush', {
          method: 'POST',
          body: JSON.stringify({ target: flow.target(depot) }),
        });
        return (await flow.task(ids[0] ?? ''))?.status === 'succeeded';
      });
    return flow.ended(ids);
  };
  const jobs = (depot: string): MergedCall[] => flow.calls(depot).map(({ text }) => JSON.parse(text));
  const inputsOf = (depot: string): string[] => jobs(depot).flatMap(({ inputs }) => inputs.map(({ id }) => id));

  it('are one job with each input once; later requests get only new inputs', async () => {
    const first = await send('one', [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c', 'd'],
    ]);
    expect(first.map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
    expect(jobs('one').map(({ inputs, items }) => ({ inputs: byId(inputs), items: byId(items) }))).toEqual([
      { inputs: ['a', 'b', 'c', 'd'].map((id) => ({ id })), items: byId(first.map(({ id }) => ({ id: String(id) }))) },
    ]);
    await send('one', [['d', 'e']]);
    expect(jobs('one').slice(1)).toMatchObject([{ inputs: [{ id: 'e' }] }]);
    const [nothingNew] = await send('one', [['a', 'e']]);
    expect(nothingNew).toMatchObject({ status: 'succeeded' });
    expect(jobs('one')).toHaveLength(2);
  });

  it('succeed, fail, or retry without the inputs that are done', async () => {
    let round = 0;
    flow.downstream.behave((call) => {
      // A deployed stack may still repeat a call of another file's test.
      if (call.target !== flow.target('mixed')) return { status: 200 };
      round += 1;
      const { inputs } = JSON.parse(call.text) as MergedCall;
      const say = ({ id }: { id: string }) => {
        if (id === 'cloudy') return { key: id, status: 'failed', error: { code: 'no-sight', message: 'clouds' } };
        return round === 1 && id === 'later'
          ? { key: id, status: 'retry' }
          : { key: id, status: 'succeeded', result: 7 };
      };
      return { status: 200, body: { inputs: inputs.map(say) } };
    });
    const ended = await send('mixed', [['x', 'later'], ['x', 'cloudy'], ['x']]);
    expect(ended).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', error: { code: 'no-sight', message: 'input "cloudy": clouds' } },
      { status: 'succeeded', result: { inputs: [{ key: 'x', result: 7 }] } },
    ]);
    // Input x is never called twice.
    expect(inputsOf('mixed').filter((key) => key === 'x')).toHaveLength(1);
    expect(inputsOf('mixed').filter((key) => key === 'later')).toHaveLength(2);
  });

  it('end with their inputs if the job reports later', async () => {
    flow.downstream.behave(() => ({ status: 202, body: { pending: true } }));
    const ids = await flow.send(
      [['u', 'v'], ['v'], ['w']].map((keys) => ({ depot: 'later', inputs: keys.map((id) => ({ id })) })),
    );
    const { batchId } = await eventually(() => flow.calls('later')[0]);
    await eventually(async () => (await flow.batch(batchId)).pending === 3);
    const report = (body: object) => ask(flow, 'POST', `/batches/${encodeURIComponent(batchId)}/complete`, body);
    const inputs = [
      { key: 'u', status: 'failed', error: { code: 'no-sight', message: 'clouds' } },
      { key: 'v', status: 'succeeded', result: 1 },
      { key: 'w', status: 'succeeded' },
    ];
    expect(await report({ inputs: [{ key: 'u', status: 'cloudy' }] })).toMatchObject({
      code: 400,
      errors: [{ path: 'inputs[0].status' }],
    });
    expect(await report({ inputs })).toMatchObject({ code: 202 });
    expect(await flow.ended(ids)).toMatchObject([
      { status: 'failed', error: { code: 'no-sight' } },
      { status: 'succeeded', result: { inputs: [{ key: 'v', result: 1 }] } },
      { status: 'succeeded' },
    ]);
    expect(jobs('later')).toHaveLength(1);
  });

  it('are refused one by one if they have no valid inputs', async () => {
    await flow.send([{ depot: 'bad', inputs: [{}] }, { depot: 'bad' }]);
    expect(await send('bad', [['a']])).toMatchObject([{ status: 'succeeded' }]);
    expect(inputsOf('bad')).toEqual(['a']);
    const refused = await eventually(async () => {
      const found = (await flow.rejected()).filter(({ body }) => body.includes('"bad"'));
      return found.length >= 2 ? found : undefined;
    });
    const paths = refused.map(({ errors }) => errors[0]?.path);
    expect(new Set(paths)).toEqual(new Set(['payload.inputs[0].id', 'payload.inputs']));
  });
});
