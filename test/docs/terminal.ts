/** Terminals of a reader who follows a page. Typed commands run, and their output is kept. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../end-to-end/flow.ts';

export interface Terminal {
  /** All output so far. */
  shown(): string;
  /** Starts a command that keeps running; resolves at its first output. */
  start(command: string): Promise<void>;
  /** Runs commands to their end. @returns their output, and the last exit status */
  run(commands: string): Promise<{ readonly shown: string; readonly status: number }>;
  /** Sends Ctrl-C; resolves when the running programs have ended. */
  interrupt(): Promise<void>;
}

export const terminal = (cwd: string): Terminal => {
  let [shown, runs] = ['', 0];
  let started: ChildProcess | undefined;
  let shell: ChildProcess | undefined;
  /** In its own process group, like a terminal's job, so that Ctrl-C reaches all of it. */
  const open = (args: readonly string[]): ChildProcess => {
    const child = spawn('bash', args, { cwd, detached: true });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        shown += String(data);
      });
    return child;
  };
  const shows = (child: ChildProcess, what: () => boolean): Promise<boolean> =>
    eventually(() => {
      if (!what() && child.exitCode !== null)
        throw new Error(`the program ended with status ${child.exitCode}: ${shown}`);
      return what();
    });
  const end = async (child: ChildProcess | undefined): Promise<void> => {
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGINT');
    child.stdin?.end();
    await ended;
  };
  return {
    shown: () => shown,
    start: async (command) => {
      const before = shown.length;
      started = open(['-c', `exec env ${command}`]);
      await shows(started, () => shown.length > before);
    },
    run: async (commands) => {
      const before = shown.length;
      runs += 1;
      const mark = new RegExp(`\\n--${runs} ended with (\\d+)\\n`);
      // The shell reads line by line, so that an alias holds from the next line on.
      shell ??= open(['-O', 'expand_aliases']);
      shell.stdin?.write(`${commands}\nprintf '\\n--${runs} ended with %s\\n' $?\n`);
      await shows(shell, () => mark.test(shown.slice(before)));
      const [, status = ''] = mark.exec(shown.slice(before)) ?? [];
      return { shown: shown.slice(before).replace(mark, ''), status: Number(status) };
    },
    interrupt: async () => {
      await end(started);
      await end(shell);
    },
  };
};
