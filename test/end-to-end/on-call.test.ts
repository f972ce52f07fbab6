/** What a person on call asks, on the whole flow: each call with what its function may do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('ship');
});
afterAll(() => flow?.stop());

describe('Targets', () => {
  it('are found by what their values begin with', async () => {
    await flow.ended(await flow.send([{ depot: 'searched-1' }, { depot: 'searched-2' }]));
    const { targets } = await flow.get('/targets?operation=ship&prefix=depot%3Dsearched-');
    expect(targets).toMatchObject(['searched-1', 'searched-2'].map((depot) => ({ target: flow.target(depot) })));
  });
});

describe('the queues', () => {
  it('are told of at once, all of them', async () => {
    await flow.ended(await flow.send([{ depot: 'queues' }]));
    const { queues, rejected } = (await flow.get('/queues')) as { queues: { queue: string }[]; rejected: number };
    expect(queues.map(({ queue }) => queue)).toEqual(['register', 'elect', 'group', 'batch', 'callback']);
    const counts = { waiting: expect.any(Number), inFlight: expect.any(Number), delayed: expect.any(Number) };
    for (const each of queues) expect(each).toEqual({ queue: each.queue, ...counts, deadLetters: 0 });
    expect(rejected).toBe(0);
  });
});
