/** Runs a Node.js program as a child process, with its output passed through. */
import { spawn } from 'node:child_process';

export interface ChildOptions {
  readonly cwd: string;
  /** Variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the child. */
  readonly signal: AbortSignal;
}

/** @param args the file of the program, and its arguments. @returns its exit status; null if a signal ended it. */
export const runChild = (args: readonly string[], { cwd, env, signal }: ChildOptions): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
    // The terminal sends Ctrl-C to the child too; other signals must be passed on.
    const end = (): boolean => child.kill('SIGTERM');
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    child.once('error', (cause) => {
      signal.removeEventListener('abort', end);
      reject(cause);
    });
    child.once('exit', (code) => {
      signal.removeEventListener('abort', end);
      resolve(code);
    });
  });
