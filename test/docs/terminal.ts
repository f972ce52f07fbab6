/** Terminals of a person who follows a page: what is typed into them runs, and what they show is kept. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../end-to-end/flow.ts';

export interface Terminal {
  /** All that it has shown. */
  shown(): string;
  /** Types a command that goes on; resolves once it shows something. */
  start(command: string): Promise<void>;
  /** Types commands, and waits for their end. @returns what they showed, and the last one's exit status */
  run(commands: string): Promise<{ readonly shown: string; readonly status: number }>;
  /** Ctrl-C: resolves when what ran has ended. */
  interrupt(): Promise<void>;
}

export const terminal = (cwd: string): Terminal => {
  let [shown, runs] = ['', 0];
  let started: ChildProcess | undefined;
  let shell: ChildProcess | undefined;
  /** In a group of its own, as a terminal's job is: Ctrl-C reaches all of it. */
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
      if (!what() && child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${shown}`);
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
      // Its lines are read one by one, as they are typed: an alias holds from the next line on.
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
