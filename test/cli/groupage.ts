/** Runs the command line, in a process of its own or in a shared one. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Asked } from './runs.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const NODE = join(ROOT, 'node_modules/node/bin/node');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line in a folder, to its end, in a process of its own that can receive signals. */
export const groupageProcess = (
  cwd: string,
  args: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> & { readonly child: ChildProcess } => {
  const child = spawn(NODE, [join(ROOT, 'bin/groupage.ts'), ...args], { cwd, env });
  const ran = new Promise<Ran>((resolve) => {
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.on('data', (data) => out.push(String(data)));
    child.stderr.on('data', (data) => err.push(String(data)));
    child.on('close', (code) => resolve({ code, out: out.join(''), err: err.join('') }));
    child.stdin.end(input);
  });
  return Object.assign(ran, { child });
};

/** The shared process, which has loaded the command line, and whether a run uses it now. */
let shared: ChildProcess | undefined;
let isAtWork = false;

/**
 * Runs the command line in a folder, to its end. Consecutive runs of a test file share a process, since loading the
 * command line takes longest. A concurrent run gets a process of its own.
 */
export const groupage = async (cwd: string, args: readonly string[], input = ''): Promise<Ran> => {
  if (isAtWork) return groupageProcess(cwd, args, input);
  isAtWork = true;
  try {
    if (!shared?.connected) shared = start();
    return await answerOf(shared, { cwd, args, input, env: process.env });
  } finally {
    isAtWork = false;
  }
};

/** The child process ends with this process, which does not wait for it. */
const start = (): ChildProcess => {
  const child = fork(join(import.meta.dirname, 'runs.ts'), {
    execPath: NODE,
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
};

/** @throws Error if the process ends without an answer */
const answerOf = async (child: ChildProcess, asked: Asked): Promise<Ran> => {
  const ended = new AbortController();
  const onEnd = (code: number | null): void => ended.abort(new Error(`the command line ended with ${code}`));
  child.once('exit', onEnd);
  try {
    child.send(asked);
    const [ran] = await once(child, 'message', { signal: ended.signal });
    return ran as Ran;
  } finally {
    child.off('exit', onEnd);
  }
};
