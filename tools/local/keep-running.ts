/** Restarts a program that crashes, unless it crashes too often. */

import type { Millis } from '../../src/domain/ids.ts';
import { reasonOf } from '../../src/util/problems.ts';

/** One run of a program, from when it is ready to its end. */
export interface Run {
  /** Resolves to the reason when the program has ended. */
  readonly ended: Promise<string>;
  /** Stops the program, and waits until it has ended. */
  stop(): Promise<void>;
}

export interface KeptRunning {
  /** Resolves to the reason, as part of a sentence, if the program crashed and is not restarted. */
  readonly givenUp: Promise<string>;
  /** Resolves immediately, or after a restart that is under way. */
  settled(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Maximum number of restarts within a minute. After more crashes, another restart does not help. */
export const RESTARTS_A_MINUTE = 3;
const MINUTE: Millis = 60_000;

/**
 * @param start starts the program. The first failure is thrown to the caller; later ones count as a crash.
 * @param onRestart called after a restart, with the reason of the crash.
 * @param now a monotonic clock.
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
    // The program was stopped on purpose.
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
