/**
 * Measures the start of a function in a process of its own: loads its code and composes it in its first invocation.
 *
 *     node probe.mjs FOLDER EVENT
 *
 * Prints the milliseconds since the process began, and the milliseconds of processor time, which can be more because of
 * threads.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder = '', event = ''] = process.argv;
const { handler } = await import(pathToFileURL(join(folder, 'index.mjs')).href);
const answer = handler(JSON.parse(event), { getRemainingTimeInMillis: () => 0 });
const ms = performance.now();
const { user, system } = process.cpuUsage();
// The result of the invocation is ignored, because the invocation may access a table that does not exist.
Promise.resolve(answer).catch(() => {});
process.stdout.write(`\n${JSON.stringify({ ms, cpu: (user + system) / 1_000 })}\n`, () => process.exit(0));
