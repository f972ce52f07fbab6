/** The files of the local engines: why one cannot be used, and what to do. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../batching/problems.ts';
import { NotWritable } from './folder.ts';
import { StartFailure } from './start-failure.ts';

/** What goes with a file that is removed. */
const LOST = {
  tables:
    'With it all tasks and results are lost; messages that are not registered yet go on. If you have a copy of it, put that in its place instead.',
  queues: 'Tasks that were registered go on without it, messages that were not are lost with it.',
} as const;

/**
 * What keeps an engine from its data: access, or that the file is no sound SQLite database. Undefined if nothing is found.
 *
 * @param file which no running engine may have open @param said why the engine could not read it, if it is known to be that
 */
export const dataFailure = (what: keyof typeof LOST, file: string, said?: string): StartFailure | undefined => {
  const denied = denialOf(file);
  if (denied) return denied;
  const damage = (existsSync(file) ? damageOf(file) : undefined) ?? said;
  return damage === undefined
    ? undefined
    : new StartFailure(`the local ${what} in ${file} cannot be read (${damage}): remove that file. ${LOST[what]}`);
};

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
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const [found = 'no answer'] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
      return found === 'ok' ? undefined : String(found).trim().replaceAll(/\s+/g, ' ');
    } finally {
      database.close();
    }
  } catch (cause) {
    // Other errors are no damage: what a killed engine had not finished, only one that may write can undo.
    return isDamage(cause) ? reasonOf(cause) : undefined;
  }
};

/** https://www.sqlite.org/rescode.html */
const [SQLITE_CORRUPT, SQLITE_NOTADB] = [11, 26];

const isDamage = (cause: unknown): boolean =>
  cause instanceof Error &&
  'errcode' in cause &&
  [SQLITE_CORRUPT, SQLITE_NOTADB].includes(Number(cause.errcode) & 0xff);
