/** The example does what its README says, run as a user runs it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { burst, scattered, WINDOW, windows } from '../../examples/downsampling/requests.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');

it('the downsampling example runs 71 requests of a window as one job, and none again', async () => {
  // Windows of 15 seconds: a busy machine takes some of them to send and register all requests.
  const { stdout } = await promisify(execFile)(NODE, ['examples/downsampling/run.ts', '--scale', '20'], { cwd: ROOT });
  const row = (name: string): string[] =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.trim()
      .split(/ {2,}/)
      .slice(1) ?? [];
  expect(row('requests done')).toEqual(['71', '71']);
  expect(row('jobs started')).toEqual(['71', '1']);
  expect(row('inputs done')).toEqual(['6,311', '160']);
  expect(Number(row('most jobs at once')[0])).toBeLessThanOrEqual(25);
  // Measured, so it includes delays; at least 71 starts of three minutes, and one.
  const [alone, together] = row('minutes of start-ups').map(Number) as [number, number];
  expect(alone).toBeGreaterThanOrEqual(71 * 3);
  expect(together).toBeGreaterThanOrEqual(3);
  expect(stdout).toContain('Asked again, 9 requests: 0 jobs started, ');
});

it('the downsampling requests are the same in each run, each within its window', () => {
  for (const [requests, count, products] of [
    [burst, 71, 1],
    [scattered, 6, 3],
    [windows, 300, 3],
  ] as const) {
    const all = requests();
    expect(requests()).toEqual(all);
    expect(all).toHaveLength(count);
    expect(new Set(all.map(({ id }) => id)).size).toBe(count);
    expect(new Set(all.map(({ product }) => product)).size).toBe(products);
    for (const { at, scenes } of all) {
      expect(at % WINDOW).toBeLessThanOrEqual(WINDOW / 2);
      expect(new Set(scenes.map(({ id }) => id)).size).toBe(scenes.length);
    }
  }
});
