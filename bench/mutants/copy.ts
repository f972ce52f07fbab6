/** A copy of this repository in which mutants are tried, so that this repository is not changed. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { Mutant } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The time limit of tests, in milliseconds. If a mutant never ends, its tests are killed after this time. */
const LONGEST = 300_000;

/** The result of the tests in a copy; `no end` if they exceeded the time limit. */
export type Verdict = 'passed' | 'failed' | 'no end';

/** Makes the copy: all files that are not ignored, and a link to the installed packages. */
export const copyOfRepository = (): string => {
  const folder = temporaryFolder('mutants');
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.stdout.split('\n').filter(Boolean)) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

/**
 * Runs the tests of some files in a copy.
 * @param output where the tests write their output
 * @param timeout the time limit in milliseconds
 */
export const run = (
  folder: string,
  files: readonly string[],
  output: 'inherit' | 'ignore',
  timeout?: number,
): Promise<Verdict> =>
  new Promise((done, fail) => {
    const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
    const child = spawn(process.execPath, [vitest, 'run', '--bail', '1', '--no-cache', ...files], {
      cwd: folder,
      stdio: output,
      ...(timeout === undefined ? {} : { timeout }),
    });
    child.on('error', fail);
    child.on('exit', (code, signal) => done(signal ? 'no end' : code === 0 ? 'passed' : 'failed'));
  });

/** Runs the tests of a mutant in a copy. The copy is restored afterwards. @returns the result of the tests */
export const tryMutant = async (folder: string, { file, find, put, noticedBy }: Mutant): Promise<Verdict> => {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(find, () => put),
  );
  try {
    return await run(folder, noticedBy, 'ignore', LONGEST);
  } finally {
    writeFileSync(path, text);
  }
};
