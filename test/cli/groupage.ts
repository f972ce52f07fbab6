/** The command line as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const NODE = join(ROOT, 'node_modules/node/bin/node');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs it in a folder, to its end; meanwhile its process can be sent signals. */
export const groupage = (
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
