/**
 * An engine that is a program of its own: started on a free port, awaited, and ended with this process at the latest.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { end, spawnWatched } from '../../../tools/local/child.ts';
import type { Engine } from './engine.ts';

/** How to start an engine's program, and how to check that it serves. */
export interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /**
   * The whole environment except for PATH: other variables of this process, such as proxies, must not affect the
   * program.
   */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly port: number;
  /** Whether it serves. May throw on a refused connection, which means not yet. */
  serves(endpoint: string): Promise<boolean>;
}

/** The time until a program that neither serves nor exits is given up, in milliseconds. */
const PATIENCE = 60_000;

/** @throws Error with the program's last output if the program exits, or does not serve in time */
export const startProgram = async (program: Program): Promise<Engine> => {
  const { name, command, environment, cwd, port, serves } = program;
  const variables = Object.entries({ PATH: process.env.PATH ?? '', ...environment });
  // `env` becomes the program, which so keeps the process id that the watchdog has.
  const child = spawnWatched('env', ['-i', ...variables.map(([key, value]) => `${key}=${value}`), ...command], { cwd });
  const endpoint = `http://127.0.0.1:${port}`;
  const said = lastWords(child);
  const settled = new AbortController();
  try {
    const failed = await Promise.race([ended(child), servesInTime(endpoint, serves, settled.signal)]);
    if (failed !== undefined) {
      await end(child);
      throw new Error(`${name} did not start on port ${port}: ${failed}. It said last: ${said().trim() || 'nothing'}`);
    }
  } finally {
    settled.abort();
  }
  return { endpoint, stop: () => end(child) };
};

const lastWords = (child: ChildProcess): (() => string) => {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      said = `${said}${data}`.slice(-2_000);
    });
  return () => said;
};

const ended = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `exit code ${code}`}`));
  });

/** @returns undefined once it serves, otherwise the reason why it is given up */
const servesInTime = async (
  endpoint: string,
  serves: Program['serves'],
  settled: AbortSignal,
): Promise<string | undefined> => {
  const until = Date.now() + PATIENCE;
  let last: unknown = 'no answer';
  while (!settled.aborted && Date.now() < until) {
    try {
      if (await serves(endpoint)) return undefined;
      last = 'it answers, but not as it should';
    } catch (cause) {
      last = cause;
    }
    await setTimeout(50);
  }
  return `it did not serve within ${PATIENCE / 1_000} s (${String(last)})`;
};
