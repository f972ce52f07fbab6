/**
 * Functions of an earlier release beside this one's, on the same queues and tables, as for some minutes of a
 * deployment.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded } from '../../src/virtual/random.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { poll } from '../../tools/local/event-sources.ts';
import { functionOf, type LocalFunction } from '../../tools/local/functions.ts';
import type { Polling } from '../../tools/local/pollers.ts';
import { type RunningStack, startStack } from '../../tools/local/stack.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { backendOf } from '../backends/here.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';
import { type AtOnce, ask, countAtOnce } from '../end-to-end/together.ts';
import { type Behaviour, type ReceivedCall, startTestDownstream } from '../factories/downstream.ts';
import { errorLog } from '../factories/error-log.ts';
import { type FormerHandler, formerCode } from './former-code.ts';

const FORMER = '0.2.0';
const TASKS = 30;
const TARGETS = 6;
const OPERATIONS = ['ship', 'capped', 'single', 'rated', 'reporting', 'merging'] as const;
/** Part of a function's name → the code that it runs. */
const HANDLER_IN: Readonly<Record<string, FormerHandler>> = {
  Register: 'register',
  Elect: 'elect-leader',
  Group: 'group',
  Batch: 'batch-handler',
  Sweep: 'sweep',
};

let flow: Flow;
let stack: RunningStack;
let formerPollers: Polling;
let former: ReadonlyMap<string, LocalFunction>;
/** Whether this release's code has replaced the earlier code in every function. */
let isDeployed = false;
/** The invoked functions, by release. */
const invoked = { former: new Set<string>(), today: new Set<string>() };
const caps = new Map<string, AtOnce>(OPERATIONS.map((name) => [name, countAtOnce()]));

beforeAll(async () => {
  const downstream = await startTestDownstream();
  const { url } = downstream;
  const config = configFrom({
    operations: {
      ship: operationAt(url),
      capped: operationAt(url, { concurrency: { total: 3 } }),
      single: operationAt(url, { concurrency: { perTarget: 1 } }),
      rated: operationAt(url, { rateLimit: 20 }),
      reporting: operationAt(url),
      merging: operationAt(url, { merge: { keys: 'inputs[].id' } }),
    },
  });
  const errors: string[] = [];
  const onError = (error: Error): void => void errors.push(error.message);
  const host = { log: errorLog(errors) };
  const onInvoke = (name: string): void => void invoked.today.add(name);
  stack = await startStack({ config, apiPort: 0, ports: { dynamodb: 0, sqs: 0 }, host, onInvoke, onError });
  const { dynamodb, sqs } = stack.addresses;
  former = await formerFunctions(stack, { ...host, clients: localClients({ dynamodb, sqs }) });
  formerPollers = poll(
    new CloudAssembly(synthesise(config), { sqs }),
    former,
    localClients({ sqs, patient: true }).sqs,
    onError,
  );
  flow = flowOn(backendOf(stack, errors), downstream, 'ship');
  downstream.behave(answering());
});
afterAll(async () => {
  await formerPollers?.stop();
  await flow?.stop();
});

/** The earlier release's functions, with the environment of this one's. */
const formerFunctions = async (
  { functions }: RunningStack,
  host: Parameters<Awaited<ReturnType<typeof formerCode>>['sweep']>[1],
): Promise<ReadonlyMap<string, LocalFunction>> => {
  const code = await formerCode(FORMER);
  return new Map(
    [...functions].flatMap(([name, today]) => {
      const [, part = ''] = /(\w+)Handler/.exec(name) ?? [];
      const handler = HANDLER_IN[part];
      if (!handler) return [];
      const before = functionOf(code[handler], today, host, () => invoked.former.add(name));
      return [[name, { ...before, invoke: (event) => (isDeployed ? today : before).invoke(event) }]];
    }),
  );
};

/** Refuses one call of seven and one item of eleven for now. Answers `pending` to jobs, and reports them by the API. */
const answering = (): Behaviour => {
  const random = seeded(23);
  const reported = (call: ReceivedCall): void =>
    void setTimeout(200).then(() => ask(flow, 'POST', `/batches/${encodeURIComponent(call.batchId)}/complete`, {}));
  const answer: Behaviour = async (call) => {
    await setTimeout(random.next() * 150);
    if (random.next() < 1 / 7) return { status: 503 };
    if (call.operation === 'reporting') {
      reported(call);
      return { status: 202, body: { pending: true } };
    }
    if (call.operation === 'merging') return { status: 200 };
    const results = call.items.map(({ id }) => ({ id, status: random.next() < 1 / 11 ? 'retry' : 'succeeded' }));
    done.push(...results.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
    return { status: 200, body: { results } };
  };
  return (call, response) => (caps.get(call.operation) as AtOnce).count(answer)(call, response);
};
/** The ids of tasks for which calls succeeded, once for each success. */
const done: string[] = [];

/** Tasks of all operations and Targets, some sent twice. @returns their ids */
const load = async (prefix: string, each: number): Promise<readonly string[]> => {
  const random = seeded(each);
  const ids: string[] = [];
  for (let n = 0; n < each; n += 1) {
    const tasks = OPERATIONS.map((operation) => ({
      operation,
      id: `${prefix}-${operation}-${n}`,
      payload: { depot: `D${Math.floor(random.next() * TARGETS)}`, inputs: [{ id: `i${n % 9}`, n }] },
    }));
    ids.push(...tasks.map(({ id }) => id));
    await flow.send(random.next() < 0.2 ? [...tasks, ...tasks] : tasks);
    await setTimeout(random.next() * 150);
  }
  return ids;
};

const batchesWith = (id: string): ReadonlySet<string> =>
  new Set(
    flow.downstream.calls.filter(({ items }) => items.some((item) => item.id === id)).map(({ batchId }) => batchId),
  );

it('two releases side by side run each task in one batch, within every cap', async () => {
  const sweeping = setInterval(() => {
    for (const [name, fn] of [...former, ...stack.functions])
      if (name.includes('Sweep')) void fn.invoke({ source: 'aws.events' });
  }, 2_000);
  const ids = await load('both', TASKS);
  const tasks = await flow.ended(ids);
  clearInterval(sweeping);
  expect(tasks.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  for (const id of ids)
    expect([id, batchesWith(id).size]).toEqual([id, id.includes('merging') ? expect.any(Number) : 1]);
  expect(done.length).toBe(new Set(done).size);
  expect(caps.get('capped')?.all).toBeLessThanOrEqual(3);
  expect(caps.get('single')?.ofTarget).toBe(1);
  expect([...invoked.former].sort()).toEqual([...former.keys()].sort());
  for (const name of former.keys()) expect([...invoked.today]).toContain(name);

  isDeployed = true;
  const later = await flow.ended(await load('after', 5));
  expect(later.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  for (const operation of OPERATIONS)
    await eventually(async () => {
      const { batches = [], waitingTargets = 0 } = await flow.get(`/operations/${operation}`);
      return (batches as string[]).length === 0 && waitingTargets === 0;
    });
  // On a busy machine a function may run out of time; its message comes back.
  expect(flow.backend.errors().filter((error) => !/OutOfTime|TimeIsUp/.test(error))).toEqual([]);
});
