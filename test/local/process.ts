/** `npm start` as its own process in its own folder, to be killed and restarted. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { type LocalFile, readLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';

const MAIN = join(import.meta.dirname, '../../tools/local/main.ts');
const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');

export interface LocalProcess {
  /** Starts the process on the data of the previous run. */
  start(): Promise<LocalFile>;
  /** Resolves when the process and its engines have ended. */
  kill(): Promise<void>;
  /** Ends the process, and removes the folder. */
  remove(): Promise<void>;
}

/** @param environment variables of the process beside this process's. */
export const localProcess = (config: ConfigInput, environment: Readonly<Record<string, string>> = {}): LocalProcess => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-process-'));
  writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(config));
  let child: ChildProcess | undefined;
  let file: LocalFile | undefined;
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await new Promise((resolve) => child?.once('exit', resolve));
  };
  return {
    start: async () => {
      child = spawn(NODE, [MAIN, '--port', '0', '--quiet'], {
        cwd: folder,
        stdio: 'ignore',
        env: { ...process.env, ...environment },
      });
      const { pid } = child;
      file = await eventually(() => {
        const found = readLocalFile(folder);
        return found?.pid === pid ? found : undefined;
      });
      return file;
    },
    kill: async () => {
      await end('SIGKILL');
      const { dynamodb = '' } = file ?? {};
      await eventually(() =>
        fetch(dynamodb).then(
          () => false,
          () => true,
        ),
      );
    },
    remove: async () => {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
