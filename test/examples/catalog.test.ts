/** The example does what its README says, run as a user runs it, with fewer items. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');

it('the catalog example makes one event of 4,000 tasks, though two processes die', async () => {
  const args = ['examples/catalog/run.ts', '--items', '4000'];
  const { stdout } = await promisify(execFile)(NODE, args, { cwd: ROOT });
  const row = (name: string): string | undefined => new RegExp(`^${name} +(.*)$`, 'm').exec(stdout)?.[1];
  expect(JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? '{}')).toMatchObject({
    status: 'complete',
    total: 4_000,
    succeeded: 3_998,
    failed: 2,
    userKey: 'catalogue of 4000 items',
  });
  // Half of the tasks were sent when the consumer died, and all of them again afterwards.
  expect(row('tasks registered')).toBe('4000, and 2000 repeats of known tasks');
  expect(row('items in the index')).toMatch(/^3998, of them [1-9]\d* written twice$/);
  expect(row('deaths')).toBe('1 of the consumer, 1 of the index');
  expect(row('completed')).toMatch(/^1 time, reported by 1 event in \d+ messages?$/);
});
