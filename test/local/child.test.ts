import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { end, spawnWatched } from '../../tools/local/child.ts';
import { eventually } from '../end-to-end/flow.ts';

/** Ignores SIGTERM, and prints a line once it does. */
const STUBBORN = ['sh', '-c', 'trap "" TERM; echo stubborn; while :; do sleep 0.1; done'] as const;
const CHILD = join(import.meta.dirname, '../../tools/local/child.ts');

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a watched program', () => {
  const pids: number[] = [];
  afterEach(() => {
    for (const pid of pids.splice(0).filter(isAlive)) process.kill(pid, 'SIGKILL');
  });

  it('that ignores SIGTERM ends when its starter is killed', async () => {
    const code = `
      import { spawnWatched } from ${JSON.stringify(CHILD)};
      const child = spawnWatched(...${JSON.stringify([STUBBORN[0], STUBBORN.slice(1)])});
      child.stdout.once('data', () => console.log(child.pid));
      setInterval(() => {}, 1_000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', code]);
    const pid = Number(String(await once(starter.stdout, 'data')));
    pids.push(pid);
    expect(isAlive(pid)).toBe(true);
    starter.kill('SIGKILL');
    await eventually(() => !isAlive(pid));
  });

  it('that ignores SIGTERM is killed, and its watchdog ends', async () => {
    const child = spawnWatched(STUBBORN[0], STUBBORN.slice(1));
    pids.push(child.pid as number);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const closed = once(child.stdio[3] as NodeJS.ReadableStream, 'close');
    await end(child);
    expect(child.signalCode).toBe('SIGKILL');
    await closed;
  });
});
