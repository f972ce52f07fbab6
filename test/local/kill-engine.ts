/** Ends a local DynamoDB by SIGKILL, from outside of the process that runs it. */
import { type ChildProcess, execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Part of what the runtime prints after it has restarted a killed engine. */
export const RESTARTED = 'was restarted with its data';

/**
 * @param which text that only this engine's command contains: its folder; or the process that runs the engine
 * @returns whether an engine was found
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

/** The engine's command begins with its path. The watchdog beside it has that path only as an argument. */
const pidOf = async (argument: string, options: readonly string[] = []): Promise<number | undefined> => {
  try {
    const { stdout } = await promisify(execFile)('pgrep', [...options, '-f', `^[^ ]*(dynoxide|java) .*${argument}`]);
    return Number(stdout);
  } catch (cause) {
    // pgrep found no process.
    if ((cause as { code?: unknown }).code === 1) return undefined;
    throw cause;
  }
};
