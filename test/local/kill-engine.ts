/** Ends a local DynamoDB by SIGKILL, from outside of the process that runs it. */
import { type ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * @param which what only this engine's command has in it, its folder; or the process that runs it
 * @returns whether there was one
 */
export const killEngine = async (which: string | ChildProcess): Promise<boolean> => {
  const pid = await (typeof which === 'string' ? pidOf(which) : pidOf('', ['-P', String(which.pid)]));
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw cause;
  }
};

/** The engine's own command begins with its path; the watchdog beside it has that only among its arguments. */
const pidOf = async (argument: string, options: readonly string[] = []): Promise<number | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('pgrep', [...options, '-f', `^[^ ]*(dynoxide|java) .*${argument}`]);
    return Number(stdout);
  } catch (cause) {
    // pgrep has found none.
    if ((cause as { code?: unknown }).code === 1) return undefined;
    throw cause;
  }
};
