/** Ends a local DynamoDB by SIGKILL, from outside of the process that runs it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * @param argument what only this engine's command has in it: its folder, or its port
 * @returns whether there was one
 */
export const killEngine = async (argument: string): Promise<boolean> => {
  const pid = await pidOf(argument);
  try {
    return pid !== undefined && process.kill(pid, 'SIGKILL');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw cause;
  }
};

/** The engine's own command begins with its path; the watchdog beside it has that only among its arguments. */
const pidOf = async (argument: string): Promise<number | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('pgrep', ['-f', `^[^ ]*(dynoxide|java) .*${argument}`]);
    return Number(stdout);
  } catch (cause) {
    // pgrep has found none.
    if ((cause as { code?: unknown }).code === 1) return undefined;
    throw cause;
  }
};
