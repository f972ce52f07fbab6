/**
 * Python programs in environments of their own, below `.cache/` of the repository. Made once, in place, since an
 * environment holds its own absolute path; whole only when its marker is there, and made by one process at a time.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../../../src/util/problems.ts';
import { findPython, type PythonVersion, pythonProblem } from './python-interpreters.ts';

const run = promisify(execFile);
const CACHE = join(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))), '.cache', 'python');
const SQLITE_BUSY = 5;

/** What an environment has in it. */
export interface PythonWanted {
  /** Names the folder. */
  readonly name: string;
  /** The path of a requirements file with every version in it. */
  readonly requirements: string;
  readonly version: PythonVersion;
}

/**
 * The folder of an environment, with `bin/python` in it; the first time, that takes up to a minute and a package index.
 *
 * @throws Error in words when there is no such Python, or its packages cannot be installed.
 */
export const pythonEnvironment = async ({ name, requirements, version }: PythonWanted): Promise<string> => {
  const python = await findPython(version);
  if (python === undefined) throw new Error(`${name} cannot run here: ${await pythonProblem(version)}`);
  const content = createHash('sha256').update(python.version).update(readFileSync(requirements)).digest('hex');
  const folder = join(CACHE, `${name}-${content.slice(0, 12)}`);
  if (isWhole(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  await alone(`${folder}.lock`, async () => {
    if (!isWhole(folder)) await make(folder, python.path, requirements);
  });
  return folder;
};

const marker = (folder: string): string => join(folder, 'finished');

/** The interpreter is a link: it may have been uninstalled since. */
const isWhole = (folder: string): boolean => existsSync(marker(folder)) && existsSync(join(folder, 'bin', 'python'));

const make = async (folder: string, python: string, requirements: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'python'), [
      ...['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'],
      ...['--requirement', requirements],
    ]);
  } catch (cause) {
    throw new Error(
      `${requirements} could not be installed: ${reasonOf(cause).slice(-1_000)}. Is a Python package index reachable?`,
      { cause },
    );
  }
  writeFileSync(marker(folder), '');
};

/** Does something while no other process does; the system's lock ends with its process, however that ends. */
const alone = async (file: string, action: () => Promise<void>): Promise<void> => {
  const lock = new DatabaseSync(file);
  try {
    while (!tryLock(lock)) await setTimeout(200);
    await action();
  } finally {
    lock.close();
  }
};

const tryLock = (lock: DatabaseSync): boolean => {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY) return false;
    throw cause;
  }
};
