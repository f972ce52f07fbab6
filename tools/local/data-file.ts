/** Checks the data files of the local engines, and explains why a file cannot be used. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../failure.ts';
import { NotWritable } from './local-folder.ts';

/** Data that is lost if the file is removed. */
const LOST = {
  tables:
    'All tasks and results are then lost, but messages that are not registered yet are kept. If you have a backup of the file, restore it instead.',
  queues: 'Registered tasks are kept, but messages that are not registered yet are lost.',
} as const;

/**
 * Checks access to a file, and that it is an undamaged SQLite database. @returns undefined if there is no problem.
 *
 * @param file must not be open in a running engine
 */
export const dataFailure = (what: keyof typeof LOST, file: string): StartFailure | undefined => {
  const denied = denialOf(file);
  if (denied) return denied;
  const damage = existsSync(file) ? damageOf(file) : undefined;
  return damage === undefined ? undefined : damaged(what, file, damage);
};

/** Explains why an engine could not open a file in which no damage was found. @param cause error of the engine */
export const openFailure = (what: keyof typeof LOST, file: string, cause: unknown): StartFailure =>
  isContent(cause)
    ? damaged(what, file, reasonOf(cause))
    : new StartFailure(
        `the local ${what} in ${file} cannot be opened (${reasonOf(cause)}). Close other programs that use the file, and check its permissions`,
      );

const damaged = (what: keyof typeof LOST, file: string, damage: string): StartFailure =>
  new StartFailure(
    `the local ${what} in ${file} cannot be read (${damage}). Remove that file to start again. ${LOST[what]}`,
  );

const denialOf = (file: string): StartFailure | undefined => {
  const isThere = existsSync(file);
  if (isThere && !statSync(file).isFile())
    return new StartFailure(`${file} is not a file, but local data is stored under this name. Move it away`);
  try {
    accessSync(isThere ? file : dirname(file), constants.R_OK | constants.W_OK);
    return undefined;
  } catch (cause) {
    return new NotWritable(file, cause);
  }
};

const damageOf = (file: string): string | undefined => {
  try {
    return checked(file, true);
  } catch (cause) {
    if (isDamage(cause)) return reasonOf(cause);
  }
  // Only a writable connection can roll back what a killed engine did not finish.
  try {
    return checked(file, false);
  } catch (cause) {
    return isDamage(cause) ? reasonOf(cause) : undefined;
  }
};

const checked = (file: string, readOnly: boolean): string | undefined => {
  const database = new DatabaseSync(file, { readOnly });
  try {
    const [found = 'no answer'] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
    return found === 'ok' ? undefined : String(found).trim().replaceAll(/\s+/g, ' ');
  } finally {
    database.close();
  }
};

/** https://www.sqlite.org/rescode.html */
const [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB] = [1, 11, 26];

/** The primary result code of an SQLite error. */
const codeOf = (cause: unknown): number | undefined =>
  cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;

/** SQLite has no code of its own for an unknown file format. */
const isDamage = (cause: unknown): boolean =>
  [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(cause) ?? 0) || /unsupported file format/.test(String(cause));

/** Whether the contents of the file are the cause (damage, or foreign tables), and not a lock or permissions. */
const isContent = (cause: unknown): boolean =>
  isDamage(cause) || codeOf(cause) === SQLITE_ERROR || codeOf(cause) === undefined;
