/**
 * Runs a sustained load in the simulator, with the latencies that it assumes for AWS, to find the number of pollers
 * that it needs.
 */

import { AWS } from '../../tools/simulate/platform.ts';
import { simulate } from '../../tools/simulate/simulate.ts';
import { configOf } from '../agreement/compare.ts';
import { sustained } from '../agreement/traces.ts';
import { span } from '../scale/table.ts';
import type { Load } from './loads.ts';

/** The numbers of pollers per queue that are simulated. */
const POLLERS = [5, 10, 80];

export const inTheSimulator = async (load: Load): Promise<string> => {
  const trace = sustained(load);
  const config = configOf('http://127.0.0.1/batch', trace);
  const found: string[] = [];
  for (const most of POLLERS) {
    const surroundings = { ...AWS, pollers: { ...AWS.pollers, first: most, most } };
    const { operations } = await simulate({ config, arrivals: trace.arrivals, surroundings });
    for (const { waits } of operations) found.push(`${span(waits.p99)} (${most})`);
  }
  return `**${load.name}** in the simulator with its AWS latencies, p99 by the number of pollers of each queue: ${found.join(', ')}.`;
};
