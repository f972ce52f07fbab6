/**
 * The newest task of a coalesce key, and the newest text of a merged input, win: by the time of sending, or by
 * version.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';

let pair: Flow;
beforeAll(async () => {
  pair = await startFlow('pair');
});
afterAll(() => pair?.stop());

const ask = async (flow: Flow, path: string, body: unknown): Promise<unknown> => {
  const response = await flow.backend.api(path, { method: 'POST', body: JSON.stringify(body) });
  expect(response.ok, path).toBe(true);
  return response.json();
};
const flush = (flow: Flow, depot: string) => ask(flow, '/targets/flush', { target: flow.target(depot) });
/** Sends one task, and waits until its row exists. */
const send = async (flow: Flow, id: string, fields: object): Promise<void> => {
  await ask(flow, '/tasks', { operation: flow.operation, id, ...fields });
  await eventually(async () => (await flow.task(id)) !== undefined);
};

/** Fails a task, sends a newer one that waits, and redrives the failed one. */
const failThenRedrive = async (flow: Flow, depot: string, fieldsOf: (n: number) => object): Promise<void> => {
  flow.downstream.behave(() => ({ status: 422 }));
  await send(flow, `${depot}-old`, fieldsOf(1));
  await eventually(async () => {
    await flush(flow, depot);
    return (await flow.task(`${depot}-old`))?.status === 'failed';
  });
  flow.downstream.behave(() => ({ status: 200 }));
  await send(flow, `${depot}-new`, fieldsOf(2));
  await ask(flow, '/tasks/redrive', { ids: [`${depot}-old`] });
  await eventually(async () => (await flow.task(`${depot}-old`))?.run === 2);
  await flush(flow, depot);
};

it('a redriven task is superseded by a newer waiting task with its coalesce key', async () => {
  const depot = 'newest-keyed';
  await failThenRedrive(pair, depot, (n) => ({ payload: { depot, n }, coalesceKey: 'position' }));
  const [old, newer] = await pair.ended([`${depot}-old`, `${depot}-new`]);
  expect(old).toMatchObject({ status: 'succeeded', supersededBy: `${depot}-new`, run: 2 });
  expect(newer).toMatchObject({ status: 'succeeded', run: 1 });
  expect(newer).not.toHaveProperty('supersededBy');
  expect(pair.calls(depot).at(-1)?.items).toEqual([{ id: `${depot}-new`, payload: { depot, n: 2 } }]);
});

it('a task with a higher version stays although a lower version is sent later', async () => {
  const depot = 'newest-version';
  for (const version of [7, 6])
    await send(pair, `v${version}`, { payload: { depot, version }, coalesceKey: 'position', version });
  await flush(pair, depot);
  const [kept, replaced] = await pair.ended(['v7', 'v6']);
  expect(kept).toMatchObject({ status: 'succeeded', version: 7 });
  expect(replaced).toMatchObject({ status: 'succeeded', supersededBy: 'v7' });
  expect(pair.calls(depot).flatMap(({ items }) => items.map(({ id }) => id))).toEqual(['v7']);
});

it('a merged job gets the newer text of an input although the older request was redriven', async () => {
  const merging = pair.of('merging');
  const depot = 'newest-merged';
  await failThenRedrive(merging, depot, (version) => ({ payload: { depot, inputs: [{ id: 'tile', version }] } }));
  const ended = await merging.ended([`${depot}-old`, `${depot}-new`]);
  expect(ended.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  const texts = merging.calls(depot).map(({ text }) => (JSON.parse(text) as { inputs: object[] }).inputs);
  expect(texts.at(-1)).toEqual([{ id: 'tile', version: 2 }]);
  expect(texts.slice(1).flat()).not.toContainEqual({ id: 'tile', version: 1 });
});
