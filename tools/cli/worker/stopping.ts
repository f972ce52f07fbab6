/** Ends a worker on SIGINT, SIGTERM and SIGHUP: the first signal lets the work end, a later one kills it. */
import { killAll } from './process.ts';

/** Signals this soon after the first, in ms, belong to the same key press: npm passes on what the terminal sent too. */
const SAME_PRESS = 1_000;
/** Exit status after Ctrl-C. */
const INTERRUPTED = 130;

/** After SIGHUP the terminal is closed. Writes to it fail, which must not end the worker. */
const loseTerminal = (): void => {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
};

/** @param what is said about the work under way. @returns the signal that aborts when the work is to end */
export const stopOnSignals = (what: string): AbortSignal => {
  const stop = new AbortController();
  let since: number | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    if (since === undefined) {
      since = performance.now();
      if (name === 'SIGINT') process.exitCode = INTERRUPTED;
      if (name === 'SIGHUP') loseTerminal();
      console.error(`Stopping: ${what} (a second Ctrl-C or signal kills all processes at once) …`);
      stop.abort();
    } else if (performance.now() - since > SAME_PRESS) {
      killAll();
      console.error(
        'Stopped at once, without finishing the work under way. Unfinished jobs and partitions go to other workers when their leases or heartbeats end.',
      );
      process.exit(INTERRUPTED);
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return stop.signal;
};

/** What the work returns; undefined if it failed after the signal had aborted. */
export const unlessStopped = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (cause) {
    if (signal.aborted) return undefined;
    throw cause;
  }
};
