/** A downstream that is down or refuses access: its batches wait, and no attempt is counted. */
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
/** The circuit's pause, once its `since` differs from `before`. */
const opened = (of: Flow, before?: string): Promise<NonNullable<State['paused']>> =>
  eventually(async () => {
    const { circuit, paused } = await stateOf(of);
    return circuit === 'open' && paused?.since !== before ? paused : undefined;
  });

/** `circuit.failures` and `concurrency.total` of the operation. */
const [FAILURES, TOTAL] = [2, 4];

it('an open circuit stops the attempts while the downstream answers 503; no task fails', async () => {
  flow.downstream.behave(() => ({ status: 503 }));
  const depots = Array.from({ length: 12 }, (_, n) => `D${n}`);
  const ids = await flow.send(depots.flatMap((depot) => [{ depot }, { depot }]));
  let pause = await opened(flow);
  expect(pause).toMatchObject({ by: 'circuit', reason: 'answered 503' });
  const before = flow.calls().filter(({ at }) => at < Date.parse(pause.since));
  // Attempts in flight when the circuit opens count too.
  expect(before.length).toBeGreaterThanOrEqual(FAILURES);
  expect(before.length).toBeLessThanOrEqual(FAILURES - 1 + TOTAL);
  // Two more pauses take longer than all attempts of a batch together.
  for (let times = 0; times < 2; times += 1) {
    const [since, until] = [Date.parse(pause.since), Date.parse(pause.until)];
    pause = await opened(flow, pause.since);
    // Only batch handlers that were about to call when the circuit opened still call.
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

it('a downstream that answers 403 is called once; a person resumes before the pause ends', async () => {
  const locked = flow.of('locked');
  flow.downstream.behave(() => ({ status: 403 }));
  const [first = ''] = await locked.send([{ depot: 'first' }]);
  const { reason } = await opened(locked);
  expect(reason).toMatch(/^answered 403 \(check the operation's downstream url and access\)/);
  const second = await locked.send([{ depot: 'second' }]);
  await eventually(async () => (await flow.get('/operations/locked')).waitingTargets === 1);
  expect(locked.calls()).toHaveLength(1);
  // A batch retries within 90 seconds, so that a person who fixed the cause does not wait for the end of the pause.
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
