/** One stack to a folder: two would share its data, and each would take what the other works on. */
import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartFailure } from '../failure.ts';
import { LOCAL_FOLDER, makeFolder, readLocalFile, writing } from './local-folder.ts';

const SQLITE_BUSY = 5;

/**
 * Locks a folder for this process. The system's own lock on a file (SQLite knows how, everywhere) ends with its process,
 * however that ends; a process id in a file would outlive it and may mean another process later.
 *
 * @returns what unlocks it.
 * @throws NotWritable; StartFailure when another one runs there.
 */
export const lockFolder = (folder: string): (() => void) => {
  const own = join(folder, LOCAL_FOLDER);
  makeFolder(own);
  const file = join(own, 'lock');
  const lock = writing(own, () => new DatabaseSync(file));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    if (!(cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY))
      throw new StartFailure(`${file} cannot be used (${String(cause)}): remove it`);
    const other = readLocalFile(folder);
    throw new StartFailure(
      `a local stack runs in this folder already${other ? ` (process ${other.pid}, ${other.api})` : ''}: use that one, or stop it first`,
    );
  }
  return () => {
    rmSync(file, { force: true });
    lock.close();
  };
};

/** Whether files can be made in the folder: a lock that was left behind can be taken without. */
export const isWritable = (folder: string): boolean => {
  try {
    accessSync(join(folder, LOCAL_FOLDER), constants.W_OK);
    return true;
  } catch {
    return false;
  }
};
