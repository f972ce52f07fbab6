/**
 * Python programs in environments of their own, below `.cache/` of the repository. An environment is created once, in
 * place, since it contains its absolute path. A marker shows that it is complete. One process creates it at a time.
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

/** The contents of an environment. */
export interface PythonWanted {
  /** Part of the folder's name. */
  readonly name: string;
  /** The path of a requirements file that pins every version. */
  readonly requirements: string;
  readonly version: PythonVersion;
}

/**
 * The folder of an environment, with `bin/python` in it. The first call takes up to a minute, and needs a package
 * index.
 *
 * @throws Error with the reason if there is no such Python, or its packages cannot be installed
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

/** The interpreter is a link, and may have been uninstalled since. */
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

/**
 * Runs an action while no other process does. The operating system releases the lock when its process ends, in any
 * way.
 */
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
