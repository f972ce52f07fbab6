import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type LocalFile, readLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';

const MAIN = join(import.meta.dirname, '../../tools/local/main.ts');
const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');
/** Long enough for three starts on a busy machine. */
const WINDOW = 40_000;

let folder: string;
let downstream: TestDownstream;
let child: ChildProcess | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'groupage-windows-'));
  downstream = await startTestDownstream(async () => ({ status: 200 }));
  const operation = {
    target: [],
    batch: { window: `${WINDOW / 1_000}s` },
    bypass: { bytes: 2_000 },
    downstream: { kind: 'http', url: downstream.url },
  };
  writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { sample: operation } }));
});
afterAll(async () => {
  await stop('SIGTERM');
  await downstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (): Promise<LocalFile> => {
  child = spawn(NODE, [MAIN, '--port', '0', '--quiet'], { cwd: folder, stdio: 'ignore' });
  const { pid } = child;
  await eventually(() => readLocalFile(folder)?.pid === pid);
  return readLocalFile(folder) as LocalFile;
};
const stop = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await new Promise((resolve) => child?.once('exit', resolve));
};
const send = async ({ api, sqs, queues }: LocalFile, ids: readonly string[], text = ''): Promise<void> => {
  const client = createClient({ queueUrl: queues.register, sqs: localClients({ sqs }).sqs });
  await client.sendAll(ids.map((id) => ({ operation: 'sample', id, payload: { id, text } })));
  for (const id of ids) await eventually(async () => (await fetch(`${api}/tasks/${id}`)).status === 200);
};
const called = (): string[][] => downstream.calls.map(({ items }) => items.map(({ id }) => id).sort());

it('a window survives stops and crashes, and gives one batch; a large task bypasses it', async () => {
  // The window starts here, so that all tasks fall into it.
  await setTimeout(WINDOW - (Date.now() % WINDOW));
  await send(await start(), ['a', 'b']);
  await stop('SIGTERM');
  await send(await start(), ['c']);
  await stop('SIGKILL');
  const running = await start();
  await send(running, ['large'], 'x'.repeat(2_000));
  await eventually(() => called().length === 1);
  await send(running, ['d']);
  expect(called()).toEqual([['large']]);
  await eventually(() => called().length === 2);
  expect(called()[1]).toEqual(['a', 'b', 'c', 'd']);
  expect(Date.now() % WINDOW).toBeLessThan(WINDOW / 2);
});
