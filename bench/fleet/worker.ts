/** Runs the cases that it receives, one after another, in a thread of its own. */
import { parentPort } from 'node:worker_threads';
import { contend } from './contenders.ts';
import type { Case } from './runs.ts';
import { fleetScenario } from './scenarios.ts';

parentPort?.on('message', async ({ scenario, nodes, contender, seed, timing }: Case) => {
  parentPort?.postMessage(await contend(contender, fleetScenario(scenario, nodes, seed, timing)));
});
