/**
 * A function's start, in a process of its own: its code is loaded, and its first invocation composes it.
 *
 *   node probe.mjs FOLDER EVENT
 *
 * Prints how many milliseconds passed since the process began, and how many of them (or more, by threads) it computed.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder = '', event = ''] = process.argv;
const { handler } = await import(pathToFileURL(join(folder, 'index.mjs')).href);
const answer = handler(JSON.parse(event), { getRemainingTimeInMillis: () => 0 });
const ms = performance.now();
const { user, system } = process.cpuUsage();
// What it does then is not looked at: it may ask a table that is not there.
Promise.resolve(answer).catch(() => {});
process.stdout.write(`\n${JSON.stringify({ ms, cpu: (user + system) / 1_000 })}\n`, () => process.exit(0));
