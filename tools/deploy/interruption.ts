/**
 * Ctrl-C and SIGTERM: they end what runs, not this process, which then says what stands.
 *
 * A deployment has two parts that can be ended, each once: making, and the clean-up after it. So the second Ctrl-C gives
 * up what the first one began. Between them, and after them, a signal ends the process as always.
 */

/** What comes sooner after a signal is the same one: npm and the terminal may both send it. */
const SAME_WITHIN = 1_000;

let last = Number.NEGATIVE_INFINITY;

/** @param work ends early, and soon, when its signal is aborted. */
export const untilInterrupted = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController();
  const onSignal = (): void => {
    const now = performance.now();
    if (now - last >= SAME_WITHIN) stop.abort();
    last = now;
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
};
