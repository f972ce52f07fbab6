/** One stack to a folder: two would share its data, and each would take what the other works on. */
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LOCAL_FOLDER, readLocalFile } from './local-file.ts';
import { StartFailure } from './start-failure.ts';

const SQLITE_BUSY = 5;

/** Nothing can be kept in the folder. */
export class NotWritable extends StartFailure {}

/**
 * Locks a folder for this process. The system's own lock on a file (SQLite knows how, everywhere) ends with its process,
 * however that ends; a process id in a file would outlive it and may mean another process later.
 *
 * @returns what unlocks it.
 * @throws NotWritable; StartFailure when another one runs there.
 */
export const lockFolder = (folder: string): (() => void) => {
  const file = join(folder, LOCAL_FOLDER, 'lock');
  const lock = open(folder, file);
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

const open = (folder: string, file: string): DatabaseSync => {
  try {
    mkdirSync(join(folder, LOCAL_FOLDER), { recursive: true });
    return new DatabaseSync(file);
  } catch (cause) {
    throw new NotWritable(
      `${join(folder, LOCAL_FOLDER)} cannot be written (${cause instanceof Error ? cause.message : String(cause)}): use --ephemeral to keep nothing, or run it where you may write`,
    );
  }
};
