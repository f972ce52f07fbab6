/** Runs the schedules that it is given, chunk by chunk, in a thread of its own. */
import { parentPort } from 'node:worker_threads';
import type { Chunk } from './parallel.ts';
import { runSchedules } from './schedules.ts';

parentPort?.on('message', async ({ seed, runs, size }: Chunk) => {
  parentPort?.postMessage(await runSchedules(seed, runs, undefined, undefined, size));
});
