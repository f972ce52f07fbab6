/** A program that ends when this process does, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The shell becomes the program; a watchdog beside it holds the other end of a pipe. When this process is gone, even
 * by SIGKILL, the pipe closes and the watchdog kills the program: asked to stop, it would first answer whoever is
 * connected, while the next start wants its port. Its own session keeps a terminal's Ctrl-C from it: the engines must
 * outlive the handlers that drain.
 */
const WATCHED = 'program=$$; (cat <&3 >/dev/null; kill -9 $program 2>/dev/null) & exec 3<&-; exec "$@"';

/** How long a program may take to stop once it was asked to (ms): one that waits for its clients may wait for ever. */
const PATIENCE = 5_000;

/** Starts a program. @returns the process; its standard output and error are pipes. */
export const spawnWatched = (
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): ChildProcess => {
  const child = spawn('sh', ['-c', WATCHED, 'sh', command, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  // Lets the watchdog go at once: later the program's number may be another's.
  child.once('exit', () => child.stdio[3]?.destroy());
  return child;
};

/** Ends a program and waits until it is gone. */
export const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    child.once('exit', () => {
      clearTimeout(impatience);
      // Lets this process go.
      for (const stream of child.stdio) stream?.destroy();
      resolve();
    });
    child.kill('SIGTERM');
  });
