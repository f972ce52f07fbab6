/** Simulates what it is told to, one after the other, in a thread of its own. */
import { parentPort } from 'node:worker_threads';
import { type Job, simulateJob } from './job.ts';

parentPort?.on('message', async (job: Job) => {
  parentPort?.postMessage(await simulateJob(job));
});
