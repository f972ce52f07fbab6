/** A worker thread that runs the simulations it receives, one after the other. */
import { parentPort } from 'node:worker_threads';
import { type Job, simulateJob } from './job.ts';

parentPort?.on('message', async (job: Job) => {
  parentPort?.postMessage(await simulateJob(job));
});
