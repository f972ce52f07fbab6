/** A program that ends when this process does, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The shell becomes the program; a watchdog beside it holds the other end of a pipe. When this process is gone, even
 * by SIGKILL, the pipe closes and the watchdog ends the program. Its own session keeps a terminal's Ctrl-C from it:
 * the engines must outlive the handlers that drain.
 */
const WATCHED = 'program=$$; (cat <&3 >/dev/null; kill $program 2>/dev/null) & exec 3<&-; exec "$@"';

/** Starts a program. @returns the process; its standard output and error are pipes. */
export const spawnWatched = (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): ChildProcess =>
  spawn('sh', ['-c', WATCHED, 'sh', command, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });

/** Ends a program and waits until it is gone. */
export const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => {
      // Lets the watchdog go, and this process too.
      for (const stream of child.stdio) stream?.destroy();
      resolve();
    });
    child.kill('SIGTERM');
  });
