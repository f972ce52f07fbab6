/** A copy of this repository in which mutants are tried, so that this repository stays unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { Mutant } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Time limit in milliseconds. Tests of a mutant that never ends are killed then. */
const LONGEST = 300_000;

/** Result of the tests in a copy; `no end` if they took too long. */
export type Verdict = 'passed' | 'failed' | 'no end';

/** All files that are not ignored, and the installed packages. */
export const copyOfRepository = (): string => {
  const folder = temporaryFolder('mutants');
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.stdout.split('\n').filter(Boolean)) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

/**
 * Runs the tests of some files in a copy.
 * @param output where their output goes
 * @param timeout in milliseconds
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

/** The result of a mutant's tests in a copy. The copy is restored afterwards. */
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
