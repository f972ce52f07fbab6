/** The cap of an operation, with as many functions at once as Lambda would have: more than the cap lets through. */
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
/** Each takes batches off the queue in five places: thirty in all. */
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

it('lets no more calls through at once over sixty Targets, and no fewer; all is done, and every slot is given back', async () => {
  const atOnce = countAtOnce();
  // Nobody is answered until the cap is reached, and a moment longer: time for one more to come.
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
