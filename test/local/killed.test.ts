import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type LocalFile, readLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';

const MAIN = join(import.meta.dirname, '../../tools/local/main.ts');
const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');
const TASKS = 600;

describe('a killed and restarted local stack', () => {
  let folder: string;
  let downstream: TestDownstream;
  let child: ChildProcess | undefined;
  const output: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-killed-'));
    downstream = await startTestDownstream(async ({ target }) => {
      await setTimeout(target.endsWith('SLOW') && slowCalls() <= 3 ? 5_000 : 30);
      return { status: 200 };
    });
    const retry = { maxAttempts: 2, immediate: 0 };
    const operation = operationAt(downstream.url, { batch: { maxSize: 10, maxWait: '500ms' }, retry });
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { ship: operation } }));
  });
  afterAll(async () => {
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await new Promise((resolve) => child?.once('exit', resolve));
    }
    await downstream.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (): Promise<LocalFile> => {
    child = spawn(NODE, [MAIN, '--port', '0', '--quiet'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => output.push(String(data)));
    const { pid } = child;
    await eventually(() => readLocalFile(folder)?.pid === pid);
    return readLocalFile(folder) as LocalFile;
  };
  const send = async ({ sqs, queues }: LocalFile, from: number, count: number): Promise<string[]> => {
    const client = createClient({ queueUrl: queues.register, sqs: localClients({ sqs }).sqs });
    return client.sendAll(
      Array.from({ length: count }, (_, n) => ({
        operation: 'ship',
        payload: { depot: `D${(from + n) % 7}`, n: from + n },
      })),
    );
  };
  const slowCalls = (): number => downstream.calls.filter(({ target }) => target.endsWith('SLOW')).length;
  const arrived = (): Set<string> => new Set(downstream.calls.flatMap(({ items }) => items.map(({ id }) => id)));

  it('finishes every task, and puts none into two batches', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const stack = await start();
      const before = arrived().size;
      ids.push(...(await send(stack, ids.length, TASKS / 3)));
      await eventually(() => arrived().size > before + 20);
      const died = new Promise((resolve) => child?.once('exit', resolve));
      child?.kill('SIGKILL');
      await died;
      // The engine ends with its process, so that the port and the data are free.
      await eventually(async () =>
        fetch(stack.dynamodb).then(
          () => false,
          () => true,
        ),
      );
    }
    expect(arrived().size).toBeLessThan(TASKS);
    const { api } = await start();
    await eventually(() => arrived().size === TASKS);

    const statusOf = async (id: string): Promise<string> =>
      ((await (await fetch(`${api}/tasks/${id}`)).json()) as { status: string }).status;
    for (const id of ids) await eventually(async () => (await statusOf(id)) === 'succeeded');
    const batches = new Map<string, Set<string>>();
    for (const { batchId, items } of downstream.calls)
      for (const { id } of items) batches.set(id, (batches.get(id) ?? new Set()).add(batchId));
    expect([...batches.values()].filter((each) => each.size > 1)).toEqual([]);
    expect(new Set(batches.keys())).toEqual(new Set(ids));
  });

  it('counts no attempt that the kill cut short', async () => {
    const kill = async (): Promise<void> => {
      const died = new Promise((resolve) => child?.once('exit', resolve));
      child?.kill('SIGKILL');
      await died;
    };
    await kill();
    const payload = { operation: 'ship', id: 'slow', payload: { depot: 'SLOW' } };
    for (let round = 1; round <= 3; round += 1) {
      const { api } = await start();
      if (round === 1) await fetch(`${api}/tasks`, { method: 'POST', body: JSON.stringify(payload) });
      await eventually(() => slowCalls() === round);
      await kill();
    }
    const { api } = await start();
    const task = async () =>
      (await (await fetch(`${api}/tasks/slow`)).json()) as { status: string; attempts: number; error?: object };
    await eventually(async () => ['succeeded', 'failed'].includes((await task()).status));
    expect(await task()).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('drains on SIGTERM, and leaves nothing behind', async () => {
    const running = child as ChildProcess;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(readLocalFile(folder)).toBeUndefined();
    expect(output.join('')).toContain('Resumed');
  });
});
