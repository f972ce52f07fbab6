import { describe, expect, it } from 'vitest';
import { keepRunning, RESTARTS_A_MINUTE, type Run } from '../../tools/local/keep-running.ts';

/** A program whose runs the test ends, or whose starts fail. */
const aProgram = () => {
  const runs: { end: (why: string) => void; isStopped: boolean }[] = [];
  const failures: Error[] = [];
  const start = async (): Promise<Run> => {
    const failure = failures.shift();
    if (failure) throw failure;
    const run = { end: (_: string): void => {}, isStopped: false };
    runs.push(run);
    return {
      ended: new Promise((resolve) => {
        run.end = resolve;
      }),
      stop: async () => {
        run.isStopped = true;
      },
    };
  };
  return { runs, failures, start };
};
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('a program that is kept running', () => {
  it('restarts when it ends, and the end is reported', async () => {
    const { runs, start } = aProgram();
    const told: string[] = [];
    const kept = await keepRunning(start, (why) => told.push(why));
    runs[0]?.end('SIGKILL');
    await turns();
    expect([runs.length, told]).toEqual([2, ['SIGKILL']]);
    await kept.stop();
    expect(runs.map(({ isStopped }) => isStopped)).toEqual([false, true]);
  });

  it('is given up when it ends too often within a minute', async () => {
    const { runs, failures, start } = aProgram();
    let now = 0;
    const kept = await keepRunning(
      start,
      () => {},
      () => now,
    );
    // One end a minute does not count against the limit.
    for (let n = 0; n < 10; n += 1) {
      now += 60_000;
      runs.at(-1)?.end('now and then');
      await turns();
    }
    expect(runs).toHaveLength(11);
    failures.push(...Array.from({ length: RESTARTS_A_MINUTE }, () => new Error('port in use')));
    runs.at(-1)?.end('exit code 3');
    expect(await kept.givenUp).toBe(`${RESTARTS_A_MINUTE + 1} times within a minute, the last time with port in use`);
    expect(runs).toHaveLength(11);
  });

  it('rejects if the first start fails', async () => {
    const { failures, start } = aProgram();
    failures.push(new Error('no such program'));
    await expect(keepRunning(start, () => {})).rejects.toThrow('no such program');
  });

  it('stops for good, also during a restart', async () => {
    const { runs, start } = aProgram();
    let letStart = (): void => {};
    let isFirst = true;
    const slowly = async (): Promise<Run> => {
      if (!isFirst)
        await new Promise<void>((resolve) => {
          letStart = resolve;
        });
      isFirst = false;
      return start();
    };
    const kept = await keepRunning(slowly, () => {});
    runs[0]?.end('SIGKILL');
    await turns();
    const stopped = kept.stop();
    letStart();
    await stopped;
    expect(runs.map(({ isStopped }) => isStopped)).toEqual([false, true]);
  });
});
