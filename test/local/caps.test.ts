/** The cap of an operation, with more concurrent functions than the cap allows, as on Lambda. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { poll } from '../../tools/local/event-sources.ts';
import type { Polling } from '../../tools/local/pollers.ts';
import { type RunningStack, startStack } from '../../tools/local/stack.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { backendOf } from '../backends/here.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';
import { countAtOnce } from '../end-to-end/together.ts';
import { startTestDownstream } from '../factories/downstream.ts';

const TOTAL = 25;
const TARGETS = 60;
/** Each extra poller takes batches from the queue with five receivers: thirty in all. */
const MORE = 5;

let flow: Flow;
let stack: RunningStack;
const more: Polling[] = [];
beforeAll(async () => {
  const downstream = await startTestDownstream();
  const config = configFrom({
    operations: {
      ship: operationAt(downstream.url, { batch: { maxSize: 3, maxWait: '200ms' }, concurrency: { total: TOTAL } }),
    },
  });
  const errors: string[] = [];
  const onError = (error: Error): void => void errors.push(error.message);
  const log = { info: () => {}, warn: () => {}, error: (message: string) => void errors.push(message) };
  stack = await startStack({ config, apiPort: 0, ports: { dynamodb: 0, sqs: 0 }, host: { log }, onError });
  const { dynamodb, sqs } = stack.addresses;
  const assembly = new CloudAssembly(synthesise(config), { sqs });
  for (let n = 0; n < MORE; n += 1)
    more.push(poll(assembly, stack.functions, localClients({ dynamodb, sqs, patient: true }).sqs, onError));
  flow = flowOn(backendOf(stack, errors), downstream, 'ship');
});
afterAll(async () => {
  for (const each of more) await each.stop();
  await flow?.stop();
});

it('a cap over 60 Targets is reached, never exceeded, and every slot is released', async () => {
  const atOnce = countAtOnce();
  // No call is answered until the cap is reached and 1.5 s have passed: time for one more call to arrive.
  const isFull = eventually(() => atOnce.all >= TOTAL).then(() => setTimeout(1_500));
  flow.downstream.behave(
    atOnce.count(async () => {
      await isFull;
      return { status: 200 };
    }),
  );
  const depots = Array.from({ length: TARGETS }, (_, n) => `D${n}`);
  const ids = await flow.send(depots.flatMap((depot) => [1, 2].map((n) => ({ depot, n }))));
  const tasks = await flow.ended(ids);
  expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  expect(atOnce.all).toBe(TOTAL);
  await eventually(async () => {
    const { slots, waitingTargets } = await flow.get('/operations/ship');
    return (slots as { taken: number }).taken === 0 && waitingTargets === 0;
  });
});
