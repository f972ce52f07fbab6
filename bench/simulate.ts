/**
 * `npm run bench:simulate -- --tasks 250000,500000,1000000` measures how long traces take to simulate, and how much
 * memory they need. Each trace has its own process with a limited heap: memory that grows with the trace would exceed
 * it.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

/** The heap limit in MB. */
const HEAP = 256;

const { values } = parseArgs({ options: { tasks: { type: 'string', default: '250000,500000,1000000' } } });

interface Took {
  readonly tasks: number;
  readonly took: number;
  readonly megabytes: number;
}

const long = async (tasks: string): Promise<Took> => {
  const args = [`--max-old-space-size=${HEAP}`, join(import.meta.dirname, 'simulate', 'long.ts'), tasks];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Took;
};

let first: Took | undefined;
for (const tasks of values.tasks.split(',')) {
  const each = await long(tasks);
  first ??= each;
  const perTask = each.took / each.tasks;
  const ratio = perTask / (first.took / first.tasks);
  console.log(
    `${each.tasks.toLocaleString('en').padStart(10)} tasks  ${(each.took / 1_000).toFixed(1).padStart(6)} s  ` +
      `${(perTask * 1_000).toFixed(0)} µs a task (${ratio.toFixed(2)} of the first)  ${each.megabytes.toFixed(0)} MB`,
  );
}
