import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Runs a tool of this repository; returns its output if it fails. */
const complaint = async (tool: string, ...args: string[]): Promise<string> => {
  try {
    await promisify(execFile)(join(ROOT, 'node_modules/.bin', tool), args, {
      cwd: ROOT,
      maxBuffer: 64 * 1_024 * 1_024,
    });
    return '';
  } catch (cause) {
    const { stdout, stderr } = cause as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }
};

describe('the repository', () => {
  it('type-checks', async () => expect(await complaint('tsc', '-p', '.')).toBe(''));
  it("type-checks the console's page, which a browser runs", async () =>
    expect(await complaint('tsc', '-p', 'tools/console/page')).toBe(''));
  it('is formatted and linted', async () =>
    expect(await complaint('biome', 'check', '--error-on-warnings', '.')).toBe(''));
  it('has no unused code, files or dependencies', async () => expect(await complaint('knip')).toBe(''));
});
