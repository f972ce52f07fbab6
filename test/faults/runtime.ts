/** The local runtime as its own process, to be killed. */
import { join } from 'node:path';
import { spawnWatched } from '../../tools/local/child.ts';
import { killEngine } from '../local/kill-engine.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');
const MAIN = join(ROOT, 'tools/local/main.ts');

/** One process of the runtime, from its start to its end. */
export interface Life {
  /** Resolves to the time of the start (ms), or to undefined if the process ended before it was ready. */
  readonly ready: Promise<number | undefined>;
  /** Resolves to the reason if the process ended without a kill. */
  readonly failed: Promise<string>;
  readonly said: () => string;
  /** Ends the runtime by SIGKILL. @returns whether it had become ready */
  kill(): Promise<boolean>;
  /** Ends its DynamoDB by SIGKILL. @returns whether there was one */
  killEngine(): Promise<boolean>;
  /** Sends SIGTERM, and waits for the end. @returns the exit status */
  stop(): Promise<number | null>;
}

/** Starts the runtime in a folder with a configuration. @param port of its API; its engines take the next two */
export const startRuntime = (folder: string, port: number): Life => {
  const from = performance.now();
  // Watched, so that an aborted test run leaves no process.
  const child = spawnWatched(NODE, [MAIN, '--port', String(port), '--quiet'], { cwd: folder });
  let [said, isReady, isExpected] = ['', false, false];
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ready = new Promise<number | undefined>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => {
        said += String(data);
        if (isReady || !said.includes('Groupage is ready')) return;
        isReady = true;
        resolve(performance.now() - from);
      });
    void ended.then(() => resolve(undefined));
  });
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    isExpected = true;
    child.kill(signal);
    return ended;
  };
  return {
    ready,
    said: () => said,
    failed: new Promise((resolve) => {
      child.once('exit', (code, signal) => isExpected || resolve(`ended with ${signal ?? code}: ${said}`));
    }),
    kill: async () => {
      await end('SIGKILL');
      return isReady;
    },
    killEngine: () => killEngine(folder),
    stop: () => end('SIGTERM'),
  };
};
