/**
 * Caps survive a process that is killed during its calls: the next process counts the slots that the first one left.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import type { LocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { countAtOnce } from '../end-to-end/together.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { type LocalProcess, localProcess } from './process.ts';

const TOTAL = 4;
const KILLS = 2;
const DEPOTS = ['A', 'B', 'C', 'D', 'E', 'F'];

let downstream: TestDownstream;
let runtime: LocalProcess;
const counts = { single: countAtOnce(), few: countAtOnce() };
let cutShort = 0;
/** Calls wait for a pending kill, however slow the machine is. */
let kill: Promise<void> | undefined;
let waiting = 0;
beforeAll(async () => {
  downstream = await startTestDownstream(async (call, response) => {
    response.once('close', () => {
      if (!response.writableEnded) cutShort += 1;
    });
    const counted = counts[call.operation as keyof typeof counts].count(async () => {
      await setTimeout(250);
      // No call ends before the cap was reached.
      if (call.operation === 'few') await eventually(() => counts.few.all >= TOTAL);
      if (kill) {
        waiting += 1;
        await kill;
      }
      return { status: 200 };
    });
    return counted(call, response);
  });
  const batch = { maxSize: 2, maxWait: '200ms' } as const;
  // One attempt: an attempt that a kill cut short does not count.
  const retry = { maxAttempts: 1, immediate: 0 };
  runtime = localProcess({
    operations: {
      single: operationAt(downstream.url, { batch, retry, concurrency: { perTarget: 1 } }),
      few: operationAt(downstream.url, { batch, retry, concurrency: { total: TOTAL } }),
    },
  });
});
afterAll(async () => {
  await runtime.remove();
  await downstream.stop();
});

const send = async ({ sqs, queues }: LocalFile): Promise<string[]> => {
  const client = createClient({ queueUrl: queues.register, sqs: localClients({ sqs }).sqs });
  const tasks = DEPOTS.flatMap((depot) => Array.from({ length: 6 }, (_, n) => ({ depot, n })));
  return client.sendAll(['single', 'few'].flatMap((operation) => tasks.map((payload) => ({ operation, payload }))));
};

it('caps hold after repeated SIGKILL; all tasks succeed, and every slot is released', async () => {
  const ids: string[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    const before = downstream.calls.length;
    ids.push(...(await send(await runtime.start())));
    await eventually(() => downstream.calls.length > before + 10 && counts.few.all >= TOTAL);
    const killed = Promise.withResolvers<void>();
    [kill, waiting] = [killed.promise, 0];
    await eventually(() => waiting > 0);
    await runtime.kill();
    kill = undefined;
    killed.resolve();
  }
  const { api } = await runtime.start();
  const get = async (path: string) => (await (await fetch(`${api}${path}`)).json()) as Record<string, unknown>;
  for (const id of ids)
    await eventually(async () => {
      const { status, error } = await get(`/tasks/${id}`);
      if (status === 'failed') throw new Error(`${id} failed: ${JSON.stringify(error)}`);
      return status === 'succeeded';
    });
  expect(cutShort).toBeGreaterThanOrEqual(KILLS);
  expect(counts.single.ofTarget).toBe(1);
  expect(counts.single.all).toBeGreaterThan(1);
  expect(counts.few.all).toBe(TOTAL);
  await eventually(async () => {
    const { slots, waitingTargets } = await get('/operations/few');
    return (slots as { taken: number }).taken === 0 && waitingTargets === 0;
  });
});
