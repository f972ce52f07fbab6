/** A downstream that is down, or locked: its batches wait, and burn no attempt. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, type Flow, startFlow } from './flow.ts';
import { ask } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('broken');
});
afterAll(() => flow?.stop());

interface State {
  readonly circuit: string;
  readonly failures: number;
  readonly paused?: { readonly by: string; readonly since: string; readonly until: string; readonly reason: string };
}
const stateOf = async ({ operation }: Flow): Promise<State> => {
  const { operations } = (await flow.get('/operations')) as unknown as {
    operations: (State & { operation: string })[];
  };
  return operations.find((each) => each.operation === operation) as State;
};
/** The circuit's pause, once there is another one than `before`. */
const opened = (of: Flow, before?: string): Promise<NonNullable<State['paused']>> =>
  eventually(async () => {
    const { circuit, paused } = await stateOf(of);
    return circuit === 'open' && paused?.since !== before ? paused : undefined;
  });

/** As configured: attempts that open it, and batches at once. */
const [FAILURES, TOTAL] = [2, 4];

it('while it answers 503, attempts stop; no task fails of that, and all is done when it is back', async () => {
  flow.downstream.behave(() => ({ status: 503 }));
  const depots = Array.from({ length: 12 }, (_, n) => `D${n}`);
  const ids = await flow.send(depots.flatMap((depot) => [{ depot }, { depot }]));
  let pause = await opened(flow);
  expect(pause).toMatchObject({ by: 'circuit', reason: 'answered 503' });
  const before = flow.calls().filter(({ at }) => at < Date.parse(pause.since));
  // Those that fail at the same time as the one that opens it count too.
  expect(before.length).toBeGreaterThanOrEqual(FAILURES);
  expect(before.length).toBeLessThanOrEqual(FAILURES - 1 + TOTAL);
  // Longer than all attempts that there are.
  for (let times = 0; times < 2; times += 1) {
    const [since, until] = [Date.parse(pause.since), Date.parse(pause.until)];
    pause = await opened(flow, pause.since);
    // Only who was about to call when it opened does so yet.
    const during = flow.calls().filter(({ at }) => at > since && at < until);
    expect(during.length).toBeLessThan(TOTAL);
  }
  const meanwhile = await Promise.all(ids.map((id) => flow.task(id)));
  expect(meanwhile.filter((task) => task?.status === 'failed' || task?.status === 'succeeded')).toEqual([]);

  flow.downstream.behave(() => ({ status: 200 }));
  const ended = await flow.ended(ids);
  expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  expect(await stateOf(flow)).toMatchObject({ circuit: 'closed', failures: 0 });
});

it('that answers 403 is called once; a person who has mended that resumes, long before the pause is over', async () => {
  const locked = flow.of('locked');
  flow.downstream.behave(() => ({ status: 403 }));
  const [first = ''] = await locked.send([{ depot: 'first' }]);
  const { reason } = await opened(locked);
  expect(reason).toMatch(/^answered 403 \(check the operation's downstream url and access\)/);
  const second = await locked.send([{ depot: 'second' }]);
  await eventually(async () => (await flow.get('/operations/locked')).waitingTargets === 1);
  expect(locked.calls()).toHaveLength(1);
  // Who mends it need not wait for the end of the pause.
  const task = await eventually(async () => {
    const found = await locked.task(first);
    return found?.nextAttemptAfter === undefined ? undefined : found;
  });
  expect(Date.parse(String(task.nextAttemptAfter)) - Date.now()).toBeLessThan(90_000);

  flow.downstream.behave(() => ({ status: 200 }));
  expect(await ask(flow, 'POST', '/operations/locked/resume')).toMatchObject({ code: 202, resuming: true });
  expect(await locked.ended(second)).toMatchObject([{ status: 'succeeded' }]);
  await eventually(async () => (await stateOf(locked)).circuit === 'closed');
});
