/** Windows that end while their Target or operation is at its cap are merged into one job. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';
import { waitingIn } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('windowed');
});
afterAll(() => flow?.stop());

/** The configured window, and a margin, in milliseconds. */
const A_WINDOW = 1_100;

/** A merged call, as the downstream receives it. */
interface Job {
  readonly target: string;
  readonly inputs: readonly { readonly id: string }[];
  readonly items: readonly object[];
}
const jobs = () =>
  flow.calls().map(({ text }) => {
    const { target, inputs, items } = JSON.parse(text) as Job;
    return { target, inputs: inputs.map(({ id }) => id).toSorted(), requests: items.length };
  });

it('requests of several windows that end during a job become one job for each Target', async () => {
  let finish = (): void => {};
  const isOver = new Promise<void>((resolve) => {
    finish = resolve;
  });
  flow.downstream.behave(async () => {
    await isOver;
    return { status: 200 };
  });
  const request = (depot: string, ...inputs: readonly string[]) => ({ depot, inputs: inputs.map((id) => ({ id })) });
  const ids = await flow.send([request('slow', 'a', 'b')]);
  await eventually(() => jobs().length === 1);
  for (let round = 0; round < 4; round += 1) {
    ids.push(...(await flow.send([request('slow', 'b', 'c', `s${round}`), request('other', 'x', `o${round}`)])));
    for (const depot of ['slow', 'other']) await eventually(async () => (await waitingIn(flow, depot)) === round + 1);
    // Each round is a window of its own, which ends without a job.
    await setTimeout(A_WINDOW);
  }
  expect(jobs()).toHaveLength(1);
  finish();
  const ended = await flow.ended(ids);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  const [first, ...rest] = jobs();
  expect(first).toEqual({ target: 'windowed/depot=slow', inputs: ['a', 'b'], requests: 1 });
  expect(rest.toSorted((one, another) => one.target.localeCompare(another.target))).toEqual([
    { target: 'windowed/depot=other', inputs: ['o0', 'o1', 'o2', 'o3', 'x'], requests: 4 },
    // The first job has done input b.
    { target: 'windowed/depot=slow', inputs: ['c', 's0', 's1', 's2', 's3'], requests: 4 },
  ]);
});
