/**
 * `.groupage`: the folder that keeps what the local stack needs between starts, and while it runs. Its `local.json` tells the
 * command line and the examples where the local stack is, while it runs.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { reasonOf } from '../../src/util/problems.ts';
import type { WorkerSettings, WorkingQueueName } from '../doctor/settings.ts';
import { StartFailure } from '../failure.ts';

export const LOCAL_FOLDER = '.groupage';
const FILE = 'local.json';

/** Where everything is; `.groupage/local.json` holds it. */
export interface Addresses {
  /** Where it has one. */
  readonly console?: string;
  readonly api: string;
  readonly dynamodb: string;
  readonly sqs: string;
  readonly queues: Readonly<
    Record<'register' | 'elect' | 'group' | 'batch' | 'rejected', string> & {
      /** Where the configuration has destinations. */
      readonly callback?: string;
      readonly 'given-up'?: string;
    }
  >;
  readonly tables: Readonly<Record<'task' | 'batchLock' | 'batch' | 'fanOut' | 'list' | 'fleet', string>>;
  /** The functions, by the queue that each works off, as the template has them. */
  readonly workers: Readonly<Partial<Record<WorkingQueueName, WorkerSettings>>>;
}

/** The addresses, and the process that serves them. */
export type LocalFile = Addresses & { readonly pid: number };

/**
 * The running local stack of a folder, if there is one. Tasks are sent where the file says, and it is looked for in the
 * folders above too, where anybody may have put one (`/tmp`): so it has to be this user's own, and lead to this machine.
 */
export const readLocalFile = (folder: string): LocalFile | undefined => {
  const path = join(folder, LOCAL_FOLDER, FILE);
  const json = existsSync(path) && isOwn(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
  // Half a file, or somebody's edit: it tells nothing, and the next start writes it anew.
  if (!json?.ok || !isObject(json.value) || !isHere(json.value.api)) return undefined;
  const file = json.value as unknown as LocalFile;
  return isAlive(file.pid) ? file : undefined;
};

/** Writes the file; answers what removes it again. @throws NotWritable */
export const writeLocalFile = (folder: string, addresses: Addresses): (() => void) => {
  const path = join(folder, LOCAL_FOLDER, FILE);
  makeFolder(join(folder, LOCAL_FOLDER));
  writing(path, () => writeFileSync(path, `${JSON.stringify({ ...addresses, pid: process.pid }, null, 2)}\n`));
  return () => rmSync(path, { force: true });
};

/** Windows knows no such owners. */
const isOwn = (path: string): boolean => process.getuid === undefined || statSync(path).uid === process.getuid();

const isHere = (api: unknown): boolean => typeof api === 'string' && /^http:\/\/127\.0\.0\.1:\d+\/v1$/.test(api);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: it is there, and somebody else's.
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
};

/** Nothing can be kept in a folder. */
export class NotWritable extends StartFailure {
  constructor(path: string, cause: unknown) {
    super(
      `${path} cannot be written (${reasonOf(cause)}): use --ephemeral to keep nothing, or run it where you may write`,
    );
  }
}

/** Does what needs to write at `path`. @throws NotWritable */
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
