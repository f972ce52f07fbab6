/** The files of the local engines: why one cannot be used, and what to do. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../../src/util/problems.ts';
import { StartFailure } from '../failure.ts';
import { NotWritable } from './local-folder.ts';

/** What goes with a file that is removed. */
const LOST = {
  tables:
    'With it all tasks and results are lost; messages that are not registered yet go on. If you have a copy of it, put that in its place instead.',
  queues: 'Tasks that were registered go on without it, messages that were not are lost with it.',
} as const;

/**
 * What keeps an engine from its data: access, or that the file is no sound SQLite database. Undefined if nothing is found.
 *
 * @param file which no running engine may have open
 */
export const dataFailure = (what: keyof typeof LOST, file: string): StartFailure | undefined => {
  const denied = denialOf(file);
  if (denied) return denied;
  const damage = existsSync(file) ? damageOf(file) : undefined;
  return damage === undefined ? undefined : damaged(what, file, damage);
};

/** Why an engine could not open a file in which no damage was found. @param cause what it failed with */
export const openFailure = (what: keyof typeof LOST, file: string, cause: unknown): StartFailure =>
  isContent(cause)
    ? damaged(what, file, reasonOf(cause))
    : new StartFailure(
        `the local ${what} in ${file} cannot be opened (${reasonOf(cause)}): close what else has that file open, and see that it may be written`,
      );

const damaged = (what: keyof typeof LOST, file: string, damage: string): StartFailure =>
  new StartFailure(`the local ${what} in ${file} cannot be read (${damage}): remove that file. ${LOST[what]}`);

const denialOf = (file: string): StartFailure | undefined => {
  const isThere = existsSync(file);
  if (isThere && !statSync(file).isFile())
    return new StartFailure(`${file} is not a file, and local data is kept in one of that name: move it away`);
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
  // What a killed engine had not finished only a connection that may write can undo.
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

/** The kind of an error of SQLite. */
const codeOf = (cause: unknown): number | undefined =>
  cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) & 0xff : undefined;

/** SQLite says of a format that it does not know that it is an error like any other. */
const isDamage = (cause: unknown): boolean =>
  [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(cause) ?? 0) || /unsupported file format/.test(String(cause));

/** Whether what is in the file is to blame: damage, or tables that are not the engine's. Not that the file is locked, or may not be written. */
const isContent = (cause: unknown): boolean =>
  isDamage(cause) || codeOf(cause) === SQLITE_ERROR || codeOf(cause) === undefined;
