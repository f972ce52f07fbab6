/**
 * Allows only one local stack per folder. Two stacks would share the data, and each would take over the work of the
 * other stack.
 */
import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartFailure } from '../failure.ts';
import { LOCAL_FOLDER, makeLocalFolder, readLocalFile, writing } from './local-folder.ts';

const SQLITE_BUSY = 5;

/**
 * Locks a folder for this process. It uses a file lock of the operating system (through SQLite, on every platform), which
 * ends with the process even after a crash. A process id in a file would remain, and may be reused by another process.
 *
 * @returns a function that unlocks the folder.
 * @throws NotWritable; StartFailure if another stack runs there.
 */
export const lockFolder = (folder: string): (() => void) => {
  const own = join(folder, LOCAL_FOLDER);
  makeLocalFolder(folder);
  const file = join(own, 'lock');
  const lock = writing(own, () => new DatabaseSync(file));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if (!(cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY))
      throw new StartFailure(`${file} cannot be used (${String(cause)}). Remove the file`);
    const other = readLocalFile(folder);
    throw new StartFailure(
      `a local stack already runs in this folder${other ? ` (process ${other.pid}, ${other.api})` : ''}. Use it, or stop it first${other ? ` (kill ${other.pid})` : ''}`,
    );
  }
  return () => {
    rmSync(file, { force: true });
    lock.close();
  };
};

/** Whether files can be created in the folder. A lock file that exists can be locked even in a read-only folder. */
export const isWritable = (folder: string): boolean => {
  try {
    accessSync(join(folder, LOCAL_FOLDER), constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
