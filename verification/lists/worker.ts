/** Runs the schedules of deferred lists that it is given, chunk by chunk, in a thread of its own. */
import { parentPort } from 'node:worker_threads';
import type { Chunk } from '../batches/parallel.ts';
import { runListSchedules } from './schedules.ts';

parentPort?.on('message', async ({ seed, runs }: Chunk) => {
  parentPort?.postMessage(await runListSchedules(seed, runs));
});
