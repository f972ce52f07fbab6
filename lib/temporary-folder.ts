/**
 * Temporary folders. They are deleted when this process exits. If this process is killed, the next process that makes
 * temporary folders deletes them.
 *
 * All folders of a process are in one folder, where the process listens on a socket. The kernel refuses a connection to
 * the socket only after the process has ended. A process id would not prove that: it may be reused, or belong to another
 * container that shares the folder.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The socket of a folder. */
const MARK = 'alive';

/** The folder of this process. Set after the first use. */
let own: string | undefined;

/** @param name becomes part of the folder's name, so that a user can see what the folder is for. */
export const temporaryFolder = (name: string): string => {
  own ??= makeOwn();
  return mkdtempSync(join(own, `${name}-`));
};

const makeOwn = (): string => {
  const folder = mkdtempSync(join(tmpdir(), prefix()));
  process.once('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (cause) {
      complain(folder, cause);
    }
  });
  mark(folder);
  takeAbandoned(folder).catch((cause: unknown) => complain(dirname(folder), cause));
  return folder;
};

const complain = (folder: string, cause: unknown): void =>
  console.error(`Temporary folders of Groupage in ${folder} could not be deleted (${String(cause)}). Delete them.`);

/**
 * How the names of folders begin on this kernel. Another machine, or a virtual one, may share the temporary folder, and
 * its sockets cannot be reached from here.
 */
const prefix = (): string => `groupage-${createHash('sha256').update(kernel()).digest('hex').slice(0, 8)}-`;

const kernel = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  } catch {
    // Only Linux has this file.
    return hostname();
  }
};

/** Listens in a folder until this process ends. */
const mark = (folder: string): void => {
  const server = createServer((socket) => socket.destroy());
  // A folder without a mark is never deleted by another process: on Windows, or if its path is too long for a socket.
  server.on('error', () => {});
  // Between its creation and `listen` a socket refuses connections too, so it gets its name afterwards.
  server.listen({ path: join(folder, 'starting'), exclusive: true });
  if (server.listening) renameSync(join(folder, 'starting'), join(folder, MARK));
  server.unref();
};

/** Deletes the folders of this user's processes that were killed. */
const takeAbandoned = async (folder: string): Promise<void> => {
  const parent = dirname(folder);
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix()));
  for (const name of names) {
    if (!isOurs(join(parent, name)) || !(await hasEnded(join(parent, name)))) continue;
    // Only one of several processes can move it here. If this process is killed, it is deleted with this folder.
    const here = join(folder, name);
    if (isMoved(join(parent, name), here)) await rm(here, { recursive: true, force: true });
  }
};

const isOurs = (folder: string): boolean => {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
};

const hasEnded = (folder: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(join(folder, MARK));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code === 'ECONNREFUSED'));
  });

/** False if another process was first. */
const isMoved = (from: string, to: string): boolean => {
  try {
    renameSync(from, to);
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return false;
    throw cause;
  }
};
