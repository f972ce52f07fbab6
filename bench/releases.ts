/**
 * `npm run bench:releases -- --former FOLDER` compares the speed of this clone with that of a clone of a former release:
 * claims and completions of lists, added items and acks of fan-outs. Each clone runs its local stack with the embedded
 * engine. The script asks both in turn, many times in one run, so that other load on the machine slows both. It prints
 * the ratio of the medians: above 1, this clone is faster. Make the former clone ready with `npm ci`.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFanOutClient, createListClient } from '../src/client/client.ts';
import { wholeNumber } from '../verification/harness/whole-number.ts';

const { values } = parseArgs({
  options: {
    former: { type: 'string' },
    rounds: { type: 'string', default: '12' },
    port: { type: 'string', default: '4900' },
  },
});
if (values.former === undefined) {
  console.error('--former names the folder of a clone of the former release');
  process.exit(2);
}
const rounds = wholeNumber('rounds', values.rounds, 2);
const port = wholeNumber('port', values.port, 1_024);

interface Stack {
  readonly api: string;
  readonly child: ChildProcess;
}

/** The number of ports that a local stack uses from its own on. */
const PORTS = 10;
const READY_TRIES = 300;

const start = async (folder: string, at: number): Promise<Stack> => {
  const args = ['scripts/run.mjs', 'tools/local/main.ts', '--port', String(at), '--example-port', String(at + 5)];
  const child = spawn('node', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  const api = `http://127.0.0.1:${at}/v1`;
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the stack in ${folder} ended with status ${child.exitCode}`);
    const isReady = await fetch(`${api}/lists`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return { api, child };
    await pause(1_000);
  }
  throw new Error(`the stack in ${folder} did not start`);
};

const stop = async ({ child }: Stack): Promise<void> => {
  if (child.exitCode !== null || child.pid === undefined) return;
  // The stack runs in a process of its own, in this process group.
  process.kill(-child.pid, 'SIGINT');
  await once(child, 'exit');
};

const [LISTED, CLAIMED, ITEMS, ADDITIONS, ACKED, WORKERS] = [3_000, 10, 9_000, 20, 25, 8];

/** Calls `one` for each part of `all`, several at a time. */
const inParallel = async <T>(all: readonly T[], one: (part: T) => Promise<unknown>): Promise<void> => {
  const left = all.values();
  const worker = async (): Promise<void> => {
    for (const part of left) await one(part);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
};

const measured = async (count: number, run: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await run();
  return (1_000 * count) / (performance.now() - began);
};

/** Claims and completions a second. @param holder the name of the worker; an API of 0.2.0 refuses one */
const claims = async (api: string, holder?: string): Promise<number> => {
  const list = await createListClient({ api }).createList<{ n: number }>();
  await list.add(Array.from({ length: LISTED }, (_, n) => ({ n })));
  const all = Array.from({ length: LISTED / CLAIMED }, (_, n) => n);
  const speed = await measured(all.length, () =>
    inParallel(all, async () => {
      const claim = await list.claim({ count: CLAIMED, leaseSeconds: 60, ...(holder ? { holder } : {}) });
      assert(claim.kind === 'claimed');
      await claim.complete();
    }),
  );
  assert.equal((await list.get()).done, LISTED);
  return speed;
};

/** Items added and acked a second. */
const items = async (api: string): Promise<{ readonly added: number; readonly acked: number }> => {
  const client = createFanOutClient({ api });
  const fanOut = await client.openFanOut();
  const ids: string[] = [];
  const added = await measured(ITEMS, async () => {
    for (let n = 0; n < ADDITIONS; n += 1) for await (const item of fanOut.add(ITEMS / ADDITIONS)) ids.push(item);
  });
  const parts = Array.from({ length: ITEMS / ACKED }, (_, n) => ids.slice(n * ACKED, (n + 1) * ACKED));
  const acked = await measured(ITEMS, () => inParallel(parts, (part) => client.ack(part)));
  return { added, acked };
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const KINDS = ['claims and completions', 'added items', 'acked items'] as const;
type Speeds = Record<(typeof KINDS)[number], number[]>;
const none = (): Speeds => ({ 'claims and completions': [], 'added items': [], 'acked items': [] });

const stacks: Stack[] = [];
const speeds: [Speeds, Speeds] = [none(), none()];
try {
  for (const [n, folder] of [resolve(values.former), process.cwd()].entries())
    stacks.push(await start(folder, port + n * PORTS));
  for (let round = -1; round < rounds; round += 1)
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { api } = stacks[side] as Stack;
      const claimed = await claims(api, side === 1 ? 'worker-3' : undefined);
      const { added, acked } = await items(api);
      // The first round only warms up.
      if (round < 0) continue;
      speeds[side]['claims and completions'].push(claimed);
      speeds[side]['added items'].push(added);
      speeds[side]['acked items'].push(acked);
    }
} finally {
  await Promise.all(stacks.map(stop));
}

console.log(`| a second, medians of ${rounds} rounds | former | now | ratio |\n|---|--:|--:|--:|`);
for (const kind of KINDS) {
  const [former, now] = [median(speeds[0][kind]), median(speeds[1][kind])];
  console.log(`| ${kind} | ${former.toFixed(0)} | ${now.toFixed(0)} | ${(now / former).toFixed(2)} |`);
}
