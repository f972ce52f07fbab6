/**
 * `.groupage`: the folder with the local stack's data. While the stack runs, its `local.json` contains the addresses for the
 * command line and the examples.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { reasonOf } from '../../src/util/problems.ts';
import type { WorkerSettings, WorkingQueueName } from '../doctor/settings.ts';
import { StartFailure } from '../failure.ts';

export const LOCAL_FOLDER = '.groupage';
const FILE = 'local.json';

/** Addresses of the local stack, as in `.groupage/local.json`. */
export interface Addresses {
  /** Absent if the stack has no console. */
  readonly console?: string;
  readonly api: string;
  readonly dynamodb: string;
  readonly sqs: string;
  readonly queues: Readonly<
    Record<'register' | 'elect' | 'group' | 'batch' | 'rejected', string> & {
      /** Present if the configuration has destinations. */
      readonly callback?: string;
      readonly 'given-up'?: string;
    }
  >;
  readonly tables: Readonly<Record<'task' | 'batchLock' | 'batch' | 'fanOut' | 'list' | 'fleet' | 'audit', string>>;
  /** Settings of the functions in the template, by the queue that each reads. */
  readonly workers: Readonly<Partial<Record<WorkingQueueName, WorkerSettings>>>;
}

/** The addresses, and the id of the process. */
export type LocalFile = Addresses & { readonly pid: number };

/**
 * Reads the addresses of the local stack that runs in a folder, if any. The file must belong to this user and lead to this
 * machine: commands send tasks to its addresses and also search parent folders, where other users may have put a file (`/tmp`).
 */
export const readLocalFile = (folder: string): LocalFile | undefined => {
  const path = join(folder, LOCAL_FOLDER, FILE);
  const json = existsSync(path) && isOwn(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
  // Ignore an incomplete or edited file: the next start overwrites it.
  if (!json?.ok || !isObject(json.value) || !isHere(json.value.api)) return undefined;
  const file = json.value as unknown as LocalFile;
  return isAlive(file.pid) ? file : undefined;
};

/** Writes the file. @returns a function that removes it. @throws NotWritable */
export const writeLocalFile = (folder: string, addresses: Addresses): (() => void) => {
  const path = join(folder, LOCAL_FOLDER, FILE);
  makeLocalFolder(folder);
  writing(path, () => writeFileSync(path, `${JSON.stringify({ ...addresses, pid: process.pid }, null, 2)}\n`));
  return () => rmSync(path, { force: true });
};

/** Windows has no user ids. */
const isOwn = (path: string): boolean => process.getuid === undefined || statSync(path).uid === process.getuid();

const isHere = (api: unknown): boolean => typeof api === 'string' && /^http:\/\/127\.0\.0\.1:\d+\/v1$/.test(api);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: the process exists and belongs to another user.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
};

/** A file or folder cannot be written. */
export class NotWritable extends StartFailure {
  constructor(path: string, cause: unknown) {
    super(
      `${path} cannot be written (${reasonOf(cause)}). Use --ephemeral to store nothing, or run the command in a writable folder`,
    );
  }
}

/** Runs work that writes to `path`. @throws NotWritable */
export const writing = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    throw new NotWritable(path, cause);
  }
};

/** @throws NotWritable */
export const makeFolder = (path: string): void => {
  writing(path, () => mkdirSync(path, { recursive: true }));
};

/** Makes the folder for data in a project, and hides it from the project's git. @throws NotWritable */
export const makeLocalFolder = (folder: string): void => {
  const own = join(folder, LOCAL_FOLDER);
  makeFolder(own);
  const ignore = join(own, '.gitignore');
  if (!existsSync(ignore)) writing(ignore, () => writeFileSync(ignore, '*\n'));
};
