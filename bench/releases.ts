/**
 * `npm run bench:releases -- --former FOLDER` compares the speed of this clone with that of a clone of a former release:
 * claims and completions of lists, added items and acks of fan-outs. Each clone runs its local stack with the embedded
 * engine and with data in memory. The script turns from one stack to the other several times a second, so that other
 * load on the machine slows both. It starts both stacks several times, because a process can be faster than its twin
 * for as long as it lives. It prints the median of the rounds' ratios, with the quartiles: above 1, this clone is
 * faster.
 *
 * Make the former clone ready with `npm ci`. To see the error of the measurement, name a second clone of this commit.
 */
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFanOutClient, createListClient } from '../src/client/client.ts';
import { inParts } from '../src/util/parts.ts';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { quantile } from './quantile.ts';

const { values } = parseArgs({
  options: {
    former: { type: 'string' },
    starts: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '8' },
    port: { type: 'string', default: '4900' },
  },
});
if (values.former === undefined) {
  console.error('--former names the folder of a clone of the former release');
  process.exit(2);
}
const starts = wholeNumber('starts', values.starts, 1);
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
  const ports = ['--port', String(at), '--example-port', String(at + 5)];
  const args = ['scripts/run.mjs', 'tools/local/main.ts', '--ephemeral', '--quiet', ...ports];
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

const [LISTED, CLAIMED, ITEMS, ADDITIONS, ACKED, WORKERS] = [4_000, 10, 10_000, 20, 25, 8];
/** How many claims, or acks, the script sends to one stack before it turns to the other. */
const IN_TURN = 40;

/** Calls `one` for each part of `all`, several at a time. */
const inParallel = async <T>(all: readonly T[], one: (part: T) => Promise<unknown>): Promise<void> => {
  const left = all.values();
  const worker = async (): Promise<void> => {
    for (const part of left) await one(part);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
};

type Step = () => Promise<void>;

/** Claims and completes all jobs of a new list. @param holder the name of the worker; an API of 0.2.0 refuses one */
const claims = async (api: string, holder?: string): Promise<Step[]> => {
  const list = await createListClient({ api }).createList<{ n: number }>();
  await list.add(Array.from({ length: LISTED }, (_, n) => ({ n })));
  const claimAndComplete = async () => {
    const claim = await list.claim({ count: CLAIMED, leaseSeconds: 60, ...(holder ? { holder } : {}) });
    assert(claim.kind === 'claimed');
    await claim.complete();
  };
  const all = Array.from({ length: LISTED / CLAIMED }, (_, n) => n);
  return inParts(all, IN_TURN).map((part) => () => inParallel(part, claimAndComplete));
};

/** Adds items to a new fan-out, then acks them. */
const items = async (api: string): Promise<{ readonly adds: Step[]; readonly acks: Step[] }> => {
  const client = createFanOutClient({ api });
  const fanOut = await client.openFanOut();
  const ids: string[] = [];
  const add = async () => {
    for await (const item of fanOut.add(ITEMS / ADDITIONS)) ids.push(item);
  };
  const calls = ITEMS / ACKED;
  const ack = async (call: number) => client.ack(ids.slice(call * ACKED, (call + 1) * ACKED));
  return {
    adds: Array.from({ length: ADDITIONS }, () => add),
    acks: inParts([...Array(calls).keys()], IN_TURN).map((part) => () => inParallel(part, ack)),
  };
};

/** The numbers of calls or items that a round compares. */
const COUNTS = { 'claims and completions': LISTED / CLAIMED, 'added items': ITEMS, 'acked items': ITEMS };
type Kind = keyof typeof COUNTS;
const [FORMER, NOW] = [0, 1] as const;

/** How long the steps of each side took, in seconds, when both sides take turns. */
const inTurns = async (former: readonly Step[], now: readonly Step[]): Promise<[number, number]> => {
  const took: [number, number] = [0, 0];
  const sides = [former, now] as const;
  for (const n of former.keys())
    for (const side of n % 2 === 0 ? ([FORMER, NOW] as const) : ([NOW, FORMER] as const)) {
      const began = performance.now();
      await sides[side][n]?.();
      took[side] += (performance.now() - began) / 1_000;
    }
  return took;
};

const round = async (former: string, now: string): Promise<Record<Kind, [number, number]>> => {
  const claimed = await inTurns(await claims(former), await claims(now, 'worker-3'));
  const [before, after] = [await items(former), await items(now)];
  const added = await inTurns(before.adds, after.adds);
  return {
    'claims and completions': claimed,
    'added items': added,
    'acked items': await inTurns(before.acks, after.acks),
  };
};

/** Starts both stacks, the one that `first` names before the other, and compares them. */
const compared = async (first: 0 | 1): Promise<Record<Kind, [number, number]>[]> => {
  const folders = [resolve(values.former as string), process.cwd()] as const;
  const stacks: Stack[] = [];
  try {
    for (const side of [first, 1 - first] as (0 | 1)[]) stacks[side] = await start(folders[side], port + side * PORTS);
    const [former, now] = stacks.map(({ api }) => api) as [string, string];
    // The first round only warms up.
    await round(former, now);
    const took = [];
    for (let n = 0; n < rounds; n += 1) took.push(await round(former, now));
    return took;
  } finally {
    await Promise.all(stacks.filter(Boolean).map(stop));
  }
};

const perStart: Record<Kind, [number, number]>[][] = [];
for (let n = 0; n < starts; n += 1) perStart.push(await compared(n % 2 === 0 ? FORMER : NOW));

console.log(`| a second, ${starts} starts of ${rounds} rounds | former | now | ratio | quartiles | of each start |`);
console.log('|---|--:|--:|--:|--:|--:|');
for (const kind of Object.keys(COUNTS) as Kind[]) {
  const times = perStart.map((start) => start.map((one) => one[kind]));
  const medianTime = (side: 0 | 1) =>
    quantile(
      times.flatMap((start) => start.map((took) => took[side])),
      0.5,
    );
  const ratios = times.map((start) => start.map(([former, now]) => former / now));
  const shown = (numbers: readonly number[], share: number) => quantile(numbers, share).toFixed(2);
  const all = ratios.flat();
  const cells = [
    (COUNTS[kind] / medianTime(FORMER)).toFixed(0),
    (COUNTS[kind] / medianTime(NOW)).toFixed(0),
    shown(all, 0.5),
    `${shown(all, 0.25)}–${shown(all, 0.75)}`,
    ratios.map((start) => shown(start, 0.5)).join(' '),
  ];
  console.log(`| ${kind} | ${cells.join(' | ')} |`);
}
