/** Starts a program that ends with this process, even if this process is killed. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The shell becomes the program, and a watchdog reads from a pipe that this process holds open. If this process ends, even by
 * SIGKILL, the pipe closes and the watchdog kills the program. SIGTERM would let the program serve open connections first,
 * while the next start needs its port. The program runs in its own session, so that Ctrl-C does not end the engines before
 * the functions have drained.
 */
const WATCHED = 'program=$$; (cat <&3 >/dev/null; kill -9 $program 2>/dev/null) & exec 3<&-; exec "$@"';

/** Time between SIGTERM and SIGKILL, in milliseconds: a program that waits for its clients might never stop. */
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
  // End the watchdog with the program, because the process id may be reused later.
  child.once('exit', () => child.stdio[3]?.destroy());
  return child;
};

/** Stops a program and waits until it has ended. */
export const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    child.once('exit', () => {
      clearTimeout(impatience);
      // Open streams would keep this process alive.
      for (const stream of child.stdio) stream?.destroy();
      resolve();
    });
    child.kill('SIGTERM');
  });
