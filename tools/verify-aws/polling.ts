/** Polls a queue with several pollers until it is stopped. */
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '../../src/domain/ids.ts';

export interface Polling {
  /** Waits until the polls that have begun end. */
  stop(): Promise<void>;
}

export interface Polls {
  readonly pollers: number;
  /** Receives messages once, and handles them. */
  readonly poll: () => Promise<void>;
  /** Called with the cause of a failed poll, which is repeated after a second. */
  readonly onFailure: (cause: unknown) => void;
}

const PAUSE: Millis = 1_000;

export const startPolling = ({ pollers, poll, onFailure }: Polls): Polling => {
  let stopped = false;
  const untilStopped = async (): Promise<void> => {
    while (!stopped)
      try {
        await poll();
      } catch (cause) {
        onFailure(cause);
        await setTimeout(PAUSE);
      }
  };
  const all = Promise.all(Array.from({ length: pollers }, untilStopped));
  return {
    stop: async () => {
      stopped = true;
      await all;
    },
  };
};
