/** Keeps a program running that may end by itself: it is started again, unless it keeps ending. */

import type { Millis } from '../../src/domain/ids.ts';
import { reasonOf } from '../../src/util/problems.ts';

/** One run of a program, from when it can be used to its end. */
export interface Run {
  /** Resolves when it has ended, to how. */
  readonly ended: Promise<string>;
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>;
}

export interface KeptRunning {
  /** Resolves when it has ended by itself and is not started again, to why: a part of a sentence. */
  readonly givenUp: Promise<string>;
  /** Resolves when it is not being started: at once, most of the time. */
  settled(): Promise<unknown>;
  stop(): Promise<void>;
}

/** One that ends more often than this within a minute has something that starting it again does not mend. */
export const RESTARTS_A_MINUTE = 3;
const MINUTE: Millis = 60_000;

/**
 * @param start starts it; rejects when it cannot. The first time that is the caller's, later it counts as an end.
 * @param onRestart is told how it had ended, once it runs again.
 * @param now a clock that never goes back.
 */
export const keepRunning = async (
  start: () => Promise<Run>,
  onRestart: (why: string) => void,
  now: () => Millis = performance.now.bind(performance),
): Promise<KeptRunning> => {
  let run = await start();
  let starting: Promise<unknown> = Promise.resolve();
  let isStopping = false;

  const watch = async (): Promise<string> => {
    let ends: Millis[] = [];
    let why = await run.ended;
    while (!isStopping) {
      ends = [...ends.filter((end) => end > now() - MINUTE), now()];
      if (ends.length > RESTARTS_A_MINUTE) return `${ends.length} times within a minute, the last time with ${why}`;
      const next = start().then(
        (started) => {
          run = started;
          return undefined;
        },
        (cause: unknown) => reasonOf(cause),
      );
      starting = next;
      const failure = await next;
      if (failure === undefined) onRestart(why);
      why = failure ?? (await run.ended);
    }
    // It was asked to: that is no giving up.
    return new Promise(() => {});
  };
  return {
    givenUp: watch(),
    settled: () => starting,
    stop: async () => {
      isStopping = true;
      await starting;
      await run.stop();
    },
  };
};
